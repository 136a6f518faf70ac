// The list of changes by which a kernel is made to fit where a memory is too small: when each may
// help, what it changes, and how it is described.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "passes/analysis/buffer_overflow.h"
#include "passes/analysis/search.h"

namespace ptl::block {

/// The features of a kernel that can be given up.
struct KernelTraits {
  bool unrolls = false; ///< some loop has `unroll`
  bool isMixed = false; ///< it uses both kinds of cores
};

/// The configuration in which a kernel is lowered, and what is known about why others did not fit.
struct KernelFit {
  LowerOptions options;
  int64_t halvings = 0;    ///< how often its tiles of tensor-level code have been halved
  bool mayHalve = false;   ///< they may be halved once more
  bool isHalving = false;  ///< they will be halved before it is lowered again
  bool mayCut = false;     ///< tiles may be computed in parts
  KernelTraits traits;     ///< of the last attempt
  Overflow tooSmall;       ///< the memory that was too small in it
  bool streamsHelp = true; ///< loading operands in pieces may still save memory
  bool insideLeft = true, pointsLeft = true; ///< tiles can be cut further, in loops and as points
  bool slicesLeft = true;                    ///< the slices of the vector cores can be smaller
  bool wholeInside = false, wholePoint = false; ///< they could not be cut at all
  /// The memory that was too small for whole tiles, when everything else had been given up.
  std::optional<Overflow> whole;
};

/// The changes, in the order of their cost.
std::span<const Change<KernelFit>> fitChanges();

/// The search of one kernel, from the configuration with most overlap to the one that needs least
/// memory. Configurations that cannot help are skipped.
class KernelSearch {
public:
  /// `halvings` is the number of times that its tiles have been halved. `mayHalve`: they may be
  /// halved once more, and only after that done in parts, if at all (`mayCut`).
  /// `maySlice`: vector cores may take slices of what stands in a queue.
  KernelSearch(int64_t halvings, bool mayHalve, bool mayCut, bool maySlice = true);

  /// The configuration to be tried.
  const KernelFit &present() const { return search_.state; }
  /// Goes on to the next configuration after a memory was too small. False if there is none.
  bool afterOverflow(const Overflow &overflow, const KernelTraits &traits);
  /// The same after the tiles could not be cut as the options say.
  bool afterUncut();
  /// Describes what was given up to save memory, except for the parts of tiles, which the ledger
  /// has.
  std::vector<std::string> givenUp() const;
  /// The memory that was too small last, and descriptions of what was tried.
  Overflow refusal() const;

private:
  Search<KernelFit> search_;
};

} // namespace ptl::block
