// Checks a part of a file: the declarations of one chunk (parse.h). Everything else in the program
// is known only by its signature, which is computed on demand. The diagnostics of all chunks
// together are those of the whole file, except for those that concern several declarations
// (check_module.h). An editor uses this to check only what an edit changed.
#pragma once

#include "frontend/sema/check.h"
#include "frontend/sema/module_index.h"
#include "frontend/sema/placement/placement.h"

#include <memory>
#include <string>
#include <vector>

namespace ptl {

/// A declaration that the check of a chunk looked up.
struct Dependency {
  /// How much of the declaration the check used.
  enum class Part : uint8_t { Signature, Labels, Text };

  const ModuleIndex *module = nullptr;
  DeclSpace space = DeclSpace::Callable;
  std::string name;
  Part part = Part::Signature;
  uint64_t hash = 0;   ///< of the signature, or of the text, that was found; 0: none was found
  uint64_t labels = 0; ///< hash of the labels, if they were used

  /// Whether the module's present declaration is the same in that part.
  bool holds() const;
  /// Whether `holds` can only be decided after the body of the declaration has been checked.
  bool isDoubtful() const;
};

/// The result of checking a chunk. Spans use the file ids of the trees that were read.
struct ChunkCheck {
  /// A call of a declaration of the same file.
  struct Call {
    std::string callee;
    Span span;
  };
  /// One callable of the chunk, with its calls in order.
  struct Calls {
    const CallableDecl *caller = nullptr;
    std::vector<Call> calls;
  };

  std::unique_ptr<CheckedProgram> program; ///< `modules[0]` lists the declarations of the chunk
  std::vector<Diagnostic> diagnostics;     ///< by position, syntax errors included
  std::vector<Dependency> dependencies;
  bool readsAllNames = false; ///< a message lists names that the file declares outside the chunk
  std::vector<std::string> usedImports;
  std::vector<Calls> calls;
  /// `DeclSite::labels` of the callables of the chunk, by name.
  std::vector<std::pair<std::string, uint64_t>> labels;
  /// The placements of those programs of the chunk whose headers place arrays.
  std::vector<PlacedAsFar> placed;

  /// Whether another check of the same chunk would have the same result.
  bool holds() const;
};

/// Checks the declarations of `tree`, a chunk of the file that `module` describes. `syntax` has the
/// parser's diagnostics for it, `file` its text under the file id of the tree.
std::unique_ptr<ChunkCheck> checkChunk(std::shared_ptr<const Tree> tree, const SourceFile &file,
                                       const DiagnosticSink &syntax, const ModuleIndex &module,
                                       const CheckOptions &options);

} // namespace ptl
