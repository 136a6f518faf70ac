// Expressions other than built-ins, indexing and calls.
#include "ir/build/build_context.h"
#include "ir/dialect/source_range.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::ir {

mlir::Value Builder::buildValue(const Expr &expr) {
  if (auto found = prebuilt_.find(&expr); found != prebuilt_.end())
    return found->second;
  Bound bound = buildExpr(expr);
  if (bound.kind == Bound::Kind::Value)
    return readRef(bound, here(expr)).value;
  return constant(ElemKind::Int, 0, 0, here(expr));
}

Bound Builder::buildExpr(const Expr &expr) {
  llvm::SaveAndRestore place(place_, here(expr));
  ++built_;
  // What is known as a dimension needs no second computation.
  if (expr.dim.isKnown() && expr.type->isInt())
    return Bound::of(emitDim(expr.dim));
  switch (expr.kind) {
  case ExprKind::Const:
    return buildConst(static_cast<const ConstExpr &>(expr));
  case ExprKind::LocalRef:
    return buildLocalRef(static_cast<const LocalRefExpr &>(expr));
  case ExprKind::Dim:
    return Bound::of(emitDim(expr.dim));
  case ExprKind::Op:
    return buildOp(static_cast<const OpExpr &>(expr));
  case ExprKind::Convert:
    return buildConvert(static_cast<const ConvertExpr &>(expr));
  case ExprKind::Call:
    return buildCall(static_cast<const CallExpr &>(expr));
  case ExprKind::Block:
    return buildBlockExpr(static_cast<const BlockExpr &>(expr));
  case ExprKind::Index:
    if (manual_ && expr.type->isScalar())
      return loadElement(static_cast<const IndexExpr &>(expr));
    return buildIndex(static_cast<const IndexExpr &>(expr));
  case ExprKind::If:
    return buildIfExpr(static_cast<const IfExpr &>(expr));
  case ExprKind::Range:
    return buildRange(static_cast<const RangeExpr &>(expr));
  case ExprKind::Field:
    return buildField(static_cast<const FieldExpr &>(expr));
  case ExprKind::Logical:
    return buildLogical(static_cast<const LogicalExpr &>(expr));
  case ExprKind::Tuple:
  case ExprKind::List:
  case ExprKind::StructMake: {
    const std::vector<Expr *> &elements =
        expr.kind == ExprKind::Tuple  ? static_cast<const TupleExpr &>(expr).elements
        : expr.kind == ExprKind::List ? static_cast<const ListExpr &>(expr).elements
                                      : static_cast<const StructMakeExpr &>(expr).fields;
    Bound bound;
    bound.kind = Bound::Kind::Parts;
    for (const Expr *element : elements)
      bound.parts.push_back(buildExpr(*element));
    return bound;
  }
  case ExprKind::Tiles:
  case ExprKind::String:
  case ExprKind::EnumTag:
  case ExprKind::Error:
    return {};
  }
  return {};
}

mlir::Value Builder::constant(ElemKind elem, double floatValue, int64_t intValue, Location loc) {
  mlir::Type type = scalarType(context_, elem);
  switch (elemInfo(elem).elemClass) {
  case ElemClass::Float:
    return make<arith::ConstantOp>(loc, FloatAttr::get(type, floatValue));
  case ElemClass::Unsigned:
    return make<ConstantOp>(
        loc, IntegerAttr::get(type, APInt(elemBits(elem), static_cast<uint64_t>(intValue))));
  case ElemClass::Position:
    return index(intValue);
  case ElemClass::Bool:
  case ElemClass::Signed:
    break;
  }
  auto bits = APInt(elemBits(elem), static_cast<uint64_t>(intValue), /*isSigned=*/true);
  return make<arith::ConstantOp>(loc, IntegerAttr::get(type, bits));
}

Bound Builder::buildConst(const ConstExpr &expr) {
  ElemKind elem = elemKind(expr.type->elem);
  // A literal of a generic type is one number; which field holds it depends on how it was written.
  double asFloat = expr.floatValue;
  int64_t asInt = expr.intValue;
  if (expr.type->elem.param && isFloat(elem) && asFloat == 0)
    asFloat = static_cast<double>(asInt);
  if (expr.type->elem.param && !isFloat(elem) && asInt == 0)
    asInt = static_cast<int64_t>(asFloat);
  return Bound::of(constant(elem, asFloat, asInt, here(expr)));
}

Bound Builder::buildLocalRef(const LocalRefExpr &expr) {
  const Local &local = *expr.local;
  if (local.dim.isKnown() && local.type->isInt())
    return Bound::of(emitDim(local.dim));
  return bound(local);
}

/// The content of storage as a value; anything else as it is.
Bound Builder::readRef(Bound bound, Location loc) {
  auto ref =
      bound.kind == Bound::Kind::Value ? dyn_cast<RefType>(bound.value.getType()) : RefType();
  if (!ref)
    return bound;
  auto array = ArrayType::get(&context_, ref.getElementType(), ref.getExtents(), ref.getPlace());
  Box box = wholeBox(bound.value);
  return Bound::of(make<LoadOp>(loc, array, bound.value, box.offsets, box.lengths, box.steps,
                                mlir::Value(), builder_.getDenseI64ArrayAttr({})));
}

Bound Builder::readRefs(Bound bound, Location loc) {
  for (Bound &part : bound.parts)
    part = readRefs(part, loc);
  return readRef(std::move(bound), loc);
}

Bound Builder::buildConvert(const ConvertExpr &expr) {
  mlir::Value arg = buildValue(*expr.arg);
  mlir::Type type = irType(*expr.type);
  if (arg.getType() == type)
    return Bound::of(arg);
  Location loc = here(expr);
  if (expr.checkRange)
    checkConversion(arg, elemKind(expr.type->elem), loc);
  IntegerAttr number; // a position that became a number, as `L - S` of equal lengths does
  if (arg.getType().isIndex() && matchPattern(arg, m_Constant(&number)) &&
      type.isSignlessInteger() && llvm::isIntN(type.getIntOrFloatBitWidth(), number.getInt()))
    return Bound::of(make<arith::ConstantOp>(loc, IntegerAttr::get(type, number.getInt())));
  OperationState state(loc, "ptl.convert");
  state.addOperands(arg);
  state.addTypes(type);
  state.addAttribute("round",
                     builder_.getStringAttr(roundModeNames[static_cast<size_t>(expr.round)]));
  state.addAttribute("saturate", builder_.getBoolAttr(expr.saturate));
  return Bound::of(builder_.create(state)->getResult(0));
}

/// The implicit conversion of positions is range-checked.
void Builder::checkConversion(mlir::Value position, ElemKind target, Location loc) {
  if (!isa<IndexType>(position.getType()) || elemBits(target) >= 64)
    return;
  unsigned bits = elemBits(target);
  int64_t highest = isSigned(target) ? (int64_t(1) << (bits - 1)) - 1 : (int64_t(1) << bits) - 1;
  int64_t lowest = isSigned(target) ? -highest - 1 : 0;
  mlir::Value low =
      builder_.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, position, index(lowest));
  mlir::Value high = builder_.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, position,
                                                          index(highest));
  emitCheck(builder_.createOrFold<arith::AndIOp>(loc, low, high), "arithmetic",
            "the value {0} does not fit in `" + std::string(elemName(target)) + "`", {position},
            loc);
}

/// Whether a block computes little, of scalars alone and without effects, so that it may as well be
/// computed where it is not asked for.
static bool isLittle(mlir::Block &block) {
  constexpr size_t most = 4;
  auto isScalar = [](mlir::Value value) { return value.getType().isIntOrIndexOrFloat(); };
  size_t count = 0;
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    bool isFree = op.hasTrait<OpTrait::ConstantLike>();
    if (!isPure(&op) || op.getNumRegions() != 0 || !llvm::all_of(op.getResults(), isScalar) ||
        !llvm::all_of(op.getOperands(), isScalar) || (count += !isFree) > most)
      return false;
  }
  return true;
}

/// The operations of a block but its end, before another one.
static void moveBefore(Operation *before, mlir::Block &block) {
  mlir::Block::iterator end = block.end();
  if (!block.empty() && block.back().hasTrait<OpTrait::IsTerminator>())
    end = block.back().getIterator();
  before->getBlock()->getOperations().splice(before->getIterator(), block.getOperations(),
                                             block.begin(), end);
}

Bound Builder::buildIfExpr(const IfExpr &expr) {
  Location loc = here(expr);
  mlir::Value condition = buildValue(*expr.condition);
  if (std::optional<bool> known = constantCondition(condition)) {
    const ptl::Block *block = *known ? expr.thenBlock : expr.elseBlock;
    return block ? buildValueBlock(*block) : Bound();
  }
  Slots slots = assignedSlots({expr.thenBlock, expr.elseBlock});
  llvm::SmallVector<mlir::Value> before = slotValues(slots);
  bool hasValue = expr.type->kind != TypeKind::Void && expr.type->kind != TypeKind::Error;

  // The types of tuples and structs are known only when an arm is built, so arms are built aside
  // and moved.
  Region regions[2];
  llvm::SmallVector<mlir::Value> results[2];
  auto build = [&](size_t arm, const ptl::Block *source) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.createBlock(&regions[arm]);
    setSlots(slots, before);
    Bound value = source ? buildValueBlock(*source) : Bound();
    results[arm] = slotValues(slots);
    if (hasValue)
      flatten(value = readRefs(value, loc), results[arm]);
    return value;
  };
  Bound result = build(0, expr.thenBlock);
  build(1, expr.elseBlock);
  llvm::SmallVector<mlir::Type> types(ValueRange(before).getTypes());
  for (mlir::Value value : llvm::ArrayRef(results[0]).drop_front(slots.size()))
    types.push_back(value.getType());
  if (expr.type->isArray())
    types.back() = irType(*expr.type);
  bool isChoice = slots.empty() && types.size() == 1 && types.front().isIntOrIndexOrFloat() &&
                  results[0][0].getType() == results[1][0].getType();
  if (isChoice && isLittle(regions[0].front()) && isLittle(regions[1].front())) {
    auto choice = make<arith::SelectOp>(loc, condition, results[0][0], results[1][0]);
    for (Region &region : regions)
      moveBefore(choice, region.front());
    return Bound::of(choice);
  }
  auto branch = make<scf::IfOp>(loc, types, condition, false, false);
  for (size_t arm : {0, 1}) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&regions[arm].front());
    llvm::SmallVector<mlir::Value> values;
    for (auto [value, type] : llvm::zip(results[arm], types))
      values.push_back(castTo(value, type, loc));
    make<scf::YieldOp>(loc, values);
    branch->getRegion(static_cast<unsigned>(arm)).takeBody(regions[arm]);
  }
  setSlots(slots, branch.getResults().take_front(slots.size()));
  size_t next = slots.size();
  if (hasValue)
    refill(result, branch.getResults(), next);
  return hasValue ? result : Bound();
}

Bound Builder::buildField(const FieldExpr &expr) {
  Bound base = buildExpr(*expr.base);
  if (base.kind == Bound::Kind::Parts)
    return expr.fieldIndex < base.parts.size() ? base.parts[expr.fieldIndex] : Bound();
  Location loc = here(expr);
  if (expr.field == "start")
    return Bound::of(base.start);
  if (expr.field == "len")
    return Bound::of(base.length);
  if (expr.field == "size")
    return Bound::of(base.size);
  if (expr.field == "count")
    return Bound::of(base.count);
  mlir::Value span = builder_.createOrFold<arith::MulIOp>(loc, base.length, base.step);
  return Bound::of(builder_.createOrFold<arith::AddIOp>(loc, base.start, span));
}

Bound Builder::buildLogical(const LogicalExpr &expr) {
  Location loc = here(expr);
  mlir::Value lhs = buildValue(*expr.lhs);
  if (std::optional<bool> known = constantCondition(lhs))
    return *known == expr.isAnd ? Bound::of(buildValue(*expr.rhs)) : Bound::of(lhs);
  auto branch = make<scf::IfOp>(loc, builder_.getI1Type(), lhs, true);
  auto arm = [&](mlir::Block *block, bool evaluate) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(block);
    mlir::Value value = evaluate ? buildValue(*expr.rhs)
                                 : mlir::Value(make<arith::ConstantIntOp>(loc, !expr.isAnd, 1));
    make<scf::YieldOp>(loc, value);
  };
  arm(branch.thenBlock(), expr.isAnd);
  arm(branch.elseBlock(), !expr.isAnd);
  mlir::Block &evaluated = expr.isAnd ? *branch.thenBlock() : *branch.elseBlock();
  // By hand a condition is what it says, as long as computing all of it has no effect.
  bool computesBoth = manual_ ? llvm::all_of(evaluated.without_terminator(),
                                             [](Operation &op) { return isPure(&op); })
                              : isLittle(evaluated);
  if (!computesBoth)
    return Bound::of(branch.getResult(0));
  mlir::Value rhs = evaluated.getTerminator()->getOperand(0);
  moveBefore(branch, evaluated);
  branch.erase();
  return Bound::of(expr.isAnd ? mlir::Value(make<arith::AndIOp>(loc, lhs, rhs))
                              : mlir::Value(make<arith::OrIOp>(loc, lhs, rhs)));
}

Bound Builder::buildRange(const RangeExpr &expr) {
  Location loc = here(expr);
  Bound range;
  range.kind = Bound::Kind::Range;
  range.start = buildValue(*expr.lo);
  range.step = expr.step ? buildValue(*expr.step) : index(1);
  mlir::Value span = builder_.createOrFold<arith::SubIOp>(loc, buildValue(*expr.hi), range.start);
  mlir::Value count = builder_.createOrFold<arith::CeilDivSIOp>(loc, span, range.step);
  range.length = builder_.createOrFold<arith::MaxSIOp>(loc, count, index(0));
  return range;
}

Bound Builder::fail(DiagId id, Span span, std::vector<std::string> args) {
  sink_.report(id, span, std::move(args));
  return {};
}

bool Builder::isTooLarge(Span span, const std::string &what) {
  if (built_ <= mostBuilt_)
    return false;
  if (!tooLarge_)
    sink_.report(DiagId::WrittenOutTooLarge, span, {what, std::to_string(mostBuilt_)})
        .note("a `static for` is written out round by round, and a `fn` wherever it is called");
  return tooLarge_ = true;
}

/// What stands nowhere in the source belongs to what it is built for.
Location Builder::location(Span span) {
  if (span.file >= sources_.size())
    return place_;
  const SourceFile &file = sources_.file(span.file);
  LineColumn at = file.lineColumn(span.begin);
  auto place = FileLineColLoc::get(&context_, file.path(), at.line, at.column);
  if (!binding_.ranges)
    return place;
  Location ranged = rangeLocation(place, span);
  return frame_ && frame_->call ? CallSiteLoc::get(ranged, *frame_->call) : ranged;
}

} // namespace ptl::ir
