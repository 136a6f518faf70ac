// Built-ins: the record says which arguments are operands and which are attributes, so no built-in
// is named here but those whose operands the builder makes itself.
#include "ir/build/builder.h"
#include "ir/build/scalar_forms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

/// Arithmetic on positions and sizes is `arith` on `index`, which MLIR folds. Null when the
/// built-in is none of it.
mlir::Value Builder::buildPositionOp(const OpExpr &expr, llvm::ArrayRef<mlir::Value> operands) {
  Location loc = here(expr);
  mlir::Value a = operands[0], b = operands.size() > 1 ? operands[1] : mlir::Value();
  auto compare = [&](arith::CmpIPredicate predicate) {
    return builder_.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  };
  switch (expr.op->id) {
  case OpId::Add:
    return builder_.createOrFold<arith::AddIOp>(loc, a, b);
  case OpId::Sub:
    return builder_.createOrFold<arith::SubIOp>(loc, a, b);
  case OpId::Mul:
    return builder_.createOrFold<arith::MulIOp>(loc, a, b);
  case OpId::Div:
    return builder_.createOrFold<arith::FloorDivSIOp>(loc, a, b);
  case OpId::Cdiv:
    return builder_.createOrFold<arith::CeilDivSIOp>(loc, a, b);
  case OpId::Rem: {
    mlir::Value floor = builder_.createOrFold<arith::FloorDivSIOp>(loc, a, b);
    return builder_.createOrFold<arith::SubIOp>(
        loc, a, builder_.createOrFold<arith::MulIOp>(loc, floor, b));
  }
  case OpId::Neg:
    return builder_.createOrFold<arith::SubIOp>(loc, index(0), a);
  case OpId::Max:
    return builder_.createOrFold<arith::MaxSIOp>(loc, a, b);
  case OpId::Min:
    return builder_.createOrFold<arith::MinSIOp>(loc, a, b);
  case OpId::Eq:
    return compare(arith::CmpIPredicate::eq);
  case OpId::Ne:
    return compare(arith::CmpIPredicate::ne);
  case OpId::Lt:
    return compare(arith::CmpIPredicate::slt);
  case OpId::Le:
    return compare(arith::CmpIPredicate::sle);
  case OpId::Gt:
    return compare(arith::CmpIPredicate::sgt);
  case OpId::Ge:
    return compare(arith::CmpIPredicate::sge);
  default:
    return {};
  }
}

int64_t Builder::operandRank(const OpExpr &expr) {
  llvm::SmallVector<const Expr *> all(expr.args.begin(), expr.args.end());
  all.append(expr.rest.begin(), expr.rest.end());
  for (const Expr *arg : all)
    if (arg && arg->type->isArray())
      return static_cast<int64_t>(arg->type->extents.size() +
                                  (arg->type->prefix ? frame_->prefix.size() : 0));
  return 0;
}

void Builder::addAxes(const OpExpr &expr, const OpParam &param, int64_t rank, OpParts &parts) {
  llvm::SmallVector<int64_t> axes;
  for (int64_t axis : expr.axes)
    axes.push_back(axis < 0 ? axis + rank : axis);
  if (param.kind == ParamKind::Axes) {
    if (expr.op->id == OpId::Transpose && axes.empty() && rank > 1) {
      for (int64_t i = 0; i < rank; ++i)
        axes.push_back(i);
      std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    }
    if (!axes.empty())
      parts.attributes.push_back(
          builder_.getNamedAttr("axes", builder_.getDenseI64ArrayAttr(axes)));
    return;
  }
  if (axes.empty() && param.optional && param.defaultText.empty())
    return;
  int64_t axis = axes.empty() ? rank - 1 : axes.front();
  parts.attributes.push_back(builder_.getNamedAttr("axis", builder_.getI64IntegerAttr(axis)));
}

void Builder::addParam(const OpExpr &expr, size_t position, int64_t rank, OpParts &parts) {
  const OpParam &param = expr.op->params[position];
  const Expr *arg = position < expr.args.size() ? expr.args[position] : nullptr;
  auto attribute = [&](Attribute value) {
    parts.attributes.push_back(builder_.getNamedAttr(param.name, value));
  };
  auto operands = [&](llvm::ArrayRef<mlir::Value> values) {
    parts.operands.append(values.begin(), values.end());
    parts.segments.push_back(static_cast<int32_t>(values.size()));
  };
  switch (param.kind) {
  case ParamKind::Value: {
    llvm::SmallVector<mlir::Value> values;
    if (param.variadic)
      for (const Expr *value : expr.rest)
        values.push_back(buildValue(*value));
    else if (arg)
      values.push_back(buildValue(*arg));
    return operands(values);
  }
  case ParamKind::Axis:
  case ParamKind::Axes:
    return addAxes(expr, param, rank, parts);
  case ParamKind::BoolConst: {
    if (param.name == "keep") // the checker has dropped the axes
      return;
    const auto *constant =
        arg && arg->kind == ExprKind::Const ? static_cast<const ConstExpr *>(arg) : nullptr;
    return attribute(builder_.getBoolAttr(constant && constant->intValue != 0));
  }
  case ParamKind::IntConst:
    if (arg)
      attribute(builder_.getI64IntegerAttr(constantDim(arg->dim).value_or(0)));
    return;
  case ParamKind::Enum: {
    llvm::StringRef tag = param.defaultText;
    if (arg && arg->kind == ExprKind::EnumTag)
      tag = static_cast<const EnumTagExpr *>(arg)->tag;
    tag.consume_front(".");
    return attribute(builder_.getStringAttr(tag));
  }
  case ParamKind::Text: {
    std::string text = expr.equation;
    if (arg && arg->kind == ExprKind::String)
      text = static_cast<const StringExpr *>(arg)->value;
    return attribute(builder_.getStringAttr(text));
  }
  case ParamKind::Dims:
    if (expr.op->id == OpId::Pad) { // The margins: before all axes, then after.
      size_t half = expr.shape.size() / 2, first = param.name == "before" ? 0 : half;
      llvm::SmallVector<mlir::Value> values;
      for (size_t i = first; i < first + half; ++i)
        values.push_back(emitDim(expr.shape[i]));
      return operands(values);
    }
    return operands(namedLengths(*expr.type));
  case ParamKind::ArrayType:
    return operands(namedLengths(*expr.type));
  case ParamKind::Dim: {
    const Type &result = expr.type->kind == TypeKind::Tuple ? *expr.type->elements[0] : *expr.type;
    Dim length = rootDim(result.extents.back().length);
    return operands(length.isConstant() ? llvm::SmallVector<mlir::Value>()
                                        : llvm::SmallVector<mlir::Value>{emitRoot(length)});
  }
  case ParamKind::ElemType:
  case ParamKind::Range:
  case ParamKind::Region:
  case ParamKind::Function:
    return;
  }
}

Bound Builder::buildOp(const OpExpr &expr) {
  if (expr.op->id == OpId::Index)
    return buildIndexOp(expr);
  if (expr.op->id == OpId::Random)
    return buildRandomOp(expr);
  OpParts parts;
  int64_t rank = operandRank(expr);
  for (size_t i = 0; i < expr.op->params.size(); ++i)
    addParam(expr, i, rank, parts);
  // A scalar has no axes: what would be reduced is there. (`T[..]` may stand for one.)
  if (expr.op->opClass == OpClass::Reduction && rank == 0) {
    bool isPosition = expr.op->id == OpId::ReduceArgmax || expr.op->id == OpId::ReduceArgmin;
    return Bound::of(isPosition ? constant(ElemKind::I32, 0, 0, here(expr)) : parts.operands[0]);
  }
  if (std::optional<mlir::Value> value = buildScalarOp(expr, parts))
    return Bound::of(*value);
  bool onPositions = !parts.operands.empty() && llvm::all_of(parts.operands, [](mlir::Value v) {
    return isa<IndexType>(v.getType());
  });
  if (onPositions)
    if (mlir::Value value = buildPositionOp(expr, parts.operands))
      return Bound::of(value);

  OperationState state(here(expr), "ptl." + std::string(expr.op->mnemonic));
  state.addOperands(parts.operands);
  state.addAttributes(parts.attributes);
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", builder_.getDenseI32ArrayAttr(parts.segments));
  if (expr.type->kind == TypeKind::Tuple)
    for (const Type *element : expr.type->elements)
      state.addTypes(irType(*element));
  else if (expr.type->kind != TypeKind::Void)
    state.addTypes(irType(*expr.type));
  Operation *op = builder_.create(state);
  if (op->getNumResults() == 0)
    return {};
  if (expr.type->kind != TypeKind::Tuple)
    return Bound::of(op->getResult(0));
  Bound bound;
  bound.kind = Bound::Kind::Parts;
  for (mlir::Value result : op->getResults())
    bound.parts.push_back(Bound::of(result));
  return bound;
}

/// A built-in on scalars, or with one as its result, that is not its own operation then.
std::optional<mlir::Value> Builder::buildScalarOp(const OpExpr &expr, const OpParts &parts) {
  if (expr.type->kind != TypeKind::Scalar && expr.type->kind != TypeKind::Array)
    return std::nullopt;
  mlir::Type result = irType(*expr.type);
  OpId id = expr.op->id;
  if (!isa<ArrayType>(result) && (id == OpId::Zeros || id == OpId::Ones)) {
    int64_t value = id == OpId::Ones ? 1 : 0;
    return constant(elemKind(expr.type->elem), static_cast<double>(value), value, here(expr));
  }
  StringAttr equation;
  for (NamedAttribute attribute : parts.attributes)
    if (attribute.getName() == "spec")
      equation = cast<StringAttr>(attribute.getValue());
  return buildScalarForm(builder_, {id, here(expr), parts.operands,
                                    equation ? equation.getValue() : llvm::StringRef(), result});
}

/// `index(r)`: the start is an operand.
Bound Builder::buildIndexOp(const OpExpr &expr) {
  Bound range = expr.args.empty() || !expr.args[0] ? Bound() : buildExpr(*expr.args[0]);
  OperationState state(here(expr), "ptl.index");
  state.addOperands(range.kind == Bound::Kind::Range ? range.start : index(0));
  state.addOperands(namedLengths(*expr.type));
  state.addTypes(irType(*expr.type));
  return Bound::of(builder_.create(state)->getResult(0));
}

/// `random(…)`: limits left out are 0 and 1 in the element type.
Bound Builder::buildRandomOp(const OpExpr &expr) {
  Location loc = here(expr);
  auto limit = [&](size_t position, int64_t otherwise) {
    if (position < expr.args.size() && expr.args[position])
      return buildValue(*expr.args[position]);
    return constant(elemKind(expr.type->elem), static_cast<double>(otherwise), otherwise, loc);
  };
  OperationState state(loc, "ptl.random");
  mlir::Value seed = expr.args[1] ? buildValue(*expr.args[1]) : index(0);
  state.addOperands({seed, limit(2, 0), limit(3, 1)});
  state.addOperands(namedLengths(*expr.type));
  state.addTypes(irType(*expr.type));
  return Bound::of(builder_.create(state)->getResult(0));
}

} // namespace ptl::ir
