// How one element is computed from its operands.
#include "codegen/cpu/elements.h"
#include "codegen/cpu/bound_element.h"
#include "codegen/cpu/lower_elementwise.h"
#include "codegen/cpu/lower_gather.h"
#include "codegen/cpu/lower_random.h"
#include "codegen/cpu/lower_shape.h"
#include "codegen/cpu/lower_value.h"
#include "codegen/cpu/positions.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::cpu {

Value scalarOf(Lowering &l, Value value) {
  auto found = l.scalars.find(value);
  if (found != l.scalars.end()) {
    // Constants are made anew where they are used: other functions cannot see them.
    if (auto *op = found->second.getDefiningOp(); op && op->hasTrait<OpTrait::ConstantLike>())
      return l.e.b.clone(*op)->getResult(0);
    return found->second;
  }
  l.fail(value.getDefiningOp(), "this value is not available to the CPU target");
  // Emission goes on with any value, so that all failures of a function are found at once.
  return l.e.zero(registerType(value.getType()));
}

static Lowering::ElementKey keyOf(Value value, const Coords &at, Value mask) {
  Lowering::ElementKey key{value.getAsOpaquePointer(), {}};
  for (const Coord &coord : at) {
    auto *base = coord.base.getAsOpaquePointer();
    // Equal constants are different values; an odd number in place of a pointer stands for the
    // constant itself.
    if (auto number = constantOf(coord.base))
      base = reinterpret_cast<void *>(static_cast<intptr_t>(*number * 2 + 1));
    key.second.append({base, coord.vector.getAsOpaquePointer(),
                       reinterpret_cast<void *>(static_cast<intptr_t>(coord.step))});
  }
  // A masked load gives other lanes than one without a mask.
  key.second.push_back(mask.getAsOpaquePointer());
  return key;
}

static bool allUniform(const Coords &at) {
  return llvm::all_of(at, [](const Coord &c) { return c.isUniform(); });
}

static Value elementOfOp(Lowering &l, Operation *op, unsigned result, const Coords &at) {
  llvm::SaveAndRestore place(l.e.loc, op->getLoc());
  if (isElementwise(op)) {
    Values operands;
    for (Value operand : op->getOperands())
      operands.push_back(elementAt(l, operand, broadcastCoords(l, operand, at)));
    // While hoisting only what is uniform is emitted; this operation itself varies.
    return l.hoisting ? Value() : emitElementwise(l.e, op, operands);
  }
  // Views, such as transposes, only change the position at which their source is read.
  if (auto source = sourceOf(l, op, result, at))
    return elementAt(l, source->first, source->second);
  if (l.hoisting)
    return {};
  bool handled = true;
  Value value = shapeElement(l, op, result, at, handled);
  if (handled)
    return value;
  if ((value = gatherElement(l, op, at)) || (value = randomElement(l, op, at)))
    return value;
  l.fail(op, "this operation has no lowering to the CPU here");
  return l.e.zero(
      registerType(cast<ir::ArrayType>(op->getResult(result).getType()).getElementType()));
}

Value elementAt(Lowering &l, Value value, const Coords &at) {
  if (isScalar(value))
    return l.hoisting ? Value() : scalarOf(l, value);
  // An element at a uniform position is the same for all lanes, so it can be emitted in front of
  // the loop.
  bool uniform = allUniform(at);
  if (l.hoisting && !uniform) {
    Operation *op = value.getDefiningOp();
    // What several operations read is looked at once.
    if (op && !l.views.count(value) && l.hoisted.insert(keyOf(value, at, Value())).second)
      elementOfOp(l, op, cast<OpResult>(value).getResultNumber(), at);
    return {};
  }
  // Emitting each element once per scope is what shares subexpressions, and what makes hoisting
  // effective.
  Lowering::ElementKey key = keyOf(value, at, uniform ? Value() : l.mask);
  if (auto found = l.elements.find(key); found != l.elements.end())
    return found->second;
  bool wasHoisting = std::exchange(l.hoisting, false);
  Value result;
  if (auto view = viewOf(l, value))
    result = loadAt(l, *view, at);
  else
    result = elementOfOp(l, value.getDefiningOp(), cast<OpResult>(value).getResultNumber(), at);
  l.hoisting = wasHoisting;
  l.elements[key] = result;
  // Behind the scope the value does not dominate its uses.
  l.remember([&l, key] { l.elements.erase(key); });
  return result;
}

void bindElement(Lowering &l, Value array, Value element) {
  Lowering::ElementKey key = keyOf(array, {Coord{l.index(0)}}, Value());
  l.elements[key] = element;
  l.remember([&l, key] { l.elements.erase(key); });
}

void hoist(Lowering &l, Value value, const Coords &at) {
  l.hoisting = true;
  elementAt(l, value, at);
  l.hoisting = false;
  l.hoisted.clear();
}

Coords broadcastCoords(Lowering &l, Value operand, const Coords &at) {
  auto type = arrayType(operand);
  if (!type)
    return {};
  // Broadcasting aligns axes at the end.
  Coords result(at.end() - type.getRank(), at.end());
  for (auto [coord, extent] : llvm::zip(result, type.getExtents()))
    if (extent.isOne())
      coord = Coord{l.index(0)};
  return result;
}

} // namespace ptl::cpu
