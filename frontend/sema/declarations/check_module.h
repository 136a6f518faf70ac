// What concerns several declarations of a file: names declared twice, imports, recursion. Shared by
// the check of a whole file and by editors, which check files by chunks.
#pragma once

#include "frontend/sema/check.h"
#include "frontend/sema/module_index.h"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ptl {

/// A declaration with a name, and where the name stands.
struct NamedDecl {
  DeclSpace space = DeclSpace::Callable;
  NodeId node = kNoNode;
  std::string_view name;
  Span span;
};
/// The named declarations of a tree, in the order written.
std::vector<NamedDecl> namedDecls(const Tree &tree);
/// Reports names that are declared twice in one file, whose declarations are given in order.
void reportDuplicates(const std::vector<NamedDecl> &decls, DiagnosticSink &sink);

/// The byte offset at which the part of a declaration ends that other declarations depend on: where
/// the body of a callable begins, else its end.
uint32_t signatureEnd(const Tree &tree, NodeId node);

/// Whether a syntax error has hidden a part of a declaration from the parser: the error lies in the
/// declaration, or directly behind it, where its body should begin.
bool isMisread(const Tree &tree, NodeId node, std::span<const Diagnostic> diagnostics);

/// An import as written, and where it may lie.
struct ImportRequest {
  std::string bound;                         ///< the name that it binds
  std::string shown;                         ///< for messages
  std::vector<std::filesystem::path> places; ///< in order of search; empty after a syntax error
  Span span;
};
/// `importer` is the path of the file that holds the import.
ImportRequest importRequest(const Tree &tree, NodeId node, const std::string &importer,
                            const CheckOptions &options);
/// `why`: what the system says of a file that is there; may be empty.
void reportModuleNotFound(const ImportRequest &request, const std::string &why,
                          DiagnosticSink &sink);
/// Binds the names of an import in `importer`; reports names that are missing or bound already.
void bindImport(const Tree &tree, NodeId node, const ImportRequest &request, ModuleIndex &importer,
                const ModuleIndex &imported, DiagnosticSink &sink);
/// `cycle` lists the names of the modules from the imported one to the importer.
void reportImportCycle(const ImportRequest &request, const std::vector<std::string> &cycle,
                       DiagnosticSink &sink);
/// Reports a name that a module does not declare, or does not export.
void reportNotInModule(const std::string &module, std::string_view name, Span span, bool isDeclared,
                       const std::vector<std::string> &exports, DiagnosticSink &sink);

/// A callable in the graph of calls.
struct CallNode {
  std::string_view name;
  Span nameSpan;
  std::vector<std::pair<size_t, Span>> calls; ///< index of the callee, place of the call
};
/// Reports calls that lead back, once per cycle; `onCycle` gets every callable of one.
void reportRecursion(const std::vector<CallNode> &graph, DiagnosticSink &sink,
                     const std::function<void(size_t)> &onCycle);

} // namespace ptl
