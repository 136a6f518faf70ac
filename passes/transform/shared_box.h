// How large a box of global memory may be whose rows are those of several boxes: it stays on chip while all of these are read.
#pragma once

#include "ir/dialect/ptl_dialect.h"

#include <algorithm>
#include <optional>

namespace ptl::ir {

/// The most that one of any number of boxes may have: it takes two slots of the vector memory beside what is computed.
inline constexpr int64_t kMostBytesOfBox = 32 * 1024;
/// The most that a box may have where all of them together have at most `kMostBytesTogether`, which leaves a third of the smallest vector memory
/// for what is computed. With less, tiles would be cut in parts, each with common rows of its own.
inline constexpr int64_t kMostBytesOfLargeBox = 48 * 1024, kMostBytesTogether = 128 * 1024;

/// Bytes of so many rows of a tile; nothing where that has no bound.
inline std::optional<int64_t> bytesOfRows(mlir::Type type, int64_t rows) {
  const Extent &cols = extentsOf(type).back();
  int64_t capacity = cols.isConstant() ? cols.length : cols.capacity;
  if (capacity == Extent::kUnknown || rows == Extent::kUnknown)
    return std::nullopt;
  return rows * capacity * elementTypeOf(type).getIntOrFloatBitWidth() / 8;
}

/// The same of what is computed with them: `bf16` and bytes are converted to wider types first.
inline std::optional<int64_t> computedBytesOfRows(mlir::Type type, int64_t rows) {
  mlir::Type elem = elementTypeOf(type);
  int64_t bits = elem.getIntOrFloatBitWidth(), computed = elem.isBF16() || bits < 16 ? 32 : bits;
  std::optional<int64_t> bytes = bytesOfRows(type, rows);
  return bytes ? std::optional(*bytes * computed / bits) : std::nullopt;
}

} // namespace ptl::ir
