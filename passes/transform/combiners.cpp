#include "passes/transform/combiners.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ptl::ir {

llvm::StringRef combinerOf(Operation *op) {
  return llvm::StringSwitch<llvm::StringRef>(op->getName().stripDialect())
      .Cases("reduce_sum", "cumsum", "ptl.add")
      .Cases("reduce_prod", "cumprod", "ptl.mul")
      .Cases("reduce_min", "reduce_argmin", "cummin", "ptl.min")
      .Default("ptl.max");
}

/// Infinity, or the largest number of a type that has none.
static double greatest(FloatType type) {
  if (!isa<Float8E4M3FNType>(type))
    return std::numeric_limits<double>::infinity();
  llvm::APFloat largest = llvm::APFloat::getLargest(type.getFloatSemantics());
  bool inexact = false;
  largest.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return largest.convertToDouble();
}

Value numberOf(OpBuilder &b, Location loc, Type elem, double value) {
  if (auto real = dyn_cast<FloatType>(elem))
    return b.create<arith::ConstantOp>(loc, b.getFloatAttr(real, value));
  if (elem.isIndex())
    return b.create<arith::ConstantIndexOp>(loc, static_cast<int64_t>(value));
  APInt bits(64, static_cast<uint64_t>(static_cast<int64_t>(value)), true);
  auto attribute = IntegerAttr::get(elem, bits.sextOrTrunc(elem.getIntOrFloatBitWidth()));
  if (elem.isUnsignedInteger())
    return b.create<ConstantOp>(loc, attribute);
  return b.create<arith::ConstantOp>(loc, attribute);
}

Value neutralOf(OpBuilder &b, Location loc, llvm::StringRef combiner, Type elem) {
  double value = combiner == "ptl.mul" ? 1 : 0;
  if (combiner == "ptl.max" || combiner == "ptl.min") {
    double sign = combiner == "ptl.max" ? -1 : 1;
    if (auto real = dyn_cast<FloatType>(elem)) {
      value = sign * greatest(real);
    } else {
      double top = std::ldexp(1.0, static_cast<int>(elem.getIntOrFloatBitWidth()) -
                                       (elem.isUnsignedInteger() ? 0 : 1));
      value = sign > 0 ? top - 1 : elem.isUnsignedInteger() ? 0 : -top;
    }
  }
  return numberOf(b, loc, elem, value);
}

} // namespace ptl::ir
