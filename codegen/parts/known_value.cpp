#include "codegen/parts/known_value.h"

#include "codegen/parts/builtin_call.h"
#include "codegen/parts/disk_times.h"
#include "codegen/parts/move_steps.h"
#include "codegen/reference/interpreter.h"

namespace ptl::parts {

using reference::Value;

namespace {

class KnownValues {
public:
  KnownValues(const TimeQuestion &question, const LoopNumbers &loops)
      : question_(question), placed_(question.placed), loops_(loops) {}

  std::optional<Value> of(ValueId id) {
    auto known = known_.find(id);
    return known == known_.end() ? known_.emplace(id, made(id)).first->second : known->second;
  }

  /// A variable of a loop, in the present round.
  void set(ValueId id, std::optional<Value> value) { known_[id] = std::move(value); }

private:
  std::optional<Value> made(ValueId id) {
    const PlacedValue &value = placed_.values[id];
    // Data is never known before the run, and a size is a scalar.
    if (!value.shape.empty())
      return std::nullopt;
    switch (value.kind) {
    case PlacedKind::Argument:
      return argument(*value.param);
    case PlacedKind::Constant:
      return reference::valueOfConst(cast<ConstExpr>(*value.expr), value.elem);
    case PlacedKind::Dimension:
      return Value::integer(numberOf(question_, loops_, value.dim));
    case PlacedKind::Apply:
      return applied(value);
    case PlacedKind::Convert:
      return converted(value);
    case PlacedKind::Number:
      return of(*value.operands[0]);
    case PlacedKind::Chosen:
      return chosen(id);
    case PlacedKind::Missing:
      return Value::boolean(isMissing(id));
    default:
      return std::nullopt;
    }
  }

  /// A page that nothing has room for is not found. Own memory has room for all.
  bool isMissing(ValueId id) const {
    const PlacedChoice &choice = *placed_.pageAt(id);
    bool hasPlace = !choice.page->fetched || placed_.pools[choice.page->pool].disk > 0 ||
                    homeOfPage(question_, choice, loops_);
    return !hasPlace || numberOf(question_, loops_, placed_.values[id].positions[0].second) >=
                            question_.foundPages;
  }

  /// A parameter that counts as a size.
  std::optional<Value> argument(const Local &param) const {
    std::optional<int64_t> size = param.symbol ? question_.size(*param.symbol) : std::nullopt;
    return size ? std::optional(Value::integer(*size)) : std::nullopt;
  }

  static std::optional<Value> evaluated(reference::BuiltinCall call) {
    reference::RunStatus status = reference::RunStatus::Ok;
    std::string why;
    return reference::evalBuiltin(call, status, why);
  }

  std::optional<Value> applied(const PlacedValue &value) {
    std::vector<Value> operands;
    for (std::optional<ValueId> operand : value.operands) {
      std::optional<Value> known = operand ? of(*operand) : Value();
      if (!known)
        return std::nullopt;
      operands.push_back(std::move(*known));
    }
    return evaluated(
        builtinCallOf(cast<OpExpr>(*value.expr), value.elem, std::move(operands), {}, {}));
  }

  std::optional<Value> converted(const PlacedValue &value) {
    std::optional<Value> from = of(*value.operands[0]);
    if (!from || from->elem() == value.elem)
      return from;
    return evaluated(conversionOf(cast<ConvertExpr>(*value.expr), value.elem, std::move(*from)));
  }

  std::optional<Value> chosen(ValueId id) {
    auto choice = std::ranges::find_if(placed_.choices, [&](const PlacedChoice &each) {
      return id >= each.chosen && id < each.end;
    });
    std::optional<Value> holds = of(choice->holds);
    if (!holds)
      return std::nullopt;
    return of(*placed_.values[id].operands[isTrue(*holds) ? 0 : 1]);
  }

  const TimeQuestion &question_;
  const PlacedProgram &placed_;
  const LoopNumbers &loops_;
  std::map<ValueId, std::optional<Value>> known_;
};

} // namespace

std::optional<bool> knownTruth(const TimeQuestion &question, const LoopNumbers &loops, ValueId id) {
  std::optional<Value> value = KnownValues(question, loops).of(id);
  return value ? std::optional(isTrue(*value)) : std::nullopt;
}

std::optional<int64_t> knownNumber(const TimeQuestion &question, const LoopNumbers &loops,
                                   ValueId id) {
  std::optional<Value> value = KnownValues(question, loops).of(id);
  bool isNumber = value && value->isScalar() && isInteger(value->elem());
  return isNumber ? std::optional(value->asScalar().scalar.i) : std::nullopt;
}

std::optional<int64_t> knownRounds(const TimeQuestion &question, const LoopNumbers &loops,
                                   const PlacedLoop &loop, int64_t most) {
  KnownValues before(question, loops);
  std::vector<std::optional<Value>> state;
  for (ValueId id = loop.first; id < loop.body(); ++id)
    state.push_back(before.of(*question.placed.values[id].operands[0]));
  for (int64_t round = 0; round < most; ++round) {
    KnownValues values(question, loops);
    for (size_t i = 0; i < state.size(); ++i)
      values.set(loop.first + static_cast<ValueId>(i), std::move(state[i]));
    std::optional<Value> holds = values.of(loop.holds);
    if (!holds)
      return std::nullopt;
    if (!isTrue(*holds))
      return round;
    for (size_t i = 0; i < state.size(); ++i)
      state[i] = values.of(loop.carried[i].next);
  }
  return std::nullopt;
}

} // namespace ptl::parts
