// What a schedule says of values, and whether it took effect.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace ptl::ir {

/// Of a function: what its schedules say of values, as dictionaries. `label` is the value; `item`
/// the text of what is said and `at` its place; `length` and `size` are there for a size of tiles,
/// `fuse` for a kernel that those with the same number share.
inline constexpr llvm::StringLiteral kItemsAttribute = "ptl.items";
/// Of the operations that compute a value: the numbers of what is said of it.
inline constexpr llvm::StringLiteral kItemNumbersAttribute = "ptl.item";
/// Of a grid: the sizes of tiles that a schedule gave it, by length.
inline constexpr llvm::StringLiteral kTiledAttribute = "ptl.tiled";
/// Of a grid: the group of tensor operations whose tiles it computes, from 1. There is none where
/// the author made the tiles, or one operation became several grids.
inline constexpr llvm::StringLiteral kTileGroupAttribute = "ptl.tile_group";
/// Of a function: what had no effect, as `[item, why, at]`.
inline constexpr llvm::StringLiteral kRefusedAttribute = "ptl.refused";
/// How many core groups do the points of a grid: of a function, of its operations, of a grid.
inline constexpr llvm::StringLiteral kCoresAttribute = "ptl.cores";

/// Of a loop: where it is said that it is unrolled, by `ptl.unroll` copies.
inline constexpr llvm::StringLiteral kUnrollPlaceAttribute = "ptl.unroll_at";

} // namespace ptl::ir
