// Storage, boxes, descriptions of arrays, scalars.
#include "codegen/reference/array_ops.h"
#include "ir/dialect/scalar_values.h"
#include "ir/execute/arithmetic.h"
#include "ir/execute/interpreter.h"

#include <algorithm>

using namespace mlir;

namespace ptl::execute {

using reference::RefArray;
using reference::RunStatus;

/// The contents of storage before it is written. They are conspicuous, so that a read of them shows
/// in the results.
static RefArray poisoned(ElemKind elem, std::vector<int64_t> shape) {
  RefArray array = reference::zeroArray(elem, std::move(shape));
  std::fill(array.floats.begin(), array.floats.end(), std::numeric_limits<double>::quiet_NaN());
  std::fill(array.ints.begin(), array.ints.end(), wrapInteger(0x5a5a5a5a5a5a5a5a, elem));
  return array;
}

template <typename OpT> Box Interpreter::boxOf(OpT op) const {
  Box box{numbers(op.getOffsets()),
          numbers(op.getLengths()),
          numbers(op.getSteps()),
          {op.getDropped().data(), op.getDropped().size()}};
  if (box.steps.empty())
    box.steps.assign(box.offsets.size(), 1);
  return box;
}

static std::string textOf(const Box &box, const RefArray &base) {
  std::string text = "the positions";
  for (size_t axis = 0; axis < box.offsets.size(); ++axis)
    text += " " + std::to_string(box.offsets[axis]) + " + " + std::to_string(box.lengths[axis]);
  return text + " are not inside of " + reference::typeText(base.elem, base.shape);
}

template <typename OpT> void Interpreter::read(OpT op) {
  const RefArray &base = baseOf(op->getOperand(0));
  Box box = boxOf(op);
  std::optional<Scalar> outside;
  if (mlir::Value value = op.getOutside())
    outside = values_[value].asScalar().scalar;
  if (std::optional<reference::Value> content = readBox(base, box, outside))
    return set(op.getResult(), std::move(*content));
  stop(RunStatus::Fault, op, textOf(box, base));
}

template <typename OpT> bool Interpreter::write(OpT op, RefArray &base, Meeting meeting) {
  BoxWrite write{boxOf(op), values_[op.getValue()], nullptr, 0, meeting};
  if (mlir::Value index = op.getIndex())
    write.index = &values_[index].asArray();
  write.indexAxis = static_cast<size_t>(op.getIndexAxis().value_or(0));
  if (writeBox(base, write))
    return true;
  stop(RunStatus::Fault, op, textOf(write.box, base));
  return false;
}

void Interpreter::runStore(ir::StoreOp store) {
  Meeting meeting = Meeting::Replace;
  if (std::optional<llvm::StringRef> how = store.getAtomic())
    meeting = *how == "add" ? Meeting::Add : *how == "max" ? Meeting::Max : Meeting::Min;
  write(store, *storage_[store.getRef()], meeting);
}

void Interpreter::runInsert(ir::InsertOp insert) {
  reference::Value content = values_[insert.getDest()];
  if (write(insert, content.mutableArray(), Meeting::Replace))
    set(insert.getResult(), std::move(content));
}

/// The same elements in another shape.
static reference::Value reshaped(const reference::Value &value, std::vector<int64_t> shape) {
  RefArray scalar, array = reference::asArray(value, scalar);
  array.shape = std::move(shape);
  return reference::Value::array(std::move(array));
}

/// The parts of an array that a list names.
static std::optional<reference::Value> taken(const RefArray &base, const RefArray &index,
                                             size_t axis) {
  std::vector<int64_t> shape = base.shape;
  shape[axis] = index.count();
  RefArray result = reference::zeroArray(base.elem, shape);
  std::vector<int64_t> from = reference::denseStrides(base.shape),
                       to = reference::denseStrides(shape), one = shape;
  one[axis] = 1;
  for (int64_t i = 0; i < index.count(); ++i) {
    int64_t position = index.at(i).i;
    if (position < 0 || position >= base.shape[axis])
      return std::nullopt;
    if (reference::elementCount(one) > 0)
      reference::copyStrided(result, i * to[axis], to, base, position * from[axis], from, one);
  }
  return reference::Value::array(std::move(result));
}

bool Interpreter::runStructure(Operation *op) {
  if (auto dim = dyn_cast<ir::DimOp>(op)) {
    set(dim.getResult(), reference::Value::integer(baseOf(dim.getSource()).shape[dim.getAxis()]));
  } else if (auto alloc = dyn_cast<ir::AllocOp>(op)) {
    storage_[alloc.getResult()] = std::make_shared<RefArray>(poisoned(
        kindOf(alloc.getType().getElementType()), shapeOf(alloc.getType(), alloc.getLengths())));
  } else if (auto view = dyn_cast<ir::ViewOp>(op)) {
    // Storage under another name is storage of its own until the end, when it is given back: nothing
    // else may look at it before.
    RefArray other = *storage_[view.getRef()];
    other.shape = shapeOf(view.getType(), view.getLengths());
    if (reference::elementCount(other.shape) != storage_[view.getRef()]->count())
      return stop(RunStatus::Fault, op, "a view has another number of elements"), true;
    views_.emplace_back(storage_[view.getRef()],
                        storage_[view.getResult()] = std::make_shared<RefArray>(std::move(other)));
  } else if (auto load = dyn_cast<ir::LoadOp>(op)) {
    read(load);
  } else if (auto slice = dyn_cast<ir::SliceOp>(op)) {
    read(slice);
  } else if (auto store = dyn_cast<ir::StoreOp>(op)) {
    runStore(store);
  } else if (auto insert = dyn_cast<ir::InsertOp>(op)) {
    runInsert(insert);
  } else if (auto cast = dyn_cast<ir::CastOp>(op)) {
    set(cast.getResult(), values_[cast.getSource()]);
  } else if (auto expand = dyn_cast<ir::NewAxisOp>(op)) {
    const reference::Value &source = values_[expand.getSource()];
    std::vector<int64_t> shape(source.shape().begin(), source.shape().end());
    for (int64_t axis : expand.getAxes())
      shape.insert(shape.begin() + axis, 1);
    set(expand.getResult(), reshaped(source, std::move(shape)));
  } else if (auto take = dyn_cast<ir::TakeOp>(op)) {
    const reference::Value &index = values_[take.getIndex()];
    auto axis = static_cast<size_t>(take.getAxis());
    // Positions of several axes are a row of positions, whose parts have these axes again.
    std::vector<int64_t> row = {reference::elementCount(index.shape())};
    auto parts = taken(values_[take.getSource()].asArray(), reshaped(index, row).asArray(), axis);
    if (!parts)
      return stop(RunStatus::Fault, op, "an index array names a position that is not inside"), true;
    std::vector<int64_t> shape(parts->shape().begin(), parts->shape().end());
    shape.erase(shape.begin() + static_cast<ptrdiff_t>(axis));
    shape.insert(shape.begin() + static_cast<ptrdiff_t>(axis), index.shape().begin(),
                 index.shape().end());
    set(take.getResult(), reshaped(*parts, std::move(shape)));
  } else {
    return false;
  }
  return true;
}

/// Constants and arithmetic of scalars.
void Interpreter::runScalar(Operation *op) {
  ElemKind kind = kindOf(op->getResult(0).getType());
  if (auto value = op->getAttrOfType<TypedAttr>("value"); value && op->getNumOperands() == 0)
    if (std::optional<Scalar> constant = ir::scalarOf(value))
      return set(op->getResult(0), reference::Value::scalar(kind, *constant));
  std::vector<Scalar> operands;
  for (mlir::Value operand : op->getOperands()) {
    if (!values_[operand].isScalar())
      return stop(RunStatus::Unsupported, op,
                  "`" + op->getName().getStringRef().str() + "` is not of the tile level");
    operands.push_back(values_[operand].asScalar().scalar);
  }
  std::string why;
  std::optional<Scalar> result = evaluateArithmetic(op, operands, why);
  if (!result)
    return stop(RunStatus::Arithmetic, op, why);
  set(op->getResult(0), reference::Value::scalar(kind, *result));
}

} // namespace ptl::execute
