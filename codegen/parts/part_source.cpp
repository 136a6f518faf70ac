#include "codegen/parts/part_source.h"

#include "codegen/reference/interpreter.h"
#include "ir/ops/op_table.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

namespace ptl::parts {

// ---- Stretches -----------------------------------------------------------------------------------

static bool isComputed(const PlacedValue &value) {
  return value.kind == PlacedKind::Apply || value.kind == PlacedKind::Convert ||
         value.kind == PlacedKind::Reshape || value.kind == PlacedKind::Index;
}

static bool isNumber(const PlacedValue &value) {
  return value.kind == PlacedKind::Constant || value.kind == PlacedKind::Dimension;
}

/// Per value: the movements that it waits for, and those that wait for it.
static std::vector<std::pair<std::set<ValueId>, std::set<ValueId>>>
movementsAround(const PlacedProgram &placed) {
  const std::vector<PlacedValue> &values = placed.values;
  std::vector<std::pair<std::set<ValueId>, std::set<ValueId>>> around(values.size());
  for (ValueId id = 0; id < values.size(); ++id)
    for (std::optional<ValueId> operand : values[id].operands) {
      if (!operand)
        continue;
      around[id].first.insert(around[*operand].first.begin(), around[*operand].first.end());
      if (values[*operand].kind == PlacedKind::Move)
        around[id].first.insert(*operand);
    }
  for (ValueId id = static_cast<ValueId>(values.size()); id-- > 0;)
    for (std::optional<ValueId> operand : values[id].operands) {
      if (!operand)
        continue;
      around[*operand].second.insert(around[id].second.begin(), around[id].second.end());
      if (values[id].kind == PlacedKind::Move)
        around[*operand].second.insert(id);
    }
  return around;
}

std::vector<Stretch> stretchesOf(const PlacedProgram &placed) {
  auto around = movementsAround(placed);
  std::map<std::pair<std::set<ValueId>, std::set<ValueId>>, size_t> numbers;
  std::vector<Stretch> stretches;
  std::vector<std::optional<size_t>> home(placed.values.size());
  for (ValueId id = 0; id < placed.values.size(); ++id) {
    if (!isComputed(placed.values[id]))
      continue;
    auto [found, isNew] = numbers.emplace(around[id], stretches.size());
    if (isNew)
      stretches.emplace_back();
    stretches[found->second].values.push_back(id);
    home[id] = found->second;
  }
  auto addOnce = [](std::vector<ValueId> &to, ValueId id) {
    if (std::ranges::find(to, id) == to.end())
      to.push_back(id);
  };
  for (ValueId id = 0; id < placed.values.size(); ++id)
    for (std::optional<ValueId> operand : placed.values[id].operands) {
      if (!operand || home[id] == home[*operand])
        continue;
      if (home[id] && !isNumber(placed.values[*operand]))
        addOnce(stretches[*home[id]].inputs, *operand);
      if (home[*operand])
        addOnce(stretches[*home[*operand]].outputs, *operand);
    }
  for (ValueId output : placed.outputs)
    if (home[output])
      addOnce(stretches[*home[output]].outputs, output);
  return stretches;
}

// ---- Text ----------------------------------------------------------------------------------------

namespace {

class SourceWriter {
public:
  SourceWriter(const PlacedProgram &placed, const ExtentsOf &extents, const NumberOf &number)
      : placed_(placed), extents_(extents), number_(number) {}

  std::string run(const Stretch &stretch) {
    std::string params, results, body;
    for (ValueId id : stretch.inputs)
      params += (params.empty() ? "" : ", ") + name(id) + ": " + type(id);
    for (ValueId id : stretch.values)
      body += "    let " + name(id) + " = " + expression(id) + "\n";
    for (ValueId id : stretch.outputs) {
      results += (results.empty() ? "r" : ", r") + std::to_string(id) + ": " + type(id);
      body += "    r" + std::to_string(id) + " = " + name(id) + "\n";
    }
    return "pub program part(" + params + ") -> (" + results + ") {\n" + body + "}\n";
  }

private:
  static std::string name(ValueId id) { return "v" + std::to_string(id); }

  static std::string list(const std::vector<int64_t> &numbers) {
    std::string text;
    for (int64_t number : numbers)
      text += (text.empty() ? "" : ", ") + std::to_string(number);
    return "[" + text + "]";
  }

  std::string type(ValueId id) const {
    std::string elem(elemName(placed_.values[id].elem));
    return placed_.values[id].shape.empty() ? elem : elem + list(extents_(id));
  }

  std::string operand(const PlacedValue &of, size_t index) const {
    ValueId id = *of.operands[index];
    const PlacedValue &value = placed_.values[id];
    if (value.kind == PlacedKind::Dimension)
      return std::to_string(number_(value.dim));
    return value.kind == PlacedKind::Constant ? constant(value) : name(id);
  }

  /// With its type: a literal alone takes that of what it meets, and may meet another literal.
  static std::string constant(const PlacedValue &value) {
    std::string elem(elemName(value.elem));
    const auto &expr = cast<ConstExpr>(*value.expr);
    if (value.elem == ElemKind::Bool)
      return expr.intValue ? "true" : "false";
    if (!isFloat(value.elem))
      return value.elem == ElemKind::Int ? "(" + std::to_string(expr.intValue) + ")"
                                         : elem + "(" + std::to_string(expr.intValue) + ")";
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", expr.floatValue);
    // A literal of a float has a point; infinities have names.
    bool isPlain = std::string_view(text).find_first_of(".en") == std::string_view::npos;
    return elem + "(" + text + (isPlain ? ".0)" : ")");
  }

  std::string expression(ValueId id) const {
    const PlacedValue &value = placed_.values[id];
    if (value.kind == PlacedKind::Convert)
      return std::string(elemName(value.elem)) + "(" + operand(value, 0) + ")";
    if (value.kind == PlacedKind::Reshape)
      return "reshape(" + operand(value, 0) + ", " + list(extents_(id)) + ")";
    if (value.kind == PlacedKind::Index) {
      std::string items;
      for (size_t axis = 0; axis < placed_.values[*value.operands[0]].shape.size(); ++axis) {
        auto found = std::ranges::find(value.positions, axis, &std::pair<size_t, Dim>::first);
        items += (items.empty() ? "" : ", ") + (found == value.positions.end()
                                                    ? std::string(":")
                                                    : std::to_string(number_(found->second)));
      }
      return "reshape(" + operand(value, 0) + "[" + items + "], " + list(extents_(id)) + ")";
    }
    return applied(id, value, cast<OpExpr>(*value.expr));
  }

  std::string applied(ValueId id, const PlacedValue &value, const OpExpr &expr) const {
    std::string op(expr.op->name);
    size_t count = value.operands.size();
    if (expr.op->isOperator && count == 2)
      return operand(value, 0) + " " + op + " " + operand(value, 1);
    if (expr.op->isOperator && count == 1)
      return op.starts_with('.') ? operand(value, 0) + op : op + " " + operand(value, 0);
    if (expr.op->id == OpId::Transpose && expr.axes.empty())
      return operand(value, 0) + ".T";
    std::string text = op + "(";
    auto add = [&](const std::string &argument) {
      text += (text.ends_with('(') ? "" : ", ") + argument;
    };
    if (expr.op->id == OpId::Zeros || expr.op->id == OpId::Ones)
      return text + type(id) + ")";
    for (size_t i = 0; i < count; ++i)
      if (value.operands[i])
        add(operand(value, i));
    return text + rest(id, value, expr, !text.ends_with('(')) + ")";
  }

  /// The arguments that are no values.
  std::string rest(ValueId id, const PlacedValue &value, const OpExpr &expr, bool isBehind) const {
    std::string comma = isBehind ? ", " : "";
    if (expr.op->id == OpId::Transpose) {
      std::vector<int64_t> axes;
      for (int64_t axis : expr.axes)
        axes.push_back(axis < 0 ? axis + static_cast<int64_t>(value.shape.size()) : axis);
      return comma + list(axes);
    }
    if (expr.op->id == OpId::Reshape || expr.op->id == OpId::Broadcast)
      return comma + list(extents_(id));
    if (!expr.equation.empty())
      return comma + "\"" + expr.equation + "\"";
    bool hasAxis = std::ranges::any_of(expr.op->params, [](const OpParam &param) {
      return param.kind == ParamKind::Axis || param.kind == ParamKind::Axes;
    });
    if (!hasAxis || expr.reducesAll || expr.axes.empty())
      return "";
    return comma +
           "axis: " + (expr.axes.size() == 1 ? std::to_string(expr.axes[0]) : list(expr.axes));
  }

  const PlacedProgram &placed_;
  const ExtentsOf &extents_;
  const NumberOf &number_;
};

} // namespace

std::string sourceOf(const PlacedProgram &placed, const Stretch &stretch, const ExtentsOf &extents,
                     const NumberOf &number) {
  if (stretch.outputs.empty())
    return {};
  for (ValueId id : stretch.values)
    for (int64_t extent : extents(id))
      if (extent == 0)
        return {};
  return SourceWriter(placed, extents, number).run(stretch);
}

} // namespace ptl::parts
