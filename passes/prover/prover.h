// The prover of the block level. It judges code of the `pto` dialect with addresses and
// synchronisation, generated or written by hand, by running it on many instances of its loops. It
// does not depend on how addresses and events were derived. README.md in this folder states what is
// proved and under which assumptions.
#pragma once

#include "frontend/base/diagnostic.h"
#include "machines/machine.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ptl::prove {

/// A source location, with a description of what happens there.
struct Related {
  mlir::Location location;
  std::string note;
};

/// One error, reported once for all executions that show it.
struct Finding {
  DiagId id;                          ///< `CannotBeProved` marks undecided cases
  std::vector<std::string> arguments; ///< of the message of `id`
  mlir::Location location;            ///< the operation that goes wrong
  std::vector<Related> related;       ///< the other operations and buffers involved
  std::vector<std::string> notes;     ///< the reason, in sentences
  std::string fix; ///< what to insert or change; empty if there is no single answer
  mlir::Operation *operation = nullptr; ///< at `location`
  /// For a missing order: the operation that must be first, whether it belongs to an earlier
  /// iteration of a loop, and whether the two access the same bytes through different buffers.
  mlir::Operation *first = nullptr;
  bool earlierTurn = false, sharedBytes = false;

  std::string code() const;
  /// The formatted message, lower case, no full stop.
  std::string message() const;
};

struct ProofResult {
  std::vector<Finding> findings;  ///< errors
  std::vector<Finding> undecided; ///< "cannot be proved: …", naming the expression
  unsigned instances = 0;         ///< distinct executions that were judged
  unsigned skipped = 0;           ///< skipped because the budget was used up
  uint64_t events = 0;            ///< operations in all executions together
  /// For kernels written by hand: the number of sizes that were skipped because they need too many
  /// operations, and a description of the first.
  unsigned untried = 0;
  std::string firstUntried;

  bool proved() const { return findings.empty() && undecided.empty(); }
  /// Adds the numbers and findings of another result.
  void add(ProofResult other);
};

/// Judges all kernels of a module (functions with `pto.entry`, grouped by `ptl.kernel`). It never
/// fails: kernels that it cannot analyse are in `undecided`. Precondition: the module is valid IR.
ProofResult proveBlock(mlir::ModuleOp module, const Machine &machine);

/// Judges each of the modules of a program, several in parallel. Of modules with equal kernels one
/// is judged, and all of them if it has errors.
std::vector<ProofResult> proveBlocks(llvm::ArrayRef<mlir::ModuleOp> modules,
                                     const Machine &machine);

/// The findings as text: `file:line:col: error[E0910]: …`, then the related locations and the fix.
std::string toText(const ProofResult &result);

/// Reports everything to a sink; `spanOf` maps a location to the sources.
void report(const ProofResult &result, DiagnosticSink &sink,
            const std::function<Span(mlir::Location)> &spanOf);

} // namespace ptl::prove
