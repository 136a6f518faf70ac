#include "codegen/parts/part_source.h"

#include "codegen/reference/interpreter.h"
#include "ir/ops/op_table.h"

#include <algorithm>
#include <cstdio>

namespace ptl::parts {

namespace {

class SourceWriter {
public:
  SourceWriter(const PlacedProgram &placed, const ExtentsOf &extents, const NumberOf &number)
      : placed_(placed), extents_(extents), number_(number) {}

  std::string run(const Stretch &stretch, const std::string &program) {
    std::string params, results, body;
    for (ValueId id : stretch.inputs)
      params += (params.empty() ? "" : ", ") + name(id) + ": " + type(id);
    for (ValueId id : stretch.values)
      if (placed_.values[id].kind == PlacedKind::Store)
        body += stored(id);
      else if (placed_.values[id].kind == PlacedKind::Call)
        body += placed_.values[id].result == 0 ? called(id) : std::string();
      else
        body += "    let " + names(id) + " = " + expression(id) + "\n";
    for (ValueId id : stretch.outputs) {
      results += (results.empty() ? "r" : ", r") + std::to_string(id) + ": " + type(id);
      body += "    r" + std::to_string(id) + " = " + name(id) + "\n";
    }
    return "pub program " + program + "(" + params + ") -> (" + results + ") {\n" + body + "}\n";
  }

private:
  /// The name of a value among those of all results of its built-in.
  std::string names(ValueId id) const {
    const PlacedValue &value = placed_.values[id];
    const auto *expr = value.kind == PlacedKind::Apply ? dyn_cast<OpExpr>(value.expr) : nullptr;
    size_t count = expr ? expr->op->signatures[0].results.size() : 1;
    std::string text;
    for (size_t i = 0; i < count && count > 1; ++i)
      text += (text.empty() ? "(" : ", ") +
              (i == value.result ? name(id) : "_" + name(id) + "r" + std::to_string(i));
    return text.empty() ? name(id) : text + ")";
  }

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
    if (value.kind == PlacedKind::Dimension || value.kind == PlacedKind::Number)
      return std::to_string(number_(value.dim));
    return value.kind == PlacedKind::Constant ? constant(value) : name(id);
  }

  /// A constant with its type: a bare literal would take the type of its partner, which may be a
  /// literal, too.
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
    // A float literal needs a point; exponents and infinities do without.
    bool isPlain = std::string_view(text).find_first_of(".en") == std::string_view::npos;
    return elem + "(" + text + (isPlain ? ".0)" : ")");
  }

  std::string expression(ValueId id) const {
    const PlacedValue &value = placed_.values[id];
    if (value.kind == PlacedKind::Convert)
      return converted(value, cast<ConvertExpr>(*value.expr));
    if (value.kind == PlacedKind::Reshape)
      return "reshape(" + operand(value, 0) + ", " + list(extents_(id)) + ")";
    if (value.kind == PlacedKind::Index) {
      std::string region = operand(value, 0) + "[" + items(value) + "]";
      if (value.hasOutside)
        region = "load(" + region + ", outside: " + operand(value, value.operands.size() - 1) + ")";
      return "reshape(" + region + ", " + list(extents_(id)) + ")";
    }
    return applied(id, value, cast<OpExpr>(*value.expr));
  }

  /// An index along one axis.
  std::string item(const PlacedValue &value, size_t axis) const {
    auto position = std::ranges::find(value.positions, axis, &std::pair<size_t, Dim>::first);
    // The position of a stage counts from the beginning of the axis, of which the part has a block; any of the block takes as long.
    if (position != value.positions.end())
      return std::to_string(
          std::min(number_(position->second), extents_(*value.operands[0])[axis] - 1));
    auto selected = std::ranges::find(value.selected, axis, &PlacedSelection::axis);
    if (selected == value.selected.end())
      return ":";
    if (selected->operand > 0)
      return operand(value, selected->operand);
    return range(number_(selected->start), number_(selected->length), number_(selected->step));
  }

  static std::string range(int64_t start, int64_t length, int64_t step) {
    return std::to_string(start) + ".." + std::to_string(start + (length - 1) * step + 1) +
           (step == 1 ? "" : " step " + std::to_string(step));
  }

  /// A copy with other elements in a region.
  std::string stored(ValueId id) const {
    const PlacedValue &value = placed_.values[id];
    return "    var " + name(id) + " = " + operand(value, 0) + "\n    " + name(id) + "[" +
           items(value) + "] = " + operand(value, 1) + "\n";
  }

  std::string items(const PlacedValue &value) const {
    std::string text;
    for (size_t axis = 0; axis < placed_.values[*value.operands[0]].shape.size(); ++axis)
      text += (text.empty() ? "" : ", ") + item(value, axis);
    return text;
  }

  std::string converted(const PlacedValue &value, const ConvertExpr &expr) const {
    std::string text = std::string(elemName(value.elem)) + "(" + operand(value, 0);
    bool fromFloat = isFloat(placed_.values[*value.operands[0]].elem);
    if (fromFloat && (!isFloat(value.elem) || expr.round != RoundMode::Even))
      text += ", round: ." + std::string(roundModeNames[static_cast<size_t>(expr.round)]);
    return text + (expr.saturate ? ", saturate: true)" : ")");
  }

  /// All results of a call. Those of `inout`s are variables that begin with what is passed.
  std::string called(ValueId id) const {
    const PlacedValue &value = placed_.values[id];
    const auto &expr = cast<CallExpr>(*value.expr);
    size_t count = expr.callee->outputs.size();
    std::string text, args, results;
    for (size_t i = 0; i < count; ++i)
      results += (i ? ", " : "") + name(id + static_cast<ValueId>(i));
    ValueId next = id + static_cast<ValueId>(count);
    for (size_t i = 0; i < expr.args.size(); ++i) {
      if (!value.operands[i])
        continue;
      std::string given = operand(value, i);
      if (expr.args[i].isInout) {
        text += "    var " + name(next) + " = " + given + "\n";
        given = "inout " + name(next++);
      }
      args += (args.empty() ? "" : ", ") + expr.args[i].param->name + ": " + given;
    }
    return text + "    " +
           (count == 0   ? ""
            : count == 1 ? "let " + results + " = "
                         : "let (" + results + ") = ") +
           calleeName(expr) + "(" + args + open(value, expr) + ")\n";
  }

  /// What the program's own file calls it.
  std::string calleeName(const CallExpr &expr) const {
    const CheckedModule *own = placed_.decl->module;
    const CallableDecl &callee = *expr.callee;
    if (callee.module == own)
      return callee.name;
    // A worker in another file may call what the program's does not import.
    if (expr.span.file != placed_.decl->nameSpan.file)
      return callee.module->name + "." + callee.name;
    std::string_view written = own->tree->text(expr.syntax);
    return std::string(written.substr(0, written.find('(')));
  }

  /// Dimensions that no argument determines, and tunables.
  std::string open(const PlacedValue &value, const CallExpr &expr) const {
    const CallableDecl &callee = *expr.callee;
    std::string text;
    for (size_t i = 0; i < callee.dims.size() && i < value.lengths.size(); ++i) {
      bool isGiven = std::ranges::any_of(callee.params, [&](const Local *param) {
        return std::ranges::any_of(param->type->extents, [&](const Extent &extent) {
          return extent.length.mentions(callee.dims[i].symbol);
        });
      });
      if (!isGiven)
        text += ", " + callee.dims[i].name + ": " + std::to_string(number_(value.lengths[i]));
    }
    for (const auto &[tunable, set] : expr.tunables)
      text += ", " + tunable->name + ": " +
              (set->kind != ExprKind::Const ? std::to_string(number_(set->dim))
               : set->type->elem.kind == ElemKind::Bool
                   ? (cast<ConstExpr>(*set).intValue ? "true" : "false")
                   : std::to_string(cast<ConstExpr>(*set).intValue));
    return text;
  }

  std::string applied(ValueId id, const PlacedValue &value, const OpExpr &expr) const {
    std::string op(expr.op->name);
    if (expr.op->id == OpId::Index) {
      auto numberAt = [&](size_t i) { return number_(placed_.values[*value.operands[i]].dim); };
      int64_t step = value.operands.size() > 1 ? numberAt(1) : 1;
      return op + "(" + range(numberAt(0), extents_(id)[0], step) + ")";
    }
    size_t count = value.operands.size();
    if (expr.op->isOperator && count == 2)
      return operand(value, 0) + " " + op + " " + operand(value, 1);
    if (expr.op->isOperator && count == 1)
      return op.starts_with('.') ? operand(value, 0) + op : op + " " + operand(value, 0);
    if (expr.op->id == OpId::Transpose && expr.axes.empty())
      return operand(value, 0) + ".T";
    std::string text;
    size_t next = 0;
    for (size_t i = 0; i < expr.op->params.size(); ++i) {
      const OpParam &param = expr.op->params[i];
      size_t many = param.kind != ParamKind::Value ? 1 : param.variadic ? count - next : 1;
      for (; many > 0; --many) {
        std::string argument = param.kind != ParamKind::Value ? parameter(id, value, expr, i)
                               : next < count && value.operands[next] ? operand(value, next)
                                                                      : std::string();
        next += param.kind == ParamKind::Value;
        if (!argument.empty())
          text += (text.empty() ? "" : ", ") +
                  (param.keywordOnly ? std::string(param.name) + ": " : "") + argument;
      }
    }
    return op + "(" + text + ")";
  }

  /// The argument of a parameter that is no operand; empty to leave it out.
  std::string parameter(ValueId id, const PlacedValue &value, const OpExpr &expr, size_t i) const {
    const Expr *arg = i < expr.args.size() ? expr.args[i] : nullptr;
    switch (expr.op->params[i].kind) {
    case ParamKind::ArrayType:
      return type(id);
    case ParamKind::ElemType:
      return std::string(elemName(value.elem));
    case ParamKind::Text:
      return "\"" + expr.equation + "\"";
    case ParamKind::Enum:
      return arg ? "." + cast<EnumTagExpr>(*arg).tag : std::string();
    case ParamKind::BoolConst:
      return !arg ? std::string() : cast<ConstExpr>(*arg).intValue ? "true" : "false";
    case ParamKind::Dim:
      return std::to_string(number_(value.lengths[0]));
    case ParamKind::Dims:
      return lengths(id, value, expr.op->params[i].name);
    case ParamKind::Axis:
    case ParamKind::Axes:
      return axes(value, expr);
    default:
      return {};
    }
  }

  /// The shape of the result, or of `pad` the margins in front or behind.
  std::string lengths(ValueId id, const PlacedValue &value, std::string_view name) const {
    if (cast<OpExpr>(*value.expr).op->id != OpId::Pad)
      return list(extents_(id));
    size_t rank = value.shape.size(), named = value.lengths.size() / 2;
    std::vector<int64_t> margins(rank - named, 0);
    for (size_t i = 0; i < named; ++i)
      margins.push_back(number_(value.lengths[name == "before" ? i : named + i]));
    return list(margins);
  }

  static std::string axes(const PlacedValue &value, const OpExpr &expr) {
    if (expr.reducesAll || expr.axes.empty())
      return {};
    if (expr.op->id != OpId::Transpose)
      return expr.axes.size() == 1 ? std::to_string(expr.axes[0]) : list(expr.axes);
    std::vector<int64_t> axes;
    for (int64_t axis : expr.axes)
      axes.push_back(axis < 0 ? axis + static_cast<int64_t>(value.shape.size()) : axis);
    return list(axes);
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
      // A block without elements takes no time, and a program about it might not be accepted.
      if (extent == 0)
        return {};
  std::string file, name = "part";
  if (std::ranges::any_of(stretch.values,
                          [&](ValueId id) { return placed.values[id].kind == PlacedKind::Call; }))
    file = std::string(placed.decl->module->tree->fileText()) + "\n";
  while (file.find(name) != std::string::npos)
    name += "_";
  return file + SourceWriter(placed, extents, number).run(stretch, name);
}

} // namespace ptl::parts
