// How a kernel is made to fit: what can be done otherwise where a memory is too small, as a list of
// changes, each with when that may help, what it changes, and words for it.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "passes/analysis/buffer_overflow.h"
#include "passes/analysis/search.h"

namespace ptl::block {

/// What of a kernel there is to give up.
struct KernelTraits {
  bool unrolls = false; ///< some loop says that it is unrolled
  bool isMixed = false; ///< cores of both kinds work
};

/// The way in which a kernel is lowered, and what is known of why others did not fit.
struct KernelFit {
  LowerOptions options;
  int64_t halvings = 0;    ///< how often its tiles of tensor-level code have been halved
  bool mayHalve = false;   ///< they may be halved once more
  bool isHalving = false;  ///< they are going to be, before it is lowered again
  bool mayCut = false;     ///< tiles may be done in parts
  KernelTraits traits;     ///< of what was tried last
  Overflow tooSmall;       ///< which memory then was
  bool streamsHelp = true; ///< loading in pieces has left less to be found
  bool insideLeft = true, pointsLeft = true; ///< tiles can be cut further, in loops and as points
  bool wholeInside = false, wholePoint = false; ///< they could not be cut at all
  /// The memory that was too small for tiles as a whole, when everything else had been given up.
  std::optional<Overflow> whole;
};

/// What is given up, from what costs least.
std::span<const Change<KernelFit>> fitChanges();

/// The search of one kernel, from the way with most overlap to the one that needs least room. Those
/// that cannot help are left out.
class KernelSearch {
public:
  /// `halvings`: of its tiles so far. `mayHalve`: they may be halved once more, and only after that
  /// done in parts, if at all (`mayCut`).
  KernelSearch(int64_t halvings, bool mayHalve, bool mayCut);

  /// The way that is to be tried.
  const KernelFit &present() const { return search_.state; }
  /// Goes on to the next way after a memory was too small. False: there is none.
  bool afterOverflow(const Overflow &overflow, const KernelTraits &traits);
  /// The same after the tiles could not be cut as the options say.
  bool afterUncut();
  /// What was given up for room, in words. The ledger tells the parts of tiles besides.
  std::vector<std::string> givenUp() const;
  /// The memory that was too small last, and what was tried, in words.
  Overflow refusal() const;

private:
  Search<KernelFit> search_;
};

} // namespace ptl::block
