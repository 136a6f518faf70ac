// Built-ins, by their records.
#include "ir/build/build_op.h"
#include "ir/build/build_blocks.h"
#include "ir/build/build_check.h"
#include "ir/build/build_decl.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_four_bits.h"
#include "ir/build/build_index.h"
#include "ir/build/build_type.h"
#include "ir/build/elements.h"
#include "ir/build/scalar_forms.h"
#include "ir/dialect/attributes.h"

#include "frontend/sema/calls/check_op_custom_data.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace ptl::ir {

namespace {
struct OpParts {
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<int32_t> segments; ///< operands per parameter that has operands
  llvm::SmallVector<mlir::NamedAttribute> attributes;
};
} // namespace

/// Arithmetic on positions and sizes is `arith` on `index`, which MLIR folds. Null when the
/// built-in is none of it.
static mlir::Value buildPositionOp(BuildContext &c, const OpExpr &expr,
                                   llvm::ArrayRef<mlir::Value> operands) {
  Location loc = c.here(expr);
  mlir::Value a = operands[0], b = operands.size() > 1 ? operands[1] : mlir::Value();
  auto compare = [&](arith::CmpIPredicate predicate) {
    return c.b.createOrFold<arith::CmpIOp>(loc, predicate, a, b);
  };
  switch (expr.op->id) {
  case OpId::Add:
    return c.b.createOrFold<arith::AddIOp>(loc, a, b);
  case OpId::Sub:
    return c.b.createOrFold<arith::SubIOp>(loc, a, b);
  case OpId::Mul:
    return c.b.createOrFold<arith::MulIOp>(loc, a, b);
  case OpId::Div:
    return c.b.createOrFold<arith::FloorDivSIOp>(loc, a, b);
  case OpId::Cdiv:
    return c.b.createOrFold<arith::CeilDivSIOp>(loc, a, b);
  // The language's remainder takes the sign of the divisor: `a - floor(a / b) * b`.
  case OpId::Rem: {
    mlir::Value floor = c.b.createOrFold<arith::FloorDivSIOp>(loc, a, b);
    return c.b.createOrFold<arith::SubIOp>(loc, a, c.b.createOrFold<arith::MulIOp>(loc, floor, b));
  }
  case OpId::Neg:
    return c.b.createOrFold<arith::SubIOp>(loc, c.index(0), a);
  case OpId::Max:
    return c.b.createOrFold<arith::MaxSIOp>(loc, a, b);
  case OpId::Min:
    return c.b.createOrFold<arith::MinSIOp>(loc, a, b);
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

static int64_t operandRank(BuildContext &c, const OpExpr &expr) {
  llvm::SmallVector<const Expr *> all(expr.args.begin(), expr.args.end());
  all.append(expr.rest.begin(), expr.rest.end());
  // All operands of an operation have one rank, so the first array decides.
  for (const Expr *arg : all)
    if (arg && arg->type->isArray())
      return static_cast<int64_t>(arg->type->extents.size() +
                                  (arg->type->prefix ? c.frame->prefix.size() : 0));
  return 0;
}

static void addAxes(BuildContext &c, const OpExpr &expr, const OpParam &param, int64_t rank,
                    OpParts &parts) {
  llvm::SmallVector<int64_t> axes;
  for (int64_t axis : expr.axes)
    // Axes from the end are counted from the start now, when the rank is known.
    axes.push_back(axis < 0 ? axis + rank : axis);
  if (param.kind == ParamKind::Axes) {
    // Without axes `transpose` swaps the last two.
    if (expr.op->id == OpId::Transpose && axes.empty() && rank > 1) {
      for (int64_t i = 0; i < rank; ++i)
        axes.push_back(i);
      std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
    }
    if (!axes.empty())
      parts.attributes.push_back(c.b.getNamedAttr("axes", c.b.getDenseI64ArrayAttr(axes)));
    return;
  }
  if (axes.empty() && param.optional && param.defaultText.empty())
    return;
  // The default is the last axis.
  int64_t axis = axes.empty() ? rank - 1 : axes.front();
  parts.attributes.push_back(c.b.getNamedAttr("axis", c.b.getI64IntegerAttr(axis)));
}

/// The operands that a parameter becomes; nothing if it becomes an attribute, or neither.
static std::optional<llvm::SmallVector<mlir::Value>>
paramOperands(BuildContext &c, const OpExpr &expr, const OpParam &param, const Expr *arg) {
  llvm::SmallVector<mlir::Value> values;
  switch (param.kind) {
  case ParamKind::Value:
    // What is variadic takes all arguments behind the others.
    if (param.variadic)
      for (const Expr *value : expr.rest)
        values.push_back(buildValue(c, *value));
    else if (arg)
      values.push_back(buildValue(c, *arg));
    return values;
  case ParamKind::Dims:
    if (expr.op->id == OpId::Pad) { // The margins: before all axes, then after.
      size_t half = expr.shape.size() / 2, first = param.name == "before" ? 0 : half;
      for (size_t i = first; i < first + half; ++i)
        values.push_back(emitDim(c, expr.shape[i]));
      return values;
    }
    return namedLengths(c, *expr.type);
  case ParamKind::ArrayType:
    return namedLengths(c, *expr.type);
  case ParamKind::Dim: {
    // Of several results the first has the length.
    const Type &result = expr.type->kind == TypeKind::Tuple ? *expr.type->elements[0] : *expr.type;
    Dim length = rootDim(c, result.extents.back().length);
    // A constant length is in the type and needs no operand.
    if (!length.isConstant())
      values.push_back(emitRoot(c, length));
    return values;
  }
  case ParamKind::Axis:
  case ParamKind::Axes:
  case ParamKind::IntConst:
  case ParamKind::BoolConst:
  case ParamKind::ElemType:
  case ParamKind::Range:
  case ParamKind::Region:
  case ParamKind::Function:
  case ParamKind::Enum:
  case ParamKind::Text:
    return std::nullopt;
  }
  llvm_unreachable("not a kind of parameter");
}

/// The attribute that a parameter other than an axis becomes; null if it becomes none.
static Attribute paramAttribute(BuildContext &c, const OpExpr &expr, const OpParam &param,
                                const Expr *arg) {
  switch (param.kind) {
  case ParamKind::BoolConst: {
    if (param.name == "keep") // the checker has dropped the axes
      return {};
    const auto *constant = dyn_cast_if_present<ConstExpr>(arg);
    return c.b.getBoolAttr(constant && constant->intValue != 0);
  }
  case ParamKind::IntConst:
    if (arg)
      return c.b.getI64IntegerAttr(constantDim(c, arg->dim).value_or(0));
    return {};
  case ParamKind::Enum: {
    llvm::StringRef tag = param.defaultText;
    if (arg && arg->kind == ExprKind::EnumTag)
      tag = cast<EnumTagExpr>(arg)->tag;
    tag.consume_front(".");
    return c.b.getStringAttr(tag);
  }
  case ParamKind::Text: {
    std::string text = expr.equation;
    if (arg && arg->kind == ExprKind::String)
      text = cast<StringExpr>(arg)->value;
    return c.b.getStringAttr(text);
  }
  // These are operands, or axes (`addAxes`), or show in the type of the result, or have a builder
  // of their own.
  case ParamKind::Value:
  case ParamKind::Axis:
  case ParamKind::Axes:
  case ParamKind::Dim:
  case ParamKind::Dims:
  case ParamKind::ElemType:
  case ParamKind::ArrayType:
  case ParamKind::Range:
  case ParamKind::Region:
  case ParamKind::Function:
    return {};
  }
  llvm_unreachable("not a kind of parameter");
}

static void addParam(BuildContext &c, const OpExpr &expr, size_t position, int64_t rank,
                     OpParts &parts) {
  const OpParam &param = expr.op->params[position];
  const Expr *arg = position < expr.args.size() ? expr.args[position] : nullptr;
  if (param.kind == ParamKind::Axis || param.kind == ParamKind::Axes)
    return addAxes(c, expr, param, rank, parts);
  if (auto operands = paramOperands(c, expr, param, arg)) {
    parts.operands.append(*operands);
    parts.segments.push_back(static_cast<int32_t>(operands->size()));
  } else if (Attribute value = paramAttribute(c, expr, param, arg)) {
    parts.attributes.push_back(c.b.getNamedAttr(param.name, value));
  }
}

static void checkLength(BuildContext &c, const OpExpr &expr, Dim length,
                        const std::string &message) {
  Dim root = length ? rootDim(c, length) : Dim();
  if (!root || c.names.isNonNegative(root))
    return;
  mlir::Value value = emitRoot(c, root);
  mlir::Value fits =
      c.b.createOrFold<arith::CmpIOp>(c.here(expr), arith::CmpIPredicate::sge, value, c.index(0));
  emitCheck(c, fits, "bounds", message, {value}, c.here(expr));
}

/// Lengths that an operation takes from numbers of the program, and not from arrays, may come out
/// negative. Code behind relies on it that they are not: it would write outside of what it has.
static void checkLengths(BuildContext &c, const OpExpr &expr) {
  if (!c.binding.checked)
    return;
  if (expr.op->id == OpId::Pad) {
    for (Dim margin : expr.shape)
      checkLength(c, expr, margin, "`pad` by a negative number of elements");
    return;
  }
  bool takesLengths = llvm::any_of(expr.op->params, [](const OpParam &param) {
    return param.kind == ParamKind::Dims || param.kind == ParamKind::Dim ||
           param.kind == ParamKind::ArrayType || param.kind == ParamKind::Range;
  });
  const Type &result = expr.type->kind == TypeKind::Tuple ? *expr.type->elements[0] : *expr.type;
  if (takesLengths && result.isArray())
    for (const ptl::Extent &extent : result.extents)
      checkLength(c, expr, extent.length,
                  "the extent `" + c.dims.toString(extent.length) + "` is {0}");
}

/// The positions of a `gather` or `scatter`, where the checker could not prove that they lie within
/// the axis.
static void checkPositionsOf(BuildContext &c, const OpExpr &expr, const OpParts &parts) {
  if (!expr.needsCheck || !c.binding.checked)
    return;
  mlir::Value array = parts.operands[0], positions = parts.operands[1];
  int64_t axis = expr.axes.empty() ? -1 : expr.axes.front();
  axis += rankOf(array.getType());
  checkPositions(c, positions, lengthOf(c, array, axis), *expr.args[1],
                 axisIn(c, *expr.args[0], axis));
}

/// A position as a number of an array of positions.
static mlir::Value asElement(BuildContext &c, mlir::Value position, mlir::Type type, Location loc) {
  if (IntegerAttr number; matchPattern(position, m_Constant(&number)))
    return c.make<arith::ConstantOp>(loc, IntegerAttr::get(type, number.getInt()));
  return c.make<ConvertOp>(loc, type, position,
                           roundModeNames[static_cast<size_t>(RoundMode::Even)], false);
}

static Bound buildIndexOp(BuildContext &c, const OpExpr &expr) {
  Bound range = expr.args.empty() || !expr.args[0] ? Bound() : buildExpr(c, *expr.args[0]);
  Location loc = c.here(expr);
  // Without a range the index counts from 0.
  bool isRange = range.kind == Bound::Kind::Range;
  bool isStrided = isRange && !matchPattern(range.step, m_One());
  OperationState state(loc, IndexOp::getOperationName());
  state.addOperands(isRange && !isStrided ? range.start : c.index(0));
  state.addOperands(namedLengths(c, *expr.type));
  state.addTypes(irType(c, *expr.type));
  mlir::Value made = c.b.create(state)->getResult(0);
  if (!isStrided)
    return Bound::of(made);
  Elements elements(c, made, loc);
  mlir::Type element = elementTypeOf(made.getType());
  mlir::Value scaled = elements.make<MulOp>(made, asElement(c, range.step, element, loc));
  return Bound::of(elements.make<AddOp>(scaled, asElement(c, range.start, element, loc)));
}

/// `random(…)`: limits left out are 0 and 1 in the element type.
static Bound buildRandomOp(BuildContext &c, const OpExpr &expr) {
  Location loc = c.here(expr);
  auto limit = [&](size_t position, int64_t otherwise) {
    if (position < expr.args.size() && expr.args[position])
      return buildValue(c, *expr.args[position]);
    return buildConstant(c, elemKind(c, expr.type->elem), static_cast<double>(otherwise), otherwise,
                         loc);
  };
  OperationState state(loc, RandomOp::getOperationName());
  // Without a seed the seed is 0.
  mlir::Value seed = expr.args[1] ? buildValue(c, *expr.args[1]) : c.index(0);
  state.addOperands({seed, limit(2, 0), limit(3, 1)});
  state.addOperands(namedLengths(c, *expr.type));
  state.addTypes(irType(c, *expr.type));
  return Bound::of(c.b.create(state)->getResult(0));
}

/// A built-in on scalars, or with one as its result, that is not its own operation then.
static std::optional<mlir::Value> buildOnScalars(BuildContext &c, const OpExpr &expr,
                                                 const OpParts &parts) {
  if (expr.type->kind != TypeKind::Scalar && expr.type->kind != TypeKind::Array)
    return std::nullopt;
  mlir::Type result = irType(c, *expr.type);
  OpId id = expr.op->id;
  // On scalars these are constants, because there is nothing to fill.
  if (!isa<ArrayType>(result) && (id == OpId::Zeros || id == OpId::Ones)) {
    int64_t value = id == OpId::Ones ? 1 : 0;
    return buildConstant(c, elemKind(c, expr.type->elem), static_cast<double>(value), value,
                         c.here(expr));
  }
  StringAttr equation;
  for (NamedAttribute attribute : parts.attributes)
    if (attribute.getName() == "spec")
      equation = cast<StringAttr>(attribute.getValue());
  // Many built-ins have a form of `arith` for scalars.
  return buildScalarForm(c.b, {id, c.here(expr), parts.operands,
                               equation ? equation.getValue() : llvm::StringRef(), result});
}

/// What the checker refuses, in a `fn` whose element type is such a type here.
static bool computesWithHeld(BuildContext &c, const OpExpr &expr) {
  auto isHeld = [&](const Expr *arg) {
    return arg && (arg->type->isArray() || arg->type->isScalar()) &&
           isHeldOnly(elemKind(c, arg->type->elem));
  };
  if (expr.op->id == OpId::Bitcast) {
    // The IR has the numbers of `f4e2m1`, and not their bits.
    ElemKind from = elemKind(c, expr.args[0]->type->elem), to = elemKind(c, expr.type->elem);
    return from != to && (from == ElemKind::F4E2M1 || to == ElemKind::F4E2M1);
  }
  return !onlyMoves(*expr.op) &&
         (llvm::any_of(expr.args, isHeld) || llvm::any_of(expr.rest, isHeld));
}

/// The texts among the values of a `print`, where numbers stand in their places; null if there are none.
static ArrayAttr textsAmong(BuildContext &c, const OpExpr &expr) {
  llvm::SmallVector<Attribute> texts;
  bool isAny = false;
  for (const Expr *arg : expr.rest) {
    bool isText = arg->kind == ExprKind::String;
    texts.push_back(isText ? Attribute(c.b.getStringAttr(cast<StringExpr>(arg)->value))
                           : Attribute(c.b.getUnitAttr()));
    isAny |= isText;
  }
  return isAny ? c.b.getArrayAttr(texts) : ArrayAttr();
}

static Bound buildComputed(BuildContext &c, const OpExpr &expr) {
  if (computesWithHeld(c, expr))
    c.fail(DiagId::OnlyHeld, expr.span, {std::string(expr.op->name), "an element type here"});
  checkElementType(c, *expr.type, expr.span);
  checkLengths(c, expr);
  if (expr.op->id == OpId::Index)
    return buildIndexOp(c, expr);
  if (expr.op->id == OpId::Random)
    return buildRandomOp(c, expr);
  if (expr.op->id == OpId::ScaledDot)
    return Bound::of(buildScaledDot(c, expr));
  OpParts parts;
  int64_t rank = operandRank(c, expr);
  for (size_t i = 0; i < expr.op->params.size(); ++i)
    addParam(c, expr, i, rank, parts);
  checkPositionsOf(c, expr, parts);
  // A scalar has no axes: what would be reduced is there. (`T[..]` may stand for one.)
  if (expr.op->opClass == OpClass::Reduction && rank == 0) {
    bool isPosition = expr.op->id == OpId::ReduceArgmax || expr.op->id == OpId::ReduceArgmin;
    return Bound::of(isPosition ? buildConstant(c, ElemKind::I32, 0, 0, c.here(expr))
                                : parts.operands[0]);
  }
  // The IR may have one type for both.
  if (expr.op->id == OpId::Bitcast &&
      elementTypeOf(parts.operands[0].getType()) == elementTypeOf(irType(c, *expr.type)))
    return Bound::of(parts.operands[0]);
  if (std::optional<mlir::Value> value = buildOnScalars(c, expr, parts))
    return Bound::of(*value);
  // Positions have the type `index`, whose arithmetic folds.
  bool onPositions = !parts.operands.empty() && llvm::all_of(parts.operands, [](mlir::Value v) {
    return isa<IndexType>(v.getType());
  });
  if (onPositions)
    if (mlir::Value value = buildPositionOp(c, expr, parts.operands))
      return Bound::of(value);

  OperationState state(c.here(expr), "ptl." + std::string(expr.op->mnemonic));
  state.addOperands(parts.operands);
  state.addAttributes(parts.attributes);
  // Operations with several groups of operands note how many each has.
  if (state.name.hasTrait<OpTrait::AttrSizedOperandSegments>())
    state.addAttribute("operandSegmentSizes", c.b.getDenseI32ArrayAttr(parts.segments));
  if (expr.type->kind == TypeKind::Tuple)
    for (const Type *element : expr.type->elements)
      state.addTypes(irType(c, *element));
  else if (expr.type->kind != TypeKind::Void)
    state.addTypes(irType(c, *expr.type));
  Operation *op = c.b.create(state);
  if (ArrayAttr texts = isa<PrintOp>(op) ? textsAmong(c, expr) : ArrayAttr())
    attrs::texts.set(op, texts);
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

Bound buildOp(BuildContext &c, const OpExpr &expr) {
  return keptInFourBits(c, expr, buildComputed(c, expr));
}

} // namespace ptl::ir
