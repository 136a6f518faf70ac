#include "codegen/parts/compiled_stretches.h"

#include "codegen/reference/value.h"
#include "frontend/sema/placement/distribution.h"
#include "ir/ops/op_table.h"

#include <algorithm>
#include <cmath>

namespace ptl::parts {

/// Whether an index takes positions of an axis that is cut: they count from the beginning of the axis, of which the part has a block.
static bool takesFromCutAxis(const PlacedProgram &placed, const PlacedValue &value) {
  if (value.kind != PlacedKind::Index && value.kind != PlacedKind::Store)
    return false;
  const PlacedValue &from = placed.values[*value.operands[0]];
  return std::ranges::any_of(value.positions, [&](const std::pair<size_t, Dim> &position) {
    int64_t axis = static_cast<int64_t>(position.first) - static_cast<int64_t>(from.shape.size());
    return std::ranges::any_of(from.placement,
                               [&](const LevelPlacement &at) { return at.cuts(axis); });
  });
}

/// Whether a value divides integers by numbers that may be 0: the reference executor stops there, and other code does something.
static bool mayDivideByZero(const PlacedProgram &placed, const PlacedValue &value) {
  if (value.kind != PlacedKind::Apply || isFloat(value.elem))
    return false;
  OpId op = cast<OpExpr>(*value.expr).op->id;
  if (op != OpId::Div && op != OpId::Rem && op != OpId::Cdiv)
    return false;
  const PlacedValue &divisor = placed.values[*value.operands[1]];
  return divisor.kind != PlacedKind::Constant || cast<ConstExpr>(*divisor.expr).intValue == 0;
}

/// Whether the text of a value says all that the reference executor does.
static bool hasText(const PlacedProgram &placed, const PlacedValue &value, bool withCalls) {
  if (value.kind == PlacedKind::Call)
    return withCalls;
  if (takesFromCutAxis(placed, value) || storingStage(placed, value) ||
      mayDivideByZero(placed, value))
    return false;
  // Numbers of sizes are literals in the text, which have the type of what they meet.
  if (value.elem == ElemKind::Int && value.shape.empty())
    return false;
  // That positions are unique is a fact about arguments, which a text does not know.
  if (value.kind == PlacedKind::Store)
    return std::ranges::all_of(value.selected, [&](const PlacedSelection &each) {
      return each.operand == 0 || placed.values[*value.operands[each.operand]].shape.empty();
    });
  if (value.kind == PlacedKind::Convert) {
    // An implicit conversion of a number stops if the number does not fit.
    const auto &expr = cast<ConvertExpr>(*value.expr);
    return !(expr.checkRange && value.shape.empty());
  }
  if (value.kind != PlacedKind::Apply || cast<OpExpr>(*value.expr).op->id != OpId::Index)
    return true;
  return std::ranges::all_of(value.operands, [&](std::optional<ValueId> operand) {
    PlacedKind kind = placed.values[*operand].kind;
    return kind == PlacedKind::Dimension || kind == PlacedKind::Number;
  });
}

static bool hasSeveralResults(const PlacedValue &value) {
  return value.kind == PlacedKind::Apply &&
         cast<OpExpr>(*value.expr).op->signatures[0].results.size() > 1;
}

CompiledStretches compiledStretchesOf(const PlacedProgram &placed, std::vector<ValueId> alone,
                                      bool withCalls) {
  size_t count = placed.values.size();
  std::vector<bool> isUsed = usedValues(placed);
  StretchRules rules{true, std::vector<bool>(count), std::move(alone)};
  CompiledStretches compiled;
  compiled.home.resize(count);
  compiled.onDemand.resize(count);
  for (ValueId id = 0; id < count; ++id) {
    compiled.onDemand[id] = !isUsed[id] && hasSeveralResults(placed.values[id]);
    rules.left[id] = !isUsed[id] || !hasText(placed, placed.values[id], withCalls);
  }
  compiled.stretches = stretchesOf(placed, rules);
  for (size_t number = 0; number < compiled.stretches.size(); ++number)
    for (ValueId id : compiled.stretches[number].own)
      compiled.home[id] = number;
  for (const Stretch &stretch : compiled.stretches)
    for (ValueId id : stretch.values)
      if (!compiled.home[id])
        compiled.onDemand[id] = true;
  return compiled;
}

double referenceTime(const PlacedProgram &placed, const Stretch &stretch,
                     const ExtentsOf &extents) {
  // Measured on a present processor, one thread.
  constexpr double perProduct = 0.35, perElement = 15, perElementOfCall = 200;
  double nanoseconds = 0;
  for (ValueId id : stretch.values) {
    const PlacedValue &value = placed.values[id];
    auto elements = [&](ValueId of) {
      return static_cast<double>(reference::elementCount(extents(of)));
    };
    double all = elements(id), product = elements(id);
    for (std::optional<ValueId> operand : value.operands)
      if (operand) {
        all += elements(*operand);
        product *= elements(*operand);
      }
    nanoseconds += all * (value.kind == PlacedKind::Call ? perElementOfCall : perElement);
    // Each axis of a product is one of two of its three arrays.
    if (value.kind == PlacedKind::Apply &&
        cast<OpExpr>(*value.expr).op->opClass == OpClass::Product)
      nanoseconds += std::sqrt(product) * perProduct;
  }
  return nanoseconds;
}

static bool staysInside(const PlacedValue &value, const std::vector<int64_t> &from,
                        const NumberOf &number) {
  auto lies = [&](size_t axis, int64_t position) { return position >= 0 && position < from[axis]; };
  for (const auto &[axis, position] : value.positions)
    if (!lies(axis, number(position)))
      return false;
  for (const PlacedSelection &selection : value.selected) {
    if (selection.operand > 0 || value.hasOutside)
      continue;
    int64_t start = number(selection.start), length = number(selection.length);
    if (!lies(selection.axis, start) ||
        !lies(selection.axis, start + (length - 1) * number(selection.step)))
      return false;
  }
  return true;
}

bool staysInside(const PlacedProgram &placed, const Stretch &stretch, const ExtentsOf &extents,
                 const NumberOf &number) {
  return std::ranges::all_of(stretch.values, [&](ValueId id) {
    const PlacedValue &value = placed.values[id];
    bool selects = value.kind == PlacedKind::Index || value.kind == PlacedKind::Store;
    return !selects || staysInside(value, extents(*value.operands[0]), number);
  });
}

void forEachDim(const PlacedProgram &placed, const Stretch &stretch,
                const std::function<void(Dim)> &visit) {
  auto visitShape = [&](const PlacedValue &value) {
    std::ranges::for_each(value.shape, visit);
    for (const LevelPlacement &at : value.placement)
      for (Dim dim : {at.stage, at.stages, at.unit})
        visit(dim);
  };
  for (ValueId id : stretch.inputs)
    visitShape(placed.values[id]);
  for (ValueId id : stretch.values) {
    const PlacedValue &value = placed.values[id];
    visitShape(value);
    std::ranges::for_each(value.lengths, visit);
    for (const auto &[axis, position] : value.positions)
      visit(position);
    for (const PlacedSelection &selection : value.selected)
      for (Dim dim : {selection.start, selection.length, selection.step, selection.stop})
        visit(dim);
    for (std::optional<ValueId> operand : value.operands)
      if (operand)
        visit(placed.values[*operand].dim);
    if (const auto *call = value.kind == PlacedKind::Call ? cast<CallExpr>(value.expr) : nullptr)
      for (const auto &[tunable, set] : call->tunables)
        if (set->kind != ExprKind::Const)
          visit(set->dim);
  }
}

} // namespace ptl::parts
