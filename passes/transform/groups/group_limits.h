// The limits of groups of tensor operations, by target. One engine makes the groups and cuts them
// into tiles (`op_group.h`, `find_groups.h`); these limits say how far a group grows on a target.
#pragma once

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// How large tiles are.
struct TileSizes {
  int64_t productM, productN; ///< tile of a product, elements
  int64_t bytes;              ///< of the largest tile of other groups

  /// For tiles of half the size, so many times.
  TileSizes halved(int64_t times) const {
    return {productM >> (times / 2), productN >> ((times + 1) / 2), bytes >> times};
  }
};

/// How far groups grow.
struct GroupLimits {
  /// The axes that a group has.
  enum class Space : uint8_t {
    /// Those of its root. A tile has all of what reductions fold and products contract, and where
    /// two users need a value along different axes, tiles have all of these.
    Root,
    /// Those of every value, as far as they are not known to be one. What is folded is gone along
    /// in chunks, so that no axis needs a bound; users that need a value along different axes of
    /// one length make one axis of them.
    All,
  };
  Space space;
  /// Views between a value and its user are no members: a tile is read from where its elements lie.
  bool looksThroughViews;
  /// Scans and sorts may be computed with what uses them, not only for themselves.
  bool joinsScans;
  /// Products load their operands, so these are stored first.
  bool loadsProductOperands;
  /// Something may be folded in the group of a product.
  bool foldsBesideProducts;
  /// It then comes from a product itself, as the scores of attention do. Rows that are normalised before a product are stored: a tile that
  /// has whole rows of the result, so that each is folded once, packs the other operand again for a few rows.
  bool foldsOnlyProducts;
  /// A tile has two axes, those of the matrices of a product in its group.
  bool tilesAreMatrices;
  /// A group whose tiles depend on each other stays as it is, for code that runs outside of grids.
  bool needsIndependentTiles;
  /// Groups with the same tiles that compute from the same values share a grid, so that these values are no arrays.
  bool sharesGrids;
  size_t mostMembers;

  /// What can be the root of a group, or dead once groups have grids.
  bool (*isCandidate)(mlir::Operation *op);
  /// What a group computes in tiles; another root is stored as it is.
  bool (*isMember)(mlir::Operation *op);
  /// Whether a candidate that no group takes needs one of its own.
  bool (*mustBeStored)(mlir::Operation *op);
  /// Whether each of several groups computes this for itself, as that takes less than to store it and to
  /// read it again; null: nothing is computed more than once.
  bool (*isMadeAgain)(mlir::Operation *op);
};

/// On a CPU tiles have any number of axes and lengths that are known when they run, and code
/// outside of grids runs, too. What is used where it is computed is an expression at a position
/// (`codegen/cpu`), so views are members and operands of products are computed where they are used.
extern const GroupLimits kCpuLimits;
/// On a chip everything runs in grids, in tiles of two axes with static bounds; matrix units load
/// whole operands from memory.
extern const GroupLimits kChipLimits;

} // namespace ptl::ir
