// How a kernel is lowered where its buffers do not fit, and along which axis its tiles are cut.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/buffer_overflow.h"

namespace ptl::block {

/// The grid with its tiles in parts as the options say: itself if they ask for none, null if that
/// cannot be. Only what products take part in is cut; other tiles are the author's.
/// `told`: what was cut.
ir::ParallelOp cutTiles(ir::ParallelOp grid, const LowerOptions &options,
                        std::optional<LedgerParts> &told);

/// What of a kernel there is to give up.
struct KernelTraits {
  bool unrolls = false; ///< some loop says that it is unrolled
  bool isMixed = false; ///< cores of both kinds work
};

/// The ways to lower a kernel, from the one with most overlap to the one that needs least room.
/// Those that cannot help are left out.
class LowerChoices {
public:
  /// `mayCut`: tiles may be done in parts.
  explicit LowerChoices(bool mayCut) : mayCut_(mayCut), insideLeft_(mayCut), pointsLeft_(mayCut) {}

  const LowerOptions &options() const { return options_; }
  /// Goes on to the next way after a memory was too small. False: there is none.
  bool afterOverflow(const Overflow &overflow, const KernelTraits &traits);
  /// What was given up for room, in words.
  std::vector<std::string> givenUp(const KernelTraits &traits) const;
  /// The memory that was too small for tiles as a whole, when everything else had been given up.
  const std::optional<Overflow> &wholeOverflow() const { return whole_; }
  /// The same after the tiles could not be cut as `options` says.
  bool afterUncut();

private:
  bool relax();
  bool cutFurther();
  bool hasSlots() const;
  bool canCutInside() const;

  LowerOptions options_, tried_; ///< what is to be tried, and what was too large last
  Overflow tooSmall_;            ///< which memory then was
  KernelTraits traits_;          ///< of what was tried last
  std::optional<Overflow> whole_;
  bool streamsHelp_ = true, mayCut_, insideLeft_, pointsLeft_;
};

} // namespace ptl::block
