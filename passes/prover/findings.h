// Collects findings: one for each cause.
#pragma once

#include "passes/prover/prover.h"

#include <set>

namespace ptl::prove {

class Findings {
public:
  /// Adds a finding. Returns null if there already is one with the same code and operations. The
  /// pointer is valid until the next call.
  Finding *add(DiagId id, mlir::Operation *primary, std::vector<std::string> arguments,
               mlir::Operation *secondary = nullptr);
  bool has(DiagId id, mlir::Operation *primary, mlir::Operation *secondary) const {
    return seen_.count({id, primary, secondary}) != 0;
  }
  /// "cannot be proved: `what`".
  Finding *undecided(mlir::Operation *primary, std::string what);

  bool empty() const { return result_.findings.empty() && result_.undecided.empty(); }
  size_t faults() const { return result_.findings.size(); }
  ProofResult &result() { return result_; }

private:
  ProofResult result_;
  std::set<std::tuple<DiagId, mlir::Operation *, mlir::Operation *>> seen_;
};

/// `tadd`, `set_flag`: without the dialect.
std::string mnemonic(mlir::Operation *op);
/// The operation as the author wrote it: `signal(loaded)` and `wait(loaded)` in manual kernels,
/// otherwise the mnemonic.
std::string spelling(mlir::Operation *op);
/// For an operation that signals an event or waits for it, the name of the event; otherwise the
/// mnemonic.
std::string spelledEvent(mlir::Operation *op);
/// The name that a value has in the source, or `%3`-like text made from its operation.
std::string nameOf(mlir::Operation *maker);
/// `k.ptl:12`; empty if unknown.
std::string placeText(mlir::Location location);
/// `tadd` at k.ptl:12
std::string withPlace(mlir::Operation *op);
/// `PIPE_MTE2`
std::string pipeText(unsigned pipe);

} // namespace ptl::prove
