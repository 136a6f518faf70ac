#include "passes/transform/combiners.h"

#include "ir/dialect/element_types.h"
#include "ir/dialect/op_facts.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/scalar_values.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

llvm::StringRef combinerOf(Operation *op) { return operationName(*loweringOf(op)->combiner); }

llvm::StringRef reductionBy(llvm::StringRef combiner) {
  // The reduction is found by its combiner, so the two tables cannot contradict each other.
  OpId by = *opIdOf(combiner);
  // Searches and the mean combine by the same operation, but their results are not what it combines.
  auto isPlain = [](const OpRecord &record) {
    return record.opClass == OpClass::Reduction && !opLowering(record.id).onNumbers &&
           llvm::any_of(record.params,
                        [](const OpParam &each) { return each.kind == ParamKind::Axes; });
  };
  for (const OpRecord &record : allOps())
    if (isPlain(record) && opLowering(record.id).combiner == by)
      return operationName(record.id);
  llvm_unreachable("every combiner of a scan has a reduction");
}

Value numberOf(OpBuilder &b, Location loc, Type elem, double value) {
  if (auto real = dyn_cast<FloatType>(elem))
    return b.create<arith::ConstantOp>(loc, b.getFloatAttr(real, value));
  if (elem.isIndex())
    return b.create<arith::ConstantIndexOp>(loc, static_cast<int64_t>(value));
  // The number goes through 64 bits with a sign, which holds all that occur here.
  APInt bits(64, static_cast<uint64_t>(static_cast<int64_t>(value)), true);
  auto attribute = IntegerAttr::get(elem, bits.sextOrTrunc(elem.getIntOrFloatBitWidth()));
  // `arith.constant` takes no unsigned types.
  if (elem.isUnsignedInteger())
    return b.create<ConstantOp>(loc, attribute);
  return b.create<arith::ConstantOp>(loc, attribute);
}

Value identityValue(OpBuilder &b, Location loc, llvm::StringRef combiner, Type elem) {
  Scalar identity = identityOf(*opIdOf(combiner), elemKindOf(elem));
  auto value = cast<TypedAttr>(constantOf(identity, elem));
  if (elem.isUnsignedInteger())
    return b.create<ConstantOp>(loc, value);
  return b.create<arith::ConstantOp>(loc, value);
}

} // namespace ptl::ir
