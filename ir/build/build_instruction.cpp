// Instructions with their operands and attributes; events with their ids.
#include "ir/build/build_instruction.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_view.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/cross_core.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

static Attribute attributeOf(OpBuilder &builder, const InstructionAttribute &info,
                             const std::string &value) {
  if (info.kind == AttributeKind::Bool)
    return builder.getBoolAttr(value == "true");
  if (info.kind == AttributeKind::Int)
    return builder.getI32IntegerAttr(std::atoi(value.c_str()));
  std::string text(info.ir);
  text.replace(text.find('$'), 1, value);
  return parseAttribute(text, builder.getContext());
}

void buildInstruction(BuildContext &c, const BlockExpr &call) {
  auto valuesOf = [&](const std::vector<Expr *> &operands, bool areOuts) {
    llvm::SmallVector<mlir::Value> values;
    for (const Expr *operand : operands)
      if (operand)
        values.push_back(operand->type->isArray() ? viewOf(c, *operand, areOuts)
                                                  : buildValue(c, *operand));
    return values;
  };
  llvm::SmallVector<mlir::Value> ins = valuesOf(call.ins, false), outs = valuesOf(call.outs, true);
  for (mlir::Value value : llvm::concat<mlir::Value>(ins, outs))
    if (!value)
      return;
  llvm::SmallVector<NamedAttribute> attributes;
  for (const auto &[info, value] : call.attributes)
    attributes.push_back(c.b.getNamedAttr(info->ptoas, attributeOf(c.b, *info, value)));
  pto::emitInstruction(c.b, c.here(call), call.info->id, ins, outs, attributes);
}

// ---- Events -------------------------------------------------------------------------------------

/// The id of a rotating event: `first + i mod count`; a number where it is one.
static mlir::Value eventId(BuildContext &c, const BlockExpr &call, int64_t first, int64_t count) {
  Location loc = c.here(call);
  mlir::Value slot = call.ins.empty() ? c.index(0) : positionOf(c, *call.ins[0]);
  IntegerAttr number;
  if (matchPattern(slot, m_Constant(&number)))
    return c.index(first + ((number.getInt() % count) + count) % count);
  if (count == 1)
    return c.index(first);
  auto rem = slot.getDefiningOp<arith::RemUIOp>();
  if (!rem || extentOf(rem.getRhs()) != count)
    slot = c.make<arith::RemUIOp>(loc, slot, c.index(count));
  return first == 0 ? slot : mlir::Value(c.make<arith::AddIOp>(loc, slot, c.index(first)));
}

void buildSignal(BuildContext &c, const BlockExpr &call) {
  Location loc = c.here(call);
  const BlockObject &object = *call.object->object;
  int64_t count = object.count ? constantDim(c, object.count).value_or(1) : 1;
  mlir::Value id = eventId(c, call, c.manual->ids[call.object], count);
  auto pipe = [&](Pipe kind) { return pto::PipeKindAttr::get(&c.context, pto::pipeKind(kind)); };
  bool isSignal = call.op == BlockOp::Signal;
  pto::PipeKindAttr from = pipe(object.from.pipe), to = pipe(object.to.pipe);
  Operation *flag = nullptr;
  if (object.crosses()) {
    flag = isSignal ? c.make<pto::SyncSetOp>(loc, from, id, mlir::ValueRange()).getOperation()
                    : c.make<pto::SyncWaitOp>(loc, to, id, mlir::ValueRange()).getOperation();
    attrs::ids.set(flag, {c.manual->ids[call.object], count});
  } else if (int64_t number = extentOf(id); number != pto::kDynamic) {
    auto event = pto::EventIdAttr::get(&c.context, static_cast<pto::EventId>(number));
    flag = isSignal ? c.make<pto::SetFlagOp>(loc, from, to, event).getOperation()
                    : c.make<pto::WaitFlagOp>(loc, from, to, event).getOperation();
  } else {
    flag = isSignal ? c.make<pto::SetFlagDynOp>(loc, from, to, id).getOperation()
                    : c.make<pto::WaitFlagDynOp>(loc, from, to, id).getOperation();
    attrs::ids.set(flag, {c.manual->ids[call.object], count});
  }
  attrs::event.set(flag, call.object->name); // for messages
  if (c.binding.ranges) // who looks at the declaration sees what became of the event
    flag->setLoc(FusedLoc::get(&c.context, {loc, c.location(call.object->span)}));
}

} // namespace ptl::ir
