// What a schedule says of values, and whether it took effect.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// On a function: the schedule items of its values, as dictionaries. `label` is the value; `item`
/// the text of what is said and `at` its place; `length` and `size` are there for a size of tiles,
/// `fuse` for a kernel that those with the same number share.
inline constexpr llvm::StringLiteral kItemsAttribute = "ptl.items";
/// On the operations that compute a value: the numbers of its schedule items.
inline constexpr llvm::StringLiteral kItemNumbersAttribute = "ptl.item";
/// On a grid: the sizes of tiles that a schedule gave it, by length.
inline constexpr llvm::StringLiteral kTiledAttribute = "ptl.tiled";
/// On a grid: the group of tensor operations whose tiles it computes, from 1. There is none where
/// the author made the tiles, or one operation became several grids.
inline constexpr llvm::StringLiteral kTileGroupAttribute = "ptl.tile_group";
/// On a function: the items that had no effect, as `[item, why, at]`.
inline constexpr llvm::StringLiteral kRefusedAttribute = "ptl.refused";
/// How many core groups do the points of a grid: of a function, of its operations, of a grid.
inline constexpr llvm::StringLiteral kCoresAttribute = "ptl.cores";

/// On a loop: the place in the source that asks for it to be unrolled into `ptl.unroll` copies.
inline constexpr llvm::StringLiteral kUnrollPlaceAttribute = "ptl.unroll_at";

} // namespace ptl::ir
