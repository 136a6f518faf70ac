#include "ir/dialect/tile_length.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace ptl::ir {

Value tileLength(OpBuilder &b, Location loc, Value position, OpFoldResult from, Value to,
                 Value step) {
  std::optional<int64_t> first = getConstantIntValue(from), last = getConstantIntValue(to),
                         size = getConstantIntValue(step);
  if (first && last && size && *size > 0 && (*last - *first) % *size == 0)
    return step;
  Value rest = b.createOrFold<arith::SubIOp>(loc, to, position);
  return b.createOrFold<arith::MinSIOp>(loc, rest, step);
}

} // namespace ptl::ir
