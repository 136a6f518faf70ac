// Bindings and assignments.
#include "ir/build/build_assign.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_packed.h"
#include "ir/build/build_schedule.h"
#include "ir/build/build_type.h"
#include "ir/build/build_view.h"
#include "ir/build/carried.h"
#include "ir/dialect/make_op.h"

using namespace mlir;

namespace ptl::ir {

/// Arrays, and integers, which examples may be given for.
static bool isNamed(mlir::Type type) {
  return isa<ArrayType>(type) || (type.isInteger() && !type.isInteger(1));
}

/// Later stages call a value by the name in its location: that of the first local that held it.
static void nameValue(mlir::Value value, llvm::StringRef name) {
  Operation *op = value.getDefiningOp();
  // The first name of a value stays.
  if (op && op->getNumResults() == 1 && isNamed(value.getType()) && !isa<NameLoc>(op->getLoc()))
    op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), name), op->getLoc()));
}

void bindLocal(BuildContext &c, Local &local, Bound value) {
  if (value.kind == Bound::Kind::Value && !local.name.empty())
    nameValue(value.value, local.name);
  // A dimension that the type speaks of gets its value here.
  if (local.symbol && value.kind == Bound::Kind::Value)
    bindSymbol(c, *local.symbol, value.value);
  c.bound(local) = std::move(value);
}

/// A range by another name: its lengths are that one's.
static bool buildRangeName(BuildContext &c, const LetStmt &stmt) {
  if (!stmt.value || stmt.value->kind != ExprKind::LocalRef || stmt.locals.size() != 1)
    return false;
  const Local &given = *cast<LocalRefExpr>(*stmt.value).local, &name = *stmt.locals[0];
  const RangeInfo *from = given.type->range, *to = name.type->range;
  if (!from || !to)
    return false;
  for (auto [source, target] :
       {std::pair(from->start, to->start), std::pair(from->length, to->length),
        std::pair(from->count, to->count)})
    // The symbols of the new range are those of the old one.
    if (auto symbol = target ? target.symbol() : std::nullopt; symbol && source && from != to)
      c.frame->roots[*symbol] = rootDim(c, source);
  c.bound(name) = Bound(c.bound(given));
  return true;
}

/// Replaces values in place: regions of control flow hold pointers to them.
static void assignBound(Bound &target, const Bound &value) {
  // A value of another kind is replaced as a whole.
  if (target.kind != value.kind || target.parts.size() != value.parts.size()) {
    target = value;
    return;
  }
  target.value = value.value;
  target.start = value.start;
  target.length = value.length;
  target.step = value.step;
  target.size = value.size;
  target.count = value.count;
  for (size_t i = 0; i < target.parts.size(); ++i)
    assignBound(target.parts[i], value.parts[i]);
}

Bound &slotOf(BuildContext &c, const Expr &place) {
  if (place.kind == ExprKind::Index)
    return slotOf(c, *cast<IndexExpr>(place).base);
  // The parts of a struct are values of their own.
  if (place.kind == ExprKind::Field) {
    const auto &field = cast<FieldExpr>(place);
    return slotOf(c, *field.base).parts[field.fieldIndex];
  }
  // The checker has refused everything that is no part of a variable.
  return c.bound(*cast<LocalRefExpr>(place).local);
}

Bound zeroOf(BuildContext &c, const Type &type, Location loc) {
  if (type.kind == TypeKind::Tuple || type.kind == TypeKind::Struct) {
    Bound bound;
    bound.kind = Bound::Kind::Parts;
    for (const Type *element : type.elements)
      bound.parts.push_back(zeroOf(c, *element, loc));
    return bound;
  }
  if (!type.isArray())
    return Bound::of(buildConstant(c, elemKind(c, type.elem), 0, 0, loc));
  return Bound::of(makeOp<ZerosOp>(c.b, loc, irType(c, type), namedLengths(c, type)));
}

/// A declaration may pin the place: `let a: f16[i, k] @mat = …`.
static mlir::Value atPlace(BuildContext &c, mlir::Value value, const Type &type, Location loc) {
  auto array = dyn_cast<ArrayType>(value.getType());
  if (!array || type.place == ptl::Place::Inferred)
    return value;
  auto place = static_cast<Place>(type.place);
  auto placed = ArrayType::get(&c.context, array.getElementType(), array.getExtents(), place);
  return castTo(c, value, placed, loc);
}

void buildLet(BuildContext &c, const LetStmt &stmt) {
  if (buildManualLet(c, stmt) || buildRangeName(c, stmt))
    return;
  Location loc = c.location(stmt.span);
  // A variable without a value begins with zeros.
  if (!stmt.value) {
    for (Local *local : stmt.locals)
      bindLocal(c, *local, zeroOf(c, *local->type, loc));
    return;
  }
  // A name for storage is what the storage holds now.
  Bound value = readRefs(c, buildExpr(c, *stmt.value), loc);
  if (stmt.locals.size() == 1) {
    if (value.kind == Bound::Kind::Value)
      value.value = atPlace(c, value.value, *stmt.locals[0]->type, loc);
    // The schedule may replace the value, so it comes before the binding.
    if (value.kind == Bound::Kind::Value)
      value.value = applySchedule(c, *stmt.locals[0], value.value);
    else
      cannotSchedule(c, *stmt.locals[0], "`" + stmt.locals[0]->name + "` is no array");
    bindLocal(c, *stmt.locals[0], std::move(value));
    return;
  }
  for (size_t i = 0; i < stmt.locals.size() && i < value.parts.size(); ++i) {
    cannotSchedule(c, *stmt.locals[i],
                   "`" + stmt.locals[i]->name + "` is one of several results of an operation");
    bindLocal(c, *stmt.locals[i], value.parts[i]);
  }
}

static llvm::StringRef atomicName(AssignMode mode) {
  switch (mode) {
  case AssignMode::AtomicAdd:
    return "add";
  case AssignMode::AtomicMax:
    return "max";
  case AssignMode::AtomicMin:
    return "min";
  case AssignMode::Set:
    break;
  }
  return "";
}

void storeBox(BuildContext &c, mlir::Value value, mlir::Value ref, const Box &box, AssignMode mode,
              Location loc) {
  IntegerAttr scatterAxis = box.scatter ? c.b.getI64IntegerAttr(box.scatterAxis) : IntegerAttr();
  StringAttr atomic = mode == AssignMode::Set ? StringAttr() : c.b.getStringAttr(atomicName(mode));
  c.make<StoreOp>(loc, value, ref, box.offsets, box.lengths, box.steps, box.scatter,
                  c.b.getDenseI64ArrayAttr(box.dropped), scatterAxis, atomic);
}

void storeInto(BuildContext &c, mlir::Value value, const Bound &target, const Box &box,
               AssignMode mode, Location loc) {
  if (target.unpacked)
    storePacked(c, value, target, box, loc);
  else
    storeBox(c, value, target.value, box, mode, loc);
}

void buildAssign(BuildContext &c, const AssignStmt &stmt) {
  Location loc = c.location(stmt.span);
  // Manual kernels store single elements themselves.
  if (c.manual && stmt.place)
    return storeElement(c, *stmt.place, *stmt.value);
  Bound &target = c.bound(*stmt.target);
  mlir::Value place = target.value;
  bool isRef = target.kind == Bound::Kind::Value && isa<RefType>(place.getType());
  if (!stmt.place) {
    Bound value = readRefs(c, buildExpr(c, *stmt.value), loc);
    // A product may be assigned to a variable that a schedule names.
    if (value.kind == Bound::Kind::Value && value.value.getDefiningOp())
      pinProduct(c, *stmt.target, value.value);
    if (isRef)
      storeInto(c, value.value, target, wholeBox(c, place), stmt.mode, loc);
    else
      assignBound(target, value);
    return;
  }
  // The right side is evaluated first; positions are checked right before the store.
  mlir::Value value = buildValue(c, *stmt.value);
  if (isRef)
    return storeInto(c, value, target, buildBox(c, *stmt.place, target, true), stmt.mode, loc);
  Bound &slot = slotOf(c, *stmt.place);
  Box box = buildBox(c, *stmt.place, slot, true);
  IntegerAttr scatterAxis = box.scatter ? c.b.getI64IntegerAttr(box.scatterAxis) : IntegerAttr();
  // A part of a value is replaced by making a new value.
  slot.value =
      c.make<InsertOp>(loc, slot.value.getType(), value, slot.value, box.offsets, box.lengths,
                       box.steps, box.scatter, c.b.getDenseI64ArrayAttr(box.dropped), scatterAxis);
}

} // namespace ptl::ir
