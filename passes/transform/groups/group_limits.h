// The limits of groups of tensor operations, by target. One engine forms the groups and tiles them
// (`op_group.h`, `find_groups.h`); these limits determine how far a group grows on a target.
#pragma once

#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// The sizes of tiles.
struct TileSizes {
  int64_t productM, productN; ///< tile of a product, elements
  int64_t bytes;              ///< of the largest tile of other groups

  /// The sizes of tiles that have been halved this many times.
  TileSizes halved(int64_t times) const {
    return {productM >> (times / 2), productN >> ((times + 1) / 2), bytes >> times};
  }
};

/// How far groups grow.
struct GroupLimits {
  /// The axes that a group has.
  enum class Space : uint8_t {
    /// Those of its root. A tile covers the axes that reductions reduce and products contract
    /// completely, and also those along which two users need a value differently.
    Root,
    /// Those of every value, unless they are known to be identical. Reductions iterate in chunks,
    /// so that no axis needs a static bound; users that need a value along different axes of the
    /// same length merge these axes.
    All,
  };
  Space space;
  /// Views between a value and its user are not members: a tile is read from where its elements are
  /// stored.
  bool looksThroughViews;
  /// Scans and sorts may be computed together with their users, not only alone.
  bool joinsScans;
  /// Products load their operands, so these are stored first.
  bool loadsProductOperands;
  /// The group of a product may contain reductions.
  bool foldsBesideProducts;
  /// But only reductions of the product itself, as in the scores of attention. Rows that are
  /// normalised before a product are stored: tiles with whole rows, so that each row is reduced
  /// once, would pack the other operand again for a few rows.
  bool foldsOnlyProducts;
  /// A tile has two axes, those of the matrices of a product in its group.
  bool tilesAreMatrices;
  /// A group whose tiles depend on each other is left alone, for code that runs outside grids.
  bool needsIndependentTiles;
  /// What several passes over a long axis would compute again is stored, if that takes less time.
  bool storesRepeatedWork;
  /// Groups that store parts of one array may share a grid. In texts of shared grids of chips it is not proved that
  /// all parts are stored.
  bool sharesArrays;
  /// A value that is stored for some of its users may be a tile of the grid of the others.
  bool sharesWithSome;
  /// A grid may store, beside its root, values that the root is computed from.
  bool storesMembers;
  size_t mostMembers;

  /// Whether an operation can be the root of a group, or is dead once groups have grids.
  bool (*isCandidate)(mlir::Operation *op);
  /// Whether a group can compute an operation in tiles; any other root is stored unchanged.
  bool (*isMember)(mlir::Operation *op);
  /// Whether a candidate that joins no group needs one of its own.
  bool (*mustBeStored)(mlir::Operation *op);
  /// Whether each of several groups recomputes an operation, because that takes less time than to
  /// store and load its result; null: no operation is computed more than once.
  bool (*isMadeAgain)(mlir::Operation *op);
  /// Whether all groups that need an operation recompute it if nobody else needs it, so that it is stored nowhere: it takes a few
  /// instructions from what they read anyway and from what is small; null: no operation is.
  bool (*isMadeByAll)(mlir::Operation *op);
  /// Whether a grid that computes an operation may be that of several groups. Groups with equal tiles that
  /// compute from the same values share a grid, so that these values are not stored.
  bool (*sharesGrid)(mlir::Operation *op);
  /// Whether groups of such operations that only read the same arrays share a grid, too, so that these are read once.
  bool (*sharesReads)(mlir::Operation *op);
};

/// On a CPU tiles have any number of axes and lengths that are known only at run time, and code
/// outside grids runs, too. A value that is used where it is computed is an expression at a
/// position (`codegen/cpu`), so views are members and operands of products are computed where they
/// are used.
extern const GroupLimits kCpuLimits;
/// On a chip everything runs in grids, in tiles of two axes with static bounds; matrix units load
/// whole operands from memory.
extern const GroupLimits kChipLimits;

} // namespace ptl::ir
