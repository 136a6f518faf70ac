#include "ir/ops/op_lowering.h"

#include <limits>

namespace ptl {
namespace {

#include "ir/ops/op_lowering.inc"

} // namespace

const OpLowering &opLowering(OpId id) { return opLowerings[static_cast<size_t>(id)]; }

/// The end of an element type that lies in the direction of `infinity`.
static Scalar endOf(ElemKind elem, double infinity) {
  if (isFloat(elem))
    return Scalar::real(roundFloat(infinity, elem));
  return Scalar::integer(infinity < 0 ? smallestInteger(elem) : largestInteger(elem));
}

Scalar identityOf(OpId combiner, ElemKind elem) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  switch (opLowering(combiner).identity) {
  case Identity::One:
    return isFloat(elem) ? Scalar::real(1) : Scalar::integer(1);
  case Identity::Lowest:
    return endOf(elem, -infinity);
  case Identity::Highest:
    return endOf(elem, infinity);
  default:
    return {};
  }
}

} // namespace ptl
