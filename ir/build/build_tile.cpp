// Tiles, slots and windows.
#include "ir/build/build_tile.h"
#include "frontend/sema/type_string.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_type.h"
#include "ir/build/manual.h"
#include "ir/dialect/windows.h"

using namespace mlir;

namespace ptl::ir {

static std::string layoutFor(const Type &type, const Machine &machine) {
  if (type.place == ptl::Place::Acc)
    return "acc";
  if (type.layout != ptl::Layout::Inferred)
    return std::string(layoutName(type.layout));
  switch (type.place) {
  case ptl::Place::Mat:
    return "nz";
  case ptl::Place::Right:
    return "zn";
  case ptl::Place::Left: {
    const MemorySpace *left = machine.space("left");
    return left ? std::string(left->usualLayout()) : "zz";
  }
  default:
    return "nd";
  }
}

pto::TileBufType tileType(BuildContext &c, const Type &type) {
  int64_t capacity[2], valid[2];
  for (size_t axis = 0; axis < 2; ++axis) {
    const ptl::Extent &extent = type.extents[axis];
    capacity[axis] = constantDim(c, extent.capacity ? extent.capacity : extent.length).value_or(1);
    valid[axis] = constantDim(c, extent.length).value_or(pto::kDynamic);
  }
  mlir::Type element = scalarType(c.context, elemKind(c, type.elem));
  return pto::TileBufType::get(&c.context, static_cast<Place>(type.place), capacity[0], capacity[1],
                               element, valid[0], valid[1],
                               *pto::layoutByName(layoutFor(type, *c.manual->machine)));
}

ValidPart validPart(BuildContext &c, const Type &type) {
  ValidPart part;
  mlir::Value *lengths[2] = {&part.rows, &part.cols};
  for (size_t axis = 0; axis < 2; ++axis)
    if (!constantDim(c, type.extents[axis].length))
      *lengths[axis] = emitDim(c, type.extents[axis].length);
  return part;
}

static const BlockExpr *asSlot(const Expr *expr) {
  auto *block = dyn_cast<BlockExpr>(expr);
  return block && block->op == BlockOp::Slot ? block : nullptr;
}

mlir::Value buildSlot(BuildContext &c, const BlockExpr &slot, pto::TileBufType type,
                      const ValidPart &valid) {
  mlir::Value slots = buildExpr(c, *slot.ins[0]).value, number = buildValue(c, *slot.ins[1]);
  return c.make<pto::MultiTileGetOp>(slots.getLoc(), type, slots, number, valid.rows, valid.cols);
}

static bool hasSameForm(pto::TileBufType a, pto::TileBufType b) {
  return a.getRows() == b.getRows() && a.getCols() == b.getCols() &&
         a.getElementType() == b.getElementType() && a.getLayout() == b.getLayout();
}

mlir::Value buildAlias(BuildContext &c, const BlockExpr &alias) {
  Location loc = c.here(alias);
  bool isReshape = alias.op == BlockOp::Reshape;
  pto::TileBufType type = tileType(c, *alias.type);
  mlir::Value source = buildValue(c, *alias.ins[0]);
  ValidPart valid = isReshape ? validPart(c, *alias.type) : ValidPart();
  if (source && pto::hasGaps(source)) {
    // Only its valid part is another one.
    if (hasSameForm(cast<pto::TileBufType>(source.getType()), type))
      return c.make<pto::SubsetOp>(loc, type, source, c.index(0), c.index(0), valid.rows,
                                   valid.cols);
    c.fail(DiagId::WrongOperand, alias.ins[0]->span,
           {isReshape ? "treshape" : "bitcast", "1",
            "a window between whose rows other elements lie",
            "a whole buffer or whole rows of one"});
  }
  if (isReshape)
    return c.make<pto::TReshapeOp>(loc, type, source, valid.rows, valid.cols);
  return c.make<pto::BitcastOp>(loc, type, source, mlir::Value(), mlir::Value());
}

mlir::Value buildWindow(BuildContext &c, const BlockExpr &window) {
  Location loc = c.here(window);
  pto::TileBufType type = tileType(c, *window.type);
  ValidPart valid = validPart(c, *window.type);
  mlir::Value row = emitDim(c, window.offsets[0]), col = emitDim(c, window.offsets[1]);
  pto::TileBufType baseType = tileType(c, *window.ins[0]->type);
  bool same = isZero(row) && isZero(col) && baseType.getRows() == type.getRows() &&
              baseType.getCols() == type.getCols();
  if (const BlockExpr *slot = asSlot(window.ins[0]); slot && same)
    return buildSlot(c, *slot, type, valid);
  mlir::Value base = buildExpr(c, *window.ins[0]).value;
  if (same && base.getType() == type && !type.hasDynamicValid())
    return base;
  Location place = base.getLoc();
  // An alias lies without gaps, which a window does not.
  if (same && !pto::hasGaps(base))
    return c.make<pto::TReshapeOp>(place, type, base, valid.rows, valid.cols);
  return c.make<pto::SubsetOp>(isa<NameLoc>(place) ? place : loc, type, base, row, col, valid.rows,
                               valid.cols);
}

} // namespace ptl::ir
