// Values of bounds and of their parts.
#include "ir/build/frame.h"

using namespace mlir;

namespace ptl::ir {

void flatten(const Bound &bound, llvm::SmallVectorImpl<mlir::Value> &values) {
  if (bound.kind == Bound::Kind::Value)
    values.push_back(bound.value);
  for (const Bound &part : bound.parts)
    flatten(part, values);
}

void refill(Bound &bound, ValueRange values, size_t &next) {
  if (bound.kind == Bound::Kind::Value)
    bound.value = values[next++];
  for (Bound &part : bound.parts)
    refill(part, values, next);
}

} // namespace ptl::ir
