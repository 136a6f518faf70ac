// Checking a part of a file: the declarations of one chunk (parse.h), with everything else of the
// program known by its signature alone, which is made when it is looked up. The diagnostics of all
// chunks together are those of the whole file, except for those that concern several declarations
// (check_module.h). An editor checks in this way what an edit changed, and nothing else.
#pragma once

#include "frontend/sema/check.h"
#include "frontend/sema/module_index.h"
#include "frontend/sema/placement/placement.h"

#include <memory>
#include <string>
#include <vector>

namespace ptl {

/// A declaration that the check of a chunk looked for.
struct Dependency {
  /// How much of a declaration was looked at.
  enum class Part : uint8_t { Signature, Labels, Text };

  const ModuleIndex *module = nullptr;
  DeclSpace space = DeclSpace::Callable;
  std::string name;
  Part part = Part::Signature;
  uint64_t hash = 0;   ///< of the signature, else of the text, that was found; 0: nothing
  uint64_t labels = 0; ///< hash of them, if they were looked at

  /// Whether the module still declares the same.
  bool holds() const;
  /// Whether that is not known before the body of the declaration has been checked.
  bool isDoubtful() const;
};

/// What the check of a chunk says. Spans are in the file ids of the trees that were read.
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
  bool readsAllNames = false; ///< a message names what the file declares beside
  std::vector<std::string> usedImports;
  std::vector<Calls> calls;
  /// `DeclSite::labels` of the callables of the chunk, by name.
  std::vector<std::pair<std::string, uint64_t>> labels;
  /// Where the arrays of the chunk's programs lie whose headers say so.
  std::vector<PlacedAsFar> placed;

  /// Whether a check of the same chunk would say the same.
  bool holds() const;
};

/// Checks the declarations of `tree`, a chunk of the file that `module` describes. `syntax` holds
/// what the parser reported for it, `file` its text under the file id of the tree.
std::unique_ptr<ChunkCheck> checkChunk(std::shared_ptr<const Tree> tree, const SourceFile &file,
                                       const DiagnosticSink &syntax, const ModuleIndex &module,
                                       const CheckOptions &options);

} // namespace ptl
