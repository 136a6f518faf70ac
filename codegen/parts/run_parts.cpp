#include "codegen/parts/run_parts.h"

#include "codegen/reference/builtin.h"
#include "codegen/reference/entry_sizes.h"
#include "codegen/reference/scalar_ops.h"
#include "runtime/movement/execute.h"

#include <algorithm>
#include <bit>

namespace ptl::parts {

using movement::Box;
using reference::RefArray;
using reference::RunResult;
using reference::RunStatus;
using reference::Value;

namespace {

/// Ends the run: the reason is in the result.
struct Stopped {};

std::vector<int64_t> shapeOfBox(const Box &box) {
  std::vector<int64_t> shape;
  for (const movement::Interval &interval : box)
    shape.push_back(interval.length());
  return shape;
}

/// The elements of an array or a scalar.
std::vector<Scalar> elementsOf(const Value &value) {
  if (value.isScalar())
    return {value.asScalar().scalar};
  std::vector<Scalar> elements;
  const RefArray &array = value.asArray();
  for (int64_t i = 0; i < array.count(); ++i)
    elements.push_back(array.at(i));
  return elements;
}

Value valueOfElements(ElemKind elem, std::vector<int64_t> shape,
                      const std::vector<Scalar> &elements) {
  if (shape.empty())
    return Value::scalar(elem, elements[0]);
  RefArray array = reference::zeroArray(elem, std::move(shape));
  for (size_t i = 0; i < elements.size(); ++i)
    array.set(static_cast<int64_t>(i), elements[i]);
  return Value::array(std::move(array));
}

/// A part of an array, `box` in coordinates of the array.
Value boxOf(const Value &whole, const Box &box) {
  const RefArray &array = whole.asArray();
  std::vector<Scalar> elements;
  movement::forEachRow(movement::wholeBox(array.shape), box, [&](int64_t offset, int64_t length) {
    for (int64_t i = 0; i < length; ++i)
      elements.push_back(array.at(offset + i));
  });
  return valueOfElements(array.elem, shapeOfBox(box), elements);
}

bool sameBits(Scalar a, Scalar b) {
  return std::bit_cast<uint64_t>(a.f) == std::bit_cast<uint64_t>(b.f) && a.i == b.i;
}

class PartsRun {
public:
  PartsRun(const PlacedProgram &placed, const PartsOptions &options,
           const std::map<SymbolId, int64_t> &sizes, RunResult &result)
      : placed_(placed), options_(options), sizes_(sizes), result_(result),
        values_(placed.values.size()) {}

  void run(const std::vector<Value> &args) {
    try {
      for (ValueId id = 0; id < placed_.values.size(); ++id)
        make(id, args);
      for (ValueId output : placed_.outputs)
        result_.outputs.push_back(assembled(output));
    } catch (Stopped) {
      result_.outputs.clear();
    }
  }

private:
  [[noreturn]] void stop(RunStatus status, std::string why, const PlacedValue &value) {
    result_.status = status;
    result_.message = std::move(why);
    result_.span = value.expr ? value.expr->span : kNoSpan;
    throw Stopped();
  }
  std::string partName(uint32_t part) const { return placed_.level + " " + std::to_string(part); }

  int64_t number(Dim dim, const PlacedValue &value) {
    auto found = evaluate(dim, [&](SymbolId symbol) -> std::optional<int64_t> {
      auto size = sizes_.find(symbol);
      return size == sizes_.end() ? std::nullopt : std::optional(size->second);
    });
    if (!found)
      stop(RunStatus::Fault, "a dimension has no value on the parts", value);
    return *found;
  }
  std::vector<int64_t> wholeShape(const PlacedValue &value) {
    std::vector<int64_t> shape;
    for (Dim dim : value.shape)
      shape.push_back(number(dim, value));
    return shape;
  }
  /// What a part has of a value, in coordinates of the whole.
  Box boxAt(const PlacedValue &value, uint32_t part) {
    std::vector<int64_t> shape = wholeShape(value);
    return value.placement.isCut()
               ? movement::partBox(shape, axisFromFront(value), options_.parts, part)
               : movement::wholeBox(shape);
  }
  static size_t axisFromFront(const PlacedValue &value) {
    return value.shape.size() - static_cast<size_t>(-value.placement.axis);
  }
  const Value &at(ValueId id, uint32_t part) const { return values_[id][part]; }

  void make(ValueId id, const std::vector<Value> &args) {
    const PlacedValue &value = placed_.values[id];
    values_[id].resize(options_.parts);
    if (value.kind == PlacedKind::Move)
      return move(id);
    for (uint32_t part = 0; part < options_.parts; ++part) {
      Value made = onPart(value, part, args);
      if (std::vector<int64_t> shape = shapeOfBox(boxAt(value, part));
          !std::equal(shape.begin(), shape.end(), made.shape().begin(), made.shape().end()))
        stop(RunStatus::Fault,
             partName(part) + " has " + reference::shapeText(made.shape()) + ", not " +
                 reference::shapeText(shape),
             value);
      values_[id][part] = std::move(made);
    }
  }

  Value onPart(const PlacedValue &value, uint32_t part, const std::vector<Value> &args);
  Value applied(const PlacedValue &value, uint32_t part);
  Value converted(const PlacedValue &value, uint32_t part);
  Value evaluated(reference::BuiltinCall call, const PlacedValue &value, uint32_t part);
  void move(ValueId id);
  Value assembled(ValueId id);

  const PlacedProgram &placed_;
  const PartsOptions &options_;
  const std::map<SymbolId, int64_t> &sizes_;
  RunResult &result_;
  std::vector<std::vector<Value>> values_; ///< per value, per part
  uint64_t moves_ = 0;
};

Value PartsRun::onPart(const PlacedValue &value, uint32_t part, const std::vector<Value> &args) {
  switch (value.kind) {
  case PlacedKind::Argument: {
    const std::vector<Local *> &params = placed_.decl->params;
    size_t index =
        static_cast<size_t>(std::find(params.begin(), params.end(), value.param) - params.begin());
    const Value &whole = args[index];
    return value.placement.isCut() ? boxOf(whole, boxAt(value, part)) : whole;
  }
  case PlacedKind::Constant:
    return reference::valueOfConst(cast<ConstExpr>(*value.expr), value.elem);
  case PlacedKind::Dimension:
    return Value::integer(number(value.dim, value));
  case PlacedKind::Apply:
    return applied(value, part);
  case PlacedKind::Convert:
    return converted(value, part);
  case PlacedKind::Reshape: {
    const Value &from = at(*value.operands[0], part);
    return valueOfElements(from.elem(), shapeOfBox(boxAt(value, part)), elementsOf(from));
  }
  case PlacedKind::Slice:
    return boxOf(at(*value.operands[0], part), boxAt(value, part));
  case PlacedKind::Move:
    break;
  }
  stop(RunStatus::Fault, "a value that parts do not make", value);
}

Value PartsRun::evaluated(reference::BuiltinCall call, const PlacedValue &value, uint32_t part) {
  RunStatus status = RunStatus::Ok;
  std::string why;
  std::optional<Value> made = reference::evalBuiltin(call, status, why);
  if (!made)
    stop(status, why + " (" + partName(part) + ")", value);
  return std::move(*made);
}

Value PartsRun::applied(const PlacedValue &value, uint32_t part) {
  const auto &expr = cast<OpExpr>(*value.expr);
  reference::BuiltinCall call;
  call.op = expr.op->id;
  call.elem = value.elem;
  call.all = expr.reducesAll;
  call.text = expr.equation;
  for (std::optional<ValueId> operand : value.operands)
    call.operands.push_back(operand ? at(*operand, part) : Value());
  size_t rank =
      call.operands.empty() || call.operands[0].isNone() ? 0 : call.operands[0].shape().size();
  for (int64_t axis : expr.axes)
    call.axes.push_back(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
  if (expr.op->opClass == OpClass::Creation || expr.op->opClass == OpClass::Shape)
    call.shape = shapeOfBox(boxAt(value, part));
  for (size_t i = 0; i < expr.op->params.size() && i < expr.args.size(); ++i) {
    const Expr *arg = expr.args[i];
    if (!arg)
      continue;
    if (const auto *tag = dyn_cast<EnumTagExpr>(arg)) {
      call.text = tag->tag;
      call.round = roundModeByName(tag->tag).value_or(RoundMode::Even);
    } else if (expr.op->params[i].kind == ParamKind::BoolConst) {
      bool isSet = cast<ConstExpr>(*arg).intValue != 0;
      (expr.op->params[i].name == "saturate" ? call.saturate : call.descending) = isSet;
    }
  }
  return evaluated(std::move(call), value, part);
}

Value PartsRun::converted(const PlacedValue &value, uint32_t part) {
  const auto &expr = cast<ConvertExpr>(*value.expr);
  const Value &from = at(*value.operands[0], part);
  if (from.elem() == value.elem)
    return from;
  if (expr.checkRange && from.isScalar() && from.elem() == ElemKind::Int) {
    int64_t number = from.asScalar().scalar.i;
    Scalar there = roundScalar(Scalar::integer(number), value.elem);
    if (there.i != number)
      stop(RunStatus::Arithmetic,
           "the value " + std::to_string(number) + " does not fit in `" +
               std::string(elemName(value.elem)) + "`",
           value);
  }
  reference::BuiltinCall call;
  call.op = OpId::Convert;
  call.elem = value.elem;
  call.operands = {from};
  call.round = expr.round;
  call.saturate = expr.saturate;
  return evaluated(std::move(call), value, part);
}

// ---- Movements ---------------------------------------------------------------------------------

movement::Kind kindOf(MovementId id) {
  switch (id) {
  case MovementId::AllReduce:
    return movement::Kind::AllReduce;
  case MovementId::ReduceScatter:
    return movement::Kind::ReduceScatter;
  case MovementId::AllGather:
    return movement::Kind::AllGather;
  case MovementId::AllToAll:
    return movement::Kind::AllToAll;
  }
  __builtin_unreachable();
}

OpId foldOp(Fold fold) {
  return fold == Fold::Sum   ? OpId::ReduceSum
         : fold == Fold::Max ? OpId::ReduceMax
                             : OpId::ReduceMin;
}

void PartsRun::move(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  const PlacedValue &before = placed_.values[*value.operands[0]];
  movement::Request request;
  request.kind = kindOf(value.movement->id);
  request.shape = wholeShape(value);
  request.ranks = options_.parts;
  if (before.placement.isCut())
    request.fromAxis = axisFromFront(before);
  if (value.placement.isCut())
    request.toAxis = axisFromFront(value);
  movement::StepList list =
      movement::chooseSteps(request, elemInfo(value.elem).storageBytes, movement::Cost());
  std::vector<std::vector<Scalar>> sources;
  for (uint32_t part = 0; part < options_.parts; ++part)
    sources.push_back(elementsOf(at(*value.operands[0], part)));
  OpId fold = foldOp(before.placement.fold);
  movement::Execution<Scalar> execution(list, sources, [&](Scalar left, Scalar right) {
    return roundScalar(reference::foldStep(fold, value.elem, left, right), value.elem);
  });
  if (std::string why = execution.run(options_.seed + 0x9e3779b97f4a7c15 * ++moves_); !why.empty())
    stop(RunStatus::Fault, "the steps of `" + std::string(value.movement->name) + "`: " + why,
         value);
  for (uint32_t part = 0; part < options_.parts; ++part)
    values_[id][part] =
        valueOfElements(value.elem, shapeOfBox(boxAt(value, part)), execution.result(part));
}

// ---- Results -----------------------------------------------------------------------------------

Value PartsRun::assembled(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  if (value.placement.isWhole()) {
    std::vector<Scalar> first = elementsOf(at(id, 0));
    for (uint32_t part = 1; part < options_.parts; ++part) {
      std::vector<Scalar> other = elementsOf(at(id, part));
      if (!std::equal(first.begin(), first.end(), other.begin(), other.end(), sameBits))
        stop(RunStatus::Fault, partName(part) + " has another result than " + partName(0), value);
    }
    return at(id, 0);
  }
  std::vector<int64_t> shape = wholeShape(value);
  RefArray whole = reference::zeroArray(value.elem, shape);
  for (uint32_t part = 0; part < options_.parts; ++part) {
    std::vector<Scalar> elements = elementsOf(at(id, part));
    size_t next = 0;
    movement::forEachRow(movement::wholeBox(shape), boxAt(value, part),
                         [&](int64_t offset, int64_t length) {
                           for (int64_t i = 0; i < length; ++i)
                             whole.set(offset + i, elements[next++]);
                         });
  }
  return Value::array(std::move(whole));
}

} // namespace

RunResult runOnParts(const CheckedProgram &program, const SourceManager &sources,
                     const PlacedProgram &placed, std::vector<Value> args,
                     const PartsOptions &options) {
  std::map<SymbolId, int64_t> sizes;
  RunResult result =
      reference::bindSizes(program, sources, *placed.decl, args, options.entry, sizes);
  for (size_t i = 0; i < placed.decl->params.size() && result.ok(); ++i)
    if (i >= args.size() || args[i].isNone()) {
      result.status = RunStatus::Arguments;
      result.message = "`" + placed.decl->params[i]->name + "` has no value";
      result.span = placed.decl->nameSpan;
    }
  if (result.ok())
    PartsRun(placed, options, sizes, result).run(args);
  return result;
}

} // namespace ptl::parts
