// Tiles of matrix products on a chip whose result is stored by the cube core directly, without the
// vector cores.
#pragma once

#include "machines/costs.h"
#include "machines/machine.h"

#include "ir/dialect/ptl_dialect.h"
#include "mlir/IR/Builders.h"

#include <optional>
#include <utility>

namespace ptl::ir {

/// Rows and columns of the result of a product, elements.
struct ProductTile {
  int64_t rows, cols;
};

/// Whether the cube core of a machine can compute this product by a single kind of instruction,
/// with an accumulator of the result's type.
bool isProductOf(MatmulOp product, const Machine &machine);

/// The largest tile of a product: `own`, or one with twice the columns if the accumulator and the
/// operands have room for it and the costs of the machine predict less time per element.
/// `storedBytes` is the size of a stored element.
ProductTile largestTile(MatmulOp product, int64_t storedBytes, ProductTile own,
                        const Machine &machine);

/// The cycles that a core takes for a tile of a product over this many contracted positions, with
/// its accumulator stored unchanged; nothing if there is no room for the tile. Precondition: the
/// machine's `costs` are known.
std::optional<double> cyclesOfTile(MatmulOp product, ProductTile tile, int64_t contracted,
                                   const Machine &machine, const MachineCosts &costs);

/// The number of core groups that share the points of a grid; 0 if it is unknown.
int64_t coreGroupsOf(const Machine &machine);

/// The axes of a grid that are a product's rows and columns.
struct ProductGrid {
  mlir::Value rows, cols, others; ///< lengths; `others`: number of points along all other axes
  bool mayCutRows, mayCutCols;    ///< whether tiles may be smaller than the largest
};

/// Rows and columns of tiles, at most `most`, so that `groups` core groups need as few rounds as
/// with the largest tiles, and have nearly equal work in each. They are computed by code at the
/// builder's insertion point, which folds if the lengths are constants.
std::pair<mlir::Value, mlir::Value> balancedSteps(mlir::OpBuilder &builder, mlir::Location loc,
                                                  const ProductGrid &grid, ProductTile most,
                                                  int64_t groups);

} // namespace ptl::ir
