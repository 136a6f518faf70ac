// The operations that the records of `ir/ops` make: what they say becomes one use of a built-in.
#include "codegen/reference/array_ops.h"
#include "codegen/reference/ops_elementwise.h"
#include "codegen/reference/ops_shape.h"
#include "ir/execute/arithmetic.h"
#include "ir/execute/interpreter.h"
#include "passes/analysis/op_info.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::execute {

using reference::BuiltinCall;
using reference::RunStatus;

/// Adds the values of the record's parameters that are attributes.
static void addAttributes(Operation *op, BuiltinCall &call) {
  if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    call.axes.assign(axes.asArrayRef().begin(), axes.asArrayRef().end());
  else if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
    call.axes.push_back(axis.getInt());
  if (auto round = op->getAttrOfType<StringAttr>("round"))
    call.round = roundModeByName(round.getValue()).value_or(RoundMode::Even);
  for (const char *name : {"spec", "combine"})
    if (auto text = op->getAttrOfType<StringAttr>(name))
      call.text = text.str();
  auto flag = [&](const char *name) {
    auto value = op->getAttrOfType<BoolAttr>(name);
    return value && value.getValue();
  };
  call.saturate = flag("saturate");
  call.descending = flag("descending");
}

/// The lengths that operands say, and with them which operands are values.
void Interpreter::addLengths(Operation *op, BuiltinCall &call) const {
  auto shaped = [&](auto lengths) { call.shape = shapeOf(op->getResult(0).getType(), lengths); };
  auto operands = [&](ValueRange values) {
    for (mlir::Value value : values)
      call.operands.push_back(value ? values_.lookup(value) : reference::Value());
  };
  auto last = [&](ValueRange lengths) {
    const ir::Extent &extent = ir::extentsOf(op->getResult(0).getType()).back();
    call.shape = {extent.isConstant() ? extent.length : number(lengths.back())};
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case<ir::ZerosOp, ir::OnesOp>([&](auto made) { shaped(made.getLengths()); })
      .Case([&](ir::FullOp full) {
        shaped(full.getLengths());
        operands(full.getValue());
      })
      .Case([&](ir::IndexOp index) {
        shaped(index.getLengths());
        call.range.start = number(index.getStart());
        call.range.length = call.shape[0];
      })
      .Case([&](ir::OneHotOp rows) {
        last(rows.getLengths());
        operands(rows.getIds());
      })
      .Case([&](ir::TopkOp top) {
        last(top.getLengths());
        operands(top.getX());
      })
      .Case<ir::ReshapeOp, ir::BroadcastOp>([&](auto made) {
        shaped(made.getLengths());
        operands(made.getX());
      })
      .Case([&](ir::RandomOp random) {
        shaped(random.getLengths());
        operands({random.getSeed(), random.getLow(), random.getHigh()});
      })
      .Case([&](ir::PadOp pad) {
        operands({pad.getX(), pad.getValue()});
        size_t rank = call.operands[0].shape().size();
        call.before = numbers(pad.getBefore());
        call.after = numbers(pad.getAfter());
        call.before.resize(rank, 0);
        call.after.resize(rank, 0);
      })
      .Default([&](Operation *) { operands(op->getOperands()); });
}

BuiltinCall Interpreter::callOf(Operation *op, OpId id) const {
  BuiltinCall call;
  call.op = id;
  if (op->getNumResults() > 0)
    call.elem = kindOf(ir::elementTypeOf(op->getResult(0).getType()));
  addAttributes(op, call);
  call.all = call.axes.empty();
  addLengths(op, call);
  return call;
}

/// A product with scales as the built-in that users write: the IR has the right factor transposed, and scales as codes.
static void asScaledDot(ir::MatmulOp product, BuiltinCall &call) {
  if (product.getScales().empty())
    return;
  std::vector<reference::Value> &all = call.operands; // both factors, then the scales of both
  auto scales = [&](size_t at) { return reference::bitcastValue(all[at], ElemKind::F8E8M0); };
  reference::Value right = reference::transposeValue(all[1], std::vector<int64_t>{1, 0});
  call.op = OpId::ScaledDot;
  all = {all[0], scales(2), std::move(right), scales(3)};
}

bool Interpreter::runBuiltin(Operation *op) {
  const OpRecord *record = ir::recordOf(op);
  if (!record)
    return false;
  if (isa<ir::PrintOp>(op))
    return true;
  RunStatus status{};
  std::string why;
  BuiltinCall call = callOf(op, record->id);
  if (auto product = dyn_cast<ir::MatmulOp>(op))
    asScaledDot(product, call);
  std::optional<reference::Value> result = reference::evalBuiltin(call, status, why);
  if (!result)
    stop(status, op, "`" + std::string(record->name) + "`: " + why);
  else if (op->getNumResults() == 1)
    set(op->getResult(0), std::move(*result));
  else
    for (auto [value, part] : llvm::zip(op->getResults(), result->asParts()))
      set(value, part);
  return true;
}

} // namespace ptl::execute
