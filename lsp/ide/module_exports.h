// The exports of other files, and how a file can import them.
#pragma once

#include "frontend/sema/declarations/import_edit.h"
#include "lsp/ide/actions/trial.h"
#include "lsp/ide/workspace.h"

#include <functional>
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

/// A way in which the names of a module can be imported into a file.
struct ImportWay {
  std::string path;      ///< as in an import
  std::string qualifier; ///< `nn.` if the whole module is imported
  ImportSites sites;     ///< otherwise the places for the edit

  /// The edits for one name, for several (`silu, gelu`), or, with an empty text, for the module
  /// itself.
  std::vector<Edit> edits(std::string_view name) const;
};
ImportWay importWay(Workspace &workspace, File &file, const ImportableModule &module);

/// `isOfModule`: whether an import is one of the wanted module.
ImportSites importSites(const File &file,
                        const std::function<bool(const Tree &, NodeId)> &isOfModule);
/// The imports of names of modules of the library: `std.nn`.
std::vector<Edit> importEdits(const File &file, const ImportNeeds &needs);

/// The names of files and library modules that can follow `import`: `std.nn`, `layers`.
std::vector<std::string> importPaths(const Workspace &workspace, const File &file);
/// The texts of imports of files in and below the folder of a file: `dir/file.ptl`.
std::vector<std::string> importFiles(const File &file);

} // namespace ptl::ide
