// What runs executed: counts of statements and branches, and the extents that entries were called
// with.
#pragma once

#include "codegen/reference/observer.h"

#include <array>
#include <unordered_map>

namespace ptl::reference {

/// Counts while it looks on.
class Coverage : public Observer {
public:
  /// The dimensions as declared, then what `..` stands for.
  using Extents = std::vector<int64_t>;

  void onCall(const CallableDecl &decl, const RunView &view) override;
  void onStep(const Step &step, const RunView &) override { ++steps_[step.node]; }
  void onArm(const void *node, Arm arm) override { ++arms_[node][static_cast<size_t>(arm)]; }

  uint64_t steps(const void *node) const;
  uint64_t taken(const void *node, Arm arm) const;
  /// How often an entry was called with which extents.
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

/// A function, kernel or program, and what was executed of it.
struct CoveredEntry {
  const CallableDecl *decl = nullptr;
  uint64_t count = 0;
  std::string skipped; ///< why the reference executor cannot run it; then nothing is counted
  std::vector<CoveredStatement> statements;
  std::vector<CoveredBranch> branches; ///< with the arms that can be taken
  std::map<Coverage::Extents, uint64_t> extents;
};

/// The entries of a file in order, those that nothing called included. Tests are none.
std::vector<CoveredEntry> coverageOf(const CheckedModule &module, const Coverage &coverage);

} // namespace ptl::reference
