// Tiles of matrix products on a chip whose result goes from the cube core to memory without
// passing the vector cores.
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

/// Whether the cube core of a machine does this product as one instruction does, with an
/// accumulator of the type of the result.
bool isProductOf(MatmulOp product, const Machine &machine);

/// The largest tile of a product: `own`, or one with twice the columns where the accumulator and the
/// operands have room for it and the costs of the machine say that an element then takes less time.
/// What is stored has `storedBytes` per element.
ProductTile largestTile(MatmulOp product, int64_t storedBytes, ProductTile own,
                        const Machine &machine);

/// Cycles that a core takes for a tile of a product along so many contracted positions, with its
/// accumulator stored as it is; nothing where there is no room for the tile. `costs` are the
/// machine's, which are known.
std::optional<double> cyclesOfTile(MatmulOp product, ProductTile tile, int64_t contracted,
                                   const Machine &machine, const MachineCosts &costs);

/// The core groups that share the points of a grid; 0 if the machine does not say.
int64_t coreGroupsOf(const Machine &machine);

/// The axes of a grid that a product has rows and columns along.
struct ProductGrid {
  mlir::Value rows, cols, others; ///< lengths, and points along all other axes
  bool mayCutRows, mayCutCols;    ///< whether tiles may be smaller than the largest
};

/// Rows and columns of tiles, at most `most`, so that `groups` core groups need as few rounds as
/// with the largest tiles and have about as much to do in each: computed by code at the builder's
/// place, which folds to constants where the lengths are constants.
std::pair<mlir::Value, mlir::Value> balancedSteps(mlir::OpBuilder &builder, mlir::Location loc,
                                                  const ProductGrid &grid, ProductTile most,
                                                  int64_t groups);

} // namespace ptl::ir
