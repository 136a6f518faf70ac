#include "ir/build/scalar_forms.h"

#include "ir/dialect/make_op.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

static bool isScalar(mlir::Type type) { return !isa<ArrayType>(type); }

static Value create(OpBuilder &b, Location loc, llvm::StringRef name, ValueRange operands,
                    mlir::Type result, llvm::ArrayRef<NamedAttribute> attributes = {}) {
  return makeOp(b, loc, name, result, operands, attributes);
}

static Value convert(OpBuilder &b, Location loc, Value x, mlir::Type to) {
  if (x.getType() == to)
    return x;
  return b.create<ConvertOp>(loc, to, x, "even", /*saturate=*/false);
}

/// The only element of an array whose extents are all 1.
static Value onlyElement(OpBuilder &b, Location loc, Value x, mlir::Type element) {
  auto rank = static_cast<int64_t>(cast<ArrayType>(x.getType()).getExtents().size());
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0);
  Value one = b.create<arith::ConstantIndexOp>(loc, 1);
  llvm::SmallVector<Value> offsets(static_cast<size_t>(rank), zero);
  llvm::SmallVector<Value> lengths(static_cast<size_t>(rank), one);
  return b.create<SliceOp>(loc, element, x, offsets, lengths, ValueRange(), Value(),
                           b.getDenseI64ArrayAttr(llvm::to_vector(llvm::seq(rank))));
}

/// `reshape` and `broadcast`: null where both sides are arrays.
static Value shaped(OpBuilder &b, const BuiltinParts &parts) {
  Value x = parts.operands.front();
  if (isScalar(parts.result))
    return isScalar(x.getType()) ? x : onlyElement(b, parts.loc, x, parts.result);
  if (!isScalar(x.getType()))
    return {};
  llvm::SmallVector<Value> operands(parts.operands.drop_front()); // `full` has the lengths first
  operands.push_back(x);
  return create(b, parts.loc, FullOp::getOperationName(), operands, parts.result);
}

/// The scalars of an `einsum` multiply the sum over the other operands, in its element type.
static Value einsumOfScalars(OpBuilder &b, const BuiltinParts &parts) {
  if (llvm::none_of(parts.operands, [](Value x) { return isScalar(x.getType()); }))
    return {};
  auto [inputs, letters] = parts.equation.split("->");
  llvm::SmallVector<llvm::StringRef> terms;
  inputs.split(terms, ',');
  auto array = dyn_cast<ArrayType>(parts.result);
  mlir::Type element = array ? array.getElementType() : parts.result;
  llvm::SmallVector<Value> arrays;
  std::string equation;
  Value product; // of the scalars
  for (auto [term, x] : llvm::zip_equal(terms, parts.operands)) {
    if (!isScalar(x.getType())) {
      equation += (arrays.empty() ? "" : ",") + term.str();
      arrays.push_back(x);
      continue;
    }
    Value factor = convert(b, parts.loc, x, element);
    product = product ? create(b, parts.loc, MulOp::getOperationName(), {product, factor}, element)
                      : factor;
  }
  if (arrays.empty())
    return product;
  equation += "->" + letters.str();
  Value sum = create(b, parts.loc, EinsumOp::getOperationName(), arrays, parts.result,
                     b.getNamedAttr("spec", b.getStringAttr(equation)));
  return create(b, parts.loc, MulOp::getOperationName(), {sum, product}, parts.result);
}

std::optional<Value> buildScalarForm(OpBuilder &b, const BuiltinParts &parts) {
  auto found = [](Value value) { return value ? std::optional(value) : std::nullopt; };
  switch (parts.op) {
  case OpId::Reshape:
  case OpId::Broadcast:
    return found(shaped(b, parts));
  case OpId::Transpose:
  case OpId::Pad: // no axis has a margin
  case OpId::Full:
    return found(isScalar(parts.result) ? parts.operands.front() : Value());
  case OpId::Einsum:
    return found(einsumOfScalars(b, parts));
  default:
    return std::nullopt;
  }
}

} // namespace ptl::ir
