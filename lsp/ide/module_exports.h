// Finds out what other files export, and how a file imports it.
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
  std::string path;      ///< as an import writes it
  std::string qualifier; ///< `nn.` where the whole module is imported
  ImportSites sites;     ///< else where the edit goes in

  /// The edits for one name, for several (`silu, gelu`), or, with an empty text, for the module
  /// itself.
  std::vector<Edit> edits(std::string_view name) const;
};
ImportWay importWay(Workspace &workspace, File &file, const ImportableModule &module);

/// `isOfModule`: whether an import is of the module that is asked for.
ImportSites importSites(const File &file,
                        const std::function<bool(const Tree &, NodeId)> &isOfModule);
/// The imports of names of modules of the library: `std.nn`.
std::vector<Edit> importEdits(const File &file, const ImportNeeds &needs);

/// Names of files and library modules behind `import`: `std.nn`, `layers`.
std::vector<std::string> importPaths(const Workspace &workspace, const File &file);
/// Texts of imports of files in and below the folder of a file: `dir/file.ptl`.
std::vector<std::string> importFiles(const File &file);

} // namespace ptl::ide
