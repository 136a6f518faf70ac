// Checks across declarations of a file: duplicate names, imports, recursion. They are shared by the
// check of a whole file and by editors, which check files by chunks.
#pragma once

#include "frontend/sema/check.h"
#include "frontend/sema/module_index.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ptl {

/// A declaration with a name, and the location of the name.
struct NamedDecl {
  DeclSpace space = DeclSpace::Callable;
  NodeId node = kNoNode;
  std::string_view name;
  Span span;
};
/// The named declarations of a tree, in the order written.
std::vector<NamedDecl> namedDecls(const Tree &tree);
/// Reports names that are declared twice in one file; `decls` is in source order.
void reportDuplicates(const std::vector<NamedDecl> &decls, DiagnosticSink &sink);

/// The byte offset at which the part of a declaration that others depend on ends: where the body of
/// a callable begins, otherwise the end of the declaration.
uint32_t signatureEnd(const Tree &tree, NodeId node);

/// Whether a syntax error has hidden a part of a declaration from the parser: the error lies in the
/// declaration, or directly behind it, where its body should begin.
bool isMisread(const Tree &tree, NodeId node, std::span<const Diagnostic> diagnostics);

/// An import as written, and the paths at which it may be found.
struct ImportRequest {
  std::string bound;                         ///< the name that it binds
  std::string shown;                         ///< for messages
  std::vector<std::filesystem::path> places; ///< in order of search; empty after a syntax error
  Span span;
};
/// `importer` is the path of the file that contains the import.
ImportRequest importRequest(const Tree &tree, NodeId node, const std::string &importer,
                            const CheckOptions &options);
/// `why` is the system's message about a file that exists but cannot be read; it may be empty.
void reportModuleNotFound(const ImportRequest &request, const std::string &why,
                          DiagnosticSink &sink);
/// Binds the names of an import in `importer`; reports names that are missing or already bound.
void bindImport(const Tree &tree, NodeId node, const ImportRequest &request, ModuleIndex &importer,
                const ModuleIndex &imported, DiagnosticSink &sink);
/// Notes the names of an import whose module cannot be had, which has been reported.
void failNames(const Tree &tree, NodeId node, const ImportRequest &request, FailedImports &failed);
/// `cycle` lists the names of the modules from the imported one to the importer.
void reportImportCycle(const ImportRequest &request, const std::vector<std::string> &cycle,
                       DiagnosticSink &sink);
/// Reports a name that a module does not declare, or does not export.
void reportNotInModule(const std::string &module, std::string_view name, Span span, bool isDeclared,
                       const std::vector<std::string> &exports, DiagnosticSink &sink);

/// A callable as a node of the call graph.
struct CallNode {
  std::string_view name;
  Span nameSpan;
  std::vector<std::pair<size_t, Span>> calls; ///< index of the callee, place of the call
};
/// Reports cycles of calls, each once; `onCycle` is called with every callable of a cycle.
void reportRecursion(const std::vector<CallNode> &graph, DiagnosticSink &sink,
                     const std::function<void(size_t)> &onCycle);

} // namespace ptl
