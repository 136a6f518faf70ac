// The list of changes by which a kernel is made to fit if a memory is too small: the condition of
// each, its effect, and its description.
#pragma once

#include "passes/lower_block/lower_block.h"

#include "passes/analysis/buffer_overflow.h"
#include "passes/analysis/search.h"

namespace ptl::block {

/// The features of a kernel that can be given up to save memory.
struct KernelTraits {
  bool unrolls = false; ///< some loop has `unroll`
  bool isMixed = false; ///< it uses both kinds of cores
};

/// The options with which a kernel is lowered, and what is known about why others did not fit.
struct KernelFit {
  LowerOptions options;
  int64_t halvings = 0;    ///< how often its tiles of tensor-level code have been halved
  bool mayHalve = false;   ///< they may be halved once more
  bool isHalving = false;  ///< they will be halved before it is lowered again
  bool mayCut = false;     ///< tiles may be computed in parts
  KernelTraits traits;     ///< of the last attempt
  Overflow tooSmall;       ///< the memory that was too small in the last attempt
  bool streamsHelp = true; ///< loading operands in pieces may still save memory
  bool insideLeft = true, pointsLeft = true; ///< tiles can be cut further, in loops and as points
  bool slicesLeft = true;                    ///< the slices of the vector cores can be made smaller
  bool wholeInside = false, wholePoint = false; ///< they could not be cut at all
  /// The memory that was too small for whole tiles, after everything else had been given up.
  std::optional<Overflow> whole;
};

/// The changes, in the order of their cost.
std::span<const Change<KernelFit>> fitChanges();

/// The search for the options of one kernel, from those with most overlap to those that need least
/// memory. Options that cannot help are skipped.
class KernelSearch {
public:
  /// `halvings` is the number of times that its tiles have been halved. `mayHalve`: they may be
  /// halved once more, and may be processed in parts only after that, if at all (`mayCut`).
  /// `maySlice`: vector cores may take slices of a tile in a queue.
  KernelSearch(int64_t halvings, bool mayHalve, bool mayCut, bool maySlice = true);

  /// The options to be tried.
  const KernelFit &present() const { return search_.state; }
  /// Advances to the next options after a memory was too small. False if there are none.
  bool afterOverflow(const Overflow &overflow, const KernelTraits &traits);
  /// The same after the tiles could not be cut as the options require.
  bool afterUncut();
  /// Describes what was given up to save memory, except for the parts of tiles, which are in the
  /// ledger.
  std::vector<std::string> givenUp() const;
  /// The memory that was too small in the last attempt, with descriptions of what was tried.
  Overflow refusal() const;

private:
  Search<KernelFit> search_;
};

} // namespace ptl::block
