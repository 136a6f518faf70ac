// What other files export, and how this one imports it.
#pragma once

#include "lsp/ide/actions/trial.h"
#include "lsp/ide/workspace.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl::ide {

struct Export {
  std::string_view name;
  DeclSpace space = DeclSpace::Callable;
  DeclSite site;
};
std::vector<Export> exportsOf(const File &module);

/// Whether a text can be a name.
bool isIdentifier(std::string_view text);

/// A file that this one can import.
struct ImportableModule {
  File *file = nullptr;
  std::string path; ///< as an import writes it: `std.nn`, `layers`, `"dir/file.ptl"`
};
/// The library and the files that are known, without this one.
std::vector<ImportableModule> importableModules(Workspace &workspace, const File &file);

/// How the names of a module come into a file.
struct ImportWay {
  std::string qualifier;      ///< `nn.` where the whole module is imported
  std::optional<uint32_t> at; ///< else where the edit goes in
  std::string before, after;  ///< around the name

  std::vector<Edit> edits(std::string_view name) const;
};
ImportWay importWay(Workspace &workspace, File &file, const ImportableModule &module);

/// Names of files and library modules behind `import`: `std.nn`, `layers`.
std::vector<std::string> importPaths(const Workspace &workspace, const File &file);
/// Texts of imports of files in and below the folder of a file: `dir/file.ptl`.
std::vector<std::string> importFiles(const File &file);

} // namespace ptl::ide
