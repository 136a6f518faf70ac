// The ways to lower a kernel, tried one after the other until its buffers fit: a list of what can
// be given up, each with when that may help, what it changes, and words for it.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "passes/analysis/buffer_overflow.h"

namespace ptl::block {

/// What of a kernel there is to give up.
struct KernelTraits {
  bool unrolls = false; ///< some loop says that it is unrolled
  bool isMixed = false; ///< cores of both kinds work
};

/// The search of one kernel, from the way with most overlap to the one that needs least room. Those
/// that cannot help are left out.
class LowerChoices {
public:
  /// `mayCut`: tiles may be done in parts.
  explicit LowerChoices(bool mayCut) : mayCut_(mayCut), insideLeft_(mayCut), pointsLeft_(mayCut) {}

  /// What is to be tried.
  const LowerOptions &options() const { return options_; }
  /// Goes on to the next way after a memory was too small. False: there is none.
  bool afterOverflow(const Overflow &overflow, const KernelTraits &traits);
  /// The same after the tiles could not be cut as `options` says.
  bool afterUncut();
  /// What was given up for room, in words.
  std::vector<std::string> givenUp(const KernelTraits &traits) const;
  /// What was tried, in words and in order; the last is what `options` says.
  const std::vector<std::string> &tried() const { return texts_; }
  /// The memory that was too small for tiles as a whole, when everything else had been given up.
  const std::optional<Overflow> &wholeOverflow() const { return whole_; }

private:
  friend struct Relaxation;
  bool relax();
  bool hasSlots() const;
  bool canCutInside() const;
  void restoreOverlap();

  LowerOptions options_, tried_; ///< what is to be tried, and what was too large last
  Overflow tooSmall_;            ///< which memory then was
  KernelTraits traits_;          ///< of what was tried last
  std::optional<Overflow> whole_;
  std::vector<std::string> texts_;
  bool streamsHelp_ = true, mayCut_, insideLeft_, pointsLeft_;
};

} // namespace ptl::block
