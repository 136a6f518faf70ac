// Chooses the steps in which a product passes the operand buffers, by the time that the costs in
// the machine's file predict.
#pragma once

#include "machines/machine.h"

#include <cstdint>
#include <string_view>

namespace ptl::block {

/// The edge of the boxes in which operands with elements of this many bytes are moved, equal for
/// rows, columns and contracted positions. Boxes of bytes are 32 wide, and as high, since operands
/// may be transposed.
inline int64_t productBox(int64_t bytes) { return bytes == 1 ? 32 : 16; }

/// A product of `rows` x `contracted` by `contracted` x `cols`, in a kernel with `products`
/// products, each with its own share of the operand buffers.
struct ProductShape {
  int64_t rows = 1, cols = 1, contracted = 1;
  int64_t bytes = 2; ///< of an element of the operands
  std::string_view element;
  int64_t products = 1;
  bool isScaled = false; ///< with a scale for each block of both operands
  int64_t box() const { return productBox(bytes); }
  /// The granularity of contracted positions: scales are multiplied in pairs.
  int64_t depthBox() const { return isScaled ? 64 : box(); }
};

/// The contracted extent of a step, a multiple of a box. Several steps have two slots each (double
/// buffering); a single step has two if there is room.
int64_t stepOf(const ProductShape &shape, const Machine &machine);

/// Whether two copies of a step's operands fit the product's share of the buffers.
bool fitsTwice(const ProductShape &shape, int64_t step, const Machine &machine);

} // namespace ptl::block
