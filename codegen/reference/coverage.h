// Coverage of runs: counts of executed statements and branches, and the extents that entries were
// called with.
#pragma once

#include "codegen/reference/observer.h"

#include <array>
#include <unordered_map>

namespace ptl::reference {

/// An observer that counts.
class Coverage : public Observer {
public:
  /// The dimensions in order of declaration, then the extents of `..`.
  using Extents = std::vector<int64_t>;

  void onCall(const CallableDecl &decl, const RunView &view) override;
  void onStep(const Step &step, const RunView &) override { ++steps_[step.node]; }
  void onArm(const void *node, Arm arm) override { ++arms_[node][static_cast<size_t>(arm)]; }

  uint64_t steps(const void *node) const;
  uint64_t taken(const void *node, Arm arm) const;
  /// How often an entry was called with each set of extents.
  const std::map<Extents, uint64_t> &extents(const CallableDecl &decl) const;

private:
  std::unordered_map<const void *, uint64_t> steps_;
  std::unordered_map<const void *, std::array<uint64_t, kArmCount>> arms_;
  std::unordered_map<const CallableDecl *, std::map<Extents, uint64_t>> extents_;
};

struct CoveredStatement {
  Span span;
  uint64_t count = 0;
};

struct CoveredBranch {
  Span span; ///< of the condition, or of the tiles
  std::vector<std::pair<Arm, uint64_t>> arms;
};

/// A function, kernel or program, and which of its statements were executed.
struct CoveredEntry {
  const CallableDecl *decl = nullptr;
  uint64_t count = 0;
  std::string skipped; ///< why the reference executor cannot run it; its counts are then empty
  std::vector<CoveredStatement> statements;
  std::vector<CoveredBranch> branches; ///< the arms that can be taken
  std::map<Coverage::Extents, uint64_t> extents;
};

/// The entries of a file in order, including those that were never called. Tests are not entries.
std::vector<CoveredEntry> coverageOf(const CheckedModule &module, const Coverage &coverage);

} // namespace ptl::reference
