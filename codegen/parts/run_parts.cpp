#include "codegen/parts/run_parts.h"

#include "codegen/parts/builtin_call.h"
#include "codegen/parts/elements.h"
#include "codegen/parts/exchange.h"
#include "codegen/parts/fold.h"
#include "codegen/parts/move_rows.h"
#include "codegen/reference/builtin.h"
#include "codegen/reference/entry_sizes.h"
#include "codegen/reference/scalar_ops.h"
#include "runtime/movement/execute.h"

#include <algorithm>

namespace ptl::parts {

using movement::Box;
using reference::RunResult;
using reference::RunStatus;
using reference::Value;

namespace {

/// Ends the run: the reason is in the result.
struct Stopped {};

class PartsRun {
public:
  PartsRun(const PlacedProgram &placed, const PartsOptions &options, const Grid &grid,
           const Sizes &sizes, RunResult &result)
      : placed_(placed), options_(options), grid_(grid), sizes_(sizes), result_(result),
        values_(placed.values.size()) {
    for (uint32_t part = 0; part < grid.count(); ++part)
      if (!options.own || options.own->part == part)
        here_.push_back(part);
  }

  void run(const std::vector<Value> &args) {
    try {
      makeAll(0, static_cast<ValueId>(placed_.values.size()), args);
      for (size_t output = 0; output < placed_.outputs.size(); ++output)
        result_.outputs.push_back(options_.own ? gathered(output)
                                               : assembled(placed_.outputs[output]));
    } catch (Stopped) {
      result_.outputs.clear();
    }
  }

private:
  [[noreturn]] void stop(RunStatus status, std::string why, const PlacedValue &value) {
    stopAt(status, std::move(why), value.expr ? value.expr->span : kNoSpan);
  }
  [[noreturn]] void stopAt(RunStatus status, std::string why, Span span) {
    result_.status = status;
    result_.message = std::move(why);
    result_.span = span;
    throw Stopped();
  }

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
    return grid_.boxOf(value.placement, wholeShape(value), part);
  }
  const Value &at(ValueId id, uint32_t part) const { return values_[id][part]; }

  void checkParts(const PlacedValue &value);
  void makeAll(ValueId begin, ValueId end, const std::vector<Value> &args);
  void make(ValueId id, const std::vector<Value> &args);
  void repeat(const PlacedLoop &loop, const std::vector<Value> &args);
  void repeatWhile(const PlacedLoop &loop, const std::vector<Value> &args);
  void beginLoop(const PlacedLoop &loop);
  bool holds(ValueId id, const Expr &condition);
  void choose(const PlacedChoice &choice, const std::vector<Value> &args);
  void goOn(const PlacedLoop &loop, std::vector<std::vector<Value>> carried);
  void endRound(const PlacedLoop &loop);
  /// A loop whose state is saved.
  struct SavedLoop {
    LoopCheckpoints checkpoints;
    int64_t every = 1;
    int64_t done = 0;            ///< iterations, those of earlier runs counted
    std::optional<int64_t> next; ///< where the run goes on; nothing at the beginning
  };
  std::unique_ptr<SavedLoop> resume(const PlacedLoop &loop);
  void save(const PlacedLoop &loop, SavedLoop &saved, int64_t next);
  Value onPart(const PlacedValue &value, uint32_t part, const std::vector<Value> &args);
  Value argument(const PlacedValue &value, uint32_t part, const std::vector<Value> &args);
  Value indexed(const PlacedValue &value, uint32_t part);
  Value applied(const PlacedValue &value, uint32_t part);
  Value converted(const PlacedValue &value, uint32_t part);
  Value evaluated(reference::BuiltinCall call, const PlacedValue &value, uint32_t part);
  void move(ValueId id);
  void moveGroup(const GroupMove &group, const PlacedValue &value, ValueId from,
                 std::vector<Value> &to);
  void route(ValueId id);
  Bytes asRank(const GroupMove &group, const PlacedValue &value, size_t elementBytes,
               const Bytes &source, const movement::CombineBytes &combine);
  uint64_t nextSeed() { return options_.seed + 0x9e3779b97f4a7c15 * ++moves_; }
  Value movedByRank(const GroupMove &group, const PlacedValue &value, Fold fold, const Value &have);
  Value gathered(size_t output);
  void writeOwn(size_t output, const PlacedValue &value, const Value &have);
  Value assembled(ValueId id);

  const PlacedProgram &placed_;
  const PartsOptions &options_;
  const Grid &grid_;
  Sizes sizes_; ///< with the variables of loops
  RunResult &result_;
  std::vector<std::vector<Value>> values_; ///< per value, per part; none where a part has nothing
  std::vector<uint32_t> here_;             ///< the parts that this process computes
  uint64_t moves_ = 0;
};

/// Part numbers of the source stand on a machine that is known now.
void PartsRun::checkParts(const PlacedValue &value) {
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    if (const LevelPlacement &at = value.placement[level];
        at.isSingle() && at.part >= grid_.count(level))
      stop(RunStatus::Arguments,
           "there is no " + placed_.levels[level].name + " " + std::to_string(at.part) + " of " +
               std::to_string(grid_.count(level)),
           value);
}

void PartsRun::make(ValueId id, const std::vector<Value> &args) {
  const PlacedValue &value = placed_.values[id];
  checkParts(value);
  values_[id].resize(grid_.count());
  if (value.kind == PlacedKind::Move)
    return move(id);
  for (uint32_t part : here_) {
    if (!grid_.holds(value.placement, part))
      continue;
    Value made = onPart(value, part, args);
    // The placement says which box a part has. Another shape would be a fault of the rules, and is
    // no reason to go on with wrong values.
    if (std::vector<int64_t> shape = shapeOfBox(boxAt(value, part));
        !std::equal(shape.begin(), shape.end(), made.shape().begin(), made.shape().end()))
      stop(RunStatus::Fault,
           grid_.name(part) + " has " + reference::shapeText(made.shape()) + ", not " +
               reference::shapeText(shape),
           value);
    values_[id][part] = std::move(made);
  }
}

/// Of a partial value the first part of a level has all, and the others have the identity element.
Value PartsRun::argument(const PlacedValue &value, uint32_t part, const std::vector<Value> &args) {
  const std::vector<Local *> &params = placed_.decl->params;
  size_t index =
      static_cast<size_t>(std::find(params.begin(), params.end(), value.param) - params.begin());
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    if (const LevelPlacement &at = value.placement[level];
        at.isPartial() && at.fold == Fold::Sum && grid_.coordinate(part, level) > 0)
      return Value::array(identityOfSums(value.elem, shapeOfBox(boxAt(value, part))));
  if (options_.own && options_.files && options_.files->reads(index)) {
    std::string why;
    Value read = options_.files->read(index, boxAt(value, part), why);
    if (!why.empty())
      stop(RunStatus::Silent, why, value);
    return read;
  }
  return sliceOf(args[index], movement::wholeBox(wholeShape(value)), boxAt(value, part));
}

Value PartsRun::onPart(const PlacedValue &value, uint32_t part, const std::vector<Value> &args) {
  switch (value.kind) {
  case PlacedKind::Argument:
    return argument(value, part, args);
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
  case PlacedKind::Index:
    return indexed(value, part);
  case PlacedKind::Slice:
    return sliceOf(at(*value.operands[0], part), boxAt(placed_.values[*value.operands[0]], part),
                   boxAt(value, part));
  case PlacedKind::Move:
  case PlacedKind::Carried:
  case PlacedKind::Arm:
  case PlacedKind::Chosen:
    break;
  }
  stop(RunStatus::Fault, "a value that parts do not make", value);
}

/// Axes with a position are not cut, so each part has it.
Value PartsRun::indexed(const PlacedValue &value, uint32_t part) {
  const PlacedValue &base = placed_.values[*value.operands[0]];
  Box have = boxAt(base, part), wanted = have;
  for (const auto &[axis, position] : value.positions) {
    int64_t at = number(position, value);
    if (at < 0 || at >= have[axis].length())
      stop(RunStatus::Bounds,
           "position " + std::to_string(at) + " of an axis of length " +
               std::to_string(have[axis].length()),
           value);
    wanted[axis] = {at, at + 1};
  }
  Value taken = sliceOf(at(*value.operands[0], part), have, wanted);
  return valueOfElements(taken.elem(), shapeOfBox(boxAt(value, part)), elementsOf(taken));
}

Value PartsRun::evaluated(reference::BuiltinCall call, const PlacedValue &value, uint32_t part) {
  RunStatus status = RunStatus::Ok;
  std::string why;
  std::optional<Value> made = reference::evalBuiltin(call, status, why);
  if (!made)
    stop(status, why + " (" + grid_.name(part) + ")", value);
  return std::move(*made);
}

Value PartsRun::applied(const PlacedValue &value, uint32_t part) {
  std::vector<Value> operands;
  for (std::optional<ValueId> operand : value.operands)
    operands.push_back(operand ? at(*operand, part) : Value());
  return evaluated(builtinCallOf(cast<OpExpr>(*value.expr), value.elem, std::move(operands),
                                 shapeOfBox(boxAt(value, part))),
                   value, part);
}

Value PartsRun::converted(const PlacedValue &value, uint32_t part) {
  const auto &expr = cast<ConvertExpr>(*value.expr);
  const Value &from = at(*value.operands[0], part);
  if (from.elem() == value.elem)
    return from;
  if (expr.checkRange && from.isScalar() && from.elem() == ElemKind::Int) {
    int64_t number = from.asScalar().scalar.i;
    // An `int` that converts by itself has to keep its value.
    Scalar there = roundScalar(Scalar::integer(number), value.elem);
    if (there.i != number)
      stop(RunStatus::Arithmetic,
           "the value " + std::to_string(number) + " does not fit in `" +
               std::string(elemName(value.elem)) + "`",
           value);
  }
  return evaluated(conversionOf(expr, value.elem, from), value, part);
}

// ---- Loops -------------------------------------------------------------------------------------

void PartsRun::makeAll(ValueId begin, ValueId end, const std::vector<Value> &args) {
  for (ValueId id = begin; id < end;)
    if (const PlacedLoop *loop = placed_.loopAt(id)) {
      beginLoop(*loop);
      loop->stmt ? repeat(*loop, args) : repeatWhile(*loop, args);
      id = loop->end;
    } else if (const PlacedChoice *choice = placed_.choiceAt(id)) {
      choose(*choice, args);
      id = choice->end;
    } else {
      make(id++, args);
    }
}

/// What the next iteration begins with.
void PartsRun::goOn(const PlacedLoop &loop, std::vector<std::vector<Value>> carried) {
  for (size_t i = 0; i < carried.size(); ++i)
    values_[loop.first + i] = std::move(carried[i]);
}

void PartsRun::beginLoop(const PlacedLoop &loop) {
  std::vector<std::vector<Value>> carried;
  for (ValueId id = loop.first; id < loop.body(); ++id)
    carried.push_back(values_[*placed_.values[id].operands[0]]);
  goOn(loop, std::move(carried));
}

void PartsRun::endRound(const PlacedLoop &loop) {
  std::vector<std::vector<Value>> carried;
  for (const PlacedCarried &each : loop.carried)
    carried.push_back(values_[each.next]);
  goOn(loop, std::move(carried));
}

void PartsRun::repeatWhile(const PlacedLoop &loop, const std::vector<Value> &args) {
  for (;;) {
    makeAll(loop.body(), loop.inside, args);
    if (!holds(loop.holds, *loop.condition))
      return;
    makeAll(loop.inside, loop.end, args);
    endRound(loop);
  }
}

void PartsRun::repeat(const PlacedLoop &loop, const std::vector<Value> &args) {
  const PlacedValue &first = placed_.values[loop.first];
  int64_t at = number(loop.lo, first), step = number(loop.step, first), hi = number(loop.hi, first);
  if (step < 1)
    stopAt(RunStatus::Arithmetic, "the loop counts by " + std::to_string(step) + ", not forwards",
           loop.stmt->head.iterable->span);
  int64_t left = at < hi ? (hi - at - 1) / step + 1 : 0;
  std::unique_ptr<SavedLoop> saved = loop.every ? resume(loop) : nullptr;
  if (saved && saved->next) {
    saved->done = (*saved->next - at) / step;
    left = std::max<int64_t>(left - saved->done, 0);
    at = *saved->next;
  }
  for (; left > 0; --left) {
    sizes_[loop.variable] = at;
    makeAll(loop.body(), loop.end, args);
    endRound(loop);
    // Behind the last iteration there may be no such number.
    at = static_cast<int64_t>(static_cast<uint64_t>(at) + static_cast<uint64_t>(step));
    if (saved)
      save(loop, *saved, at);
  }
  if (std::string why = saved ? saved->checkpoints.finish() : std::string(); !why.empty())
    stopAt(RunStatus::Silent, "a checkpoint could not be saved: " + why,
           loop.stmt->checkpoint->span);
}

/// The checkpoints of a loop, after what it carries has been read from the one to go on from; null where
/// none are saved.
std::unique_ptr<PartsRun::SavedLoop> PartsRun::resume(const PlacedLoop &loop) {
  Span span = loop.stmt->checkpoint->span;
  int64_t every = number(loop.every, placed_.values[loop.first]);
  if (every < 1)
    stopAt(RunStatus::Arithmetic,
           "the distance of checkpoints is " + std::to_string(every) + ", not at least 1", span);
  if (!options_.checkpoints.saves)
    return nullptr;
  auto saved = std::make_unique<SavedLoop>(SavedLoop{
      {placed_, loop, grid_, sizes_, options_.checkpoints, options_.own}, every, 0, std::nullopt});
  std::string why;
  bool isShared = false;
  saved->next = saved->checkpoints.begin(why, isShared);
  if (!why.empty())
    stopAt(isShared ? RunStatus::Arguments : RunStatus::Silent, why, span);
  for (size_t i = 0; i < loop.carried.size() && saved->next; ++i)
    for (uint32_t part : here_) {
      if (!grid_.holds(placed_.values[loop.first + i].placement, part))
        continue;
      values_[loop.first + i][part] = saved->checkpoints.read(i, part, why);
      if (!why.empty())
        stopAt(RunStatus::Silent, why, span);
    }
  return saved;
}

void PartsRun::save(const PlacedLoop &loop, SavedLoop &saved, int64_t next) {
  std::string why = saved.checkpoints.failure();
  if (why.empty() && ++saved.done % saved.every == 0)
    saved.checkpoints.save(
        next,
        [&](size_t variable, uint32_t part) -> const Value & {
          return values_[loop.first + variable][part];
        },
        why);
  if (!why.empty())
    stopAt(RunStatus::Silent, "a checkpoint could not be saved: " + why,
           loop.stmt->checkpoint->span);
}

// ---- Choices -----------------------------------------------------------------------------------

/// Each part knows the condition by itself, and none asks another one for it.
bool PartsRun::holds(ValueId id, const Expr &condition) {
  std::optional<bool> all;
  for (uint32_t part : here_) {
    bool mine = isTrue(at(id, part));
    if (all && *all != mine)
      stopAt(RunStatus::Fault,
             grid_.name(part) + " goes on otherwise than " + grid_.name(here_.front()),
             condition.span);
    all = mine;
  }
  return all.value_or(false);
}

void PartsRun::choose(const PlacedChoice &choice, const std::vector<Value> &args) {
  bool isFirst = holds(choice.holds, *choice.condition);
  auto [begin, end] = choice.arm(isFirst);
  makeAll(begin, end, args);
  for (ValueId id = choice.chosen; id < choice.end; ++id) {
    const PlacedValue &value = placed_.values[id];
    ValueId from = *value.operands[isFirst ? 0 : 1];
    values_[id] = values_[from];
    for (uint32_t part : here_)
      if (placed_.values[from].placement != value.placement && grid_.holds(value.placement, part))
        values_[id][part] =
            sliceOf(at(from, part), boxAt(placed_.values[from], part), boxAt(value, part));
  }
}

// ---- Movements ---------------------------------------------------------------------------------

void PartsRun::moveGroup(const GroupMove &group, const PlacedValue &value, ValueId from,
                         std::vector<Value> &to) {
  std::vector<std::vector<Scalar>> sources;
  for (uint32_t part : group.parts) {
    const Value &have = at(from, part);
    sources.push_back(have.isNone() ? std::vector<Scalar>() : elementsOf(have));
  }
  Fold fold = placed_.values[from].placement[value.level].fold;
  movement::Execution<Scalar> execution(group.list, sources, [&](Scalar left, Scalar right) {
    return folded(fold, value.elem, left, right);
  });
  if (std::string why = execution.run(nextSeed()); !why.empty())
    stop(RunStatus::Fault, "the steps of `" + std::string(value.movement->name) + "`: " + why,
         value);
  for (size_t rank = 0; rank < group.parts.size(); ++rank)
    if (uint32_t part = group.parts[rank]; grid_.holds(value.placement, part))
      to[part] =
          valueOfElements(value.elem, shapeOfBox(boxAt(value, part)), execution.result(rank));
}

void PartsRun::move(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  if (value.movement->takes == MovementTakes::Rows)
    return route(id);
  ValueId from = *value.operands[0];
  const Placement &before = placed_.values[from].placement;
  Fold fold = before[value.level].fold;
  for (const GroupMove &group : groupsOf(grid_, value, before, wholeShape(value))) {
    if (!options_.own)
      moveGroup(group, value, from, values_[id]);
    else if (uint32_t me = options_.own->part;
             std::ranges::find(group.parts, me) != group.parts.end())
      values_[id][me] = movedByRank(group, value, fold, at(from, me));
  }
}

/// The steps of this part; none if it has nothing afterwards.
Value PartsRun::movedByRank(const GroupMove &group, const PlacedValue &value, Fold fold,
                            const Value &have) {
  uint32_t me = options_.own->part;
  auto size = static_cast<size_t>(elemInfo(value.elem).storageBytes);
  auto combine = [&](uint8_t *to, const uint8_t *from, int64_t count, bool fromFirst) {
    foldAll(fold, value.elem, to, from, count, fromFirst);
  };
  Bytes result = asRank(group, value, size, have.isNone() ? Bytes() : bytesOf(have), combine);
  if (!grid_.holds(value.placement, me))
    return Value();
  return valueOfBytes(value.elem, shapeOfBox(boxAt(value, me)), result.data());
}

Bytes PartsRun::asRank(const GroupMove &group, const PlacedValue &value, size_t elementBytes,
                       const Bytes &source, const movement::CombineBytes &combine) {
  OwnResult result = exchangeAsRank(group, *options_.own, elementBytes, source, combine);
  if (result.silent)
    stop(RunStatus::Silent,
         grid_.name(options_.own->part) + " waits for " + grid_.name(*result.silent) +
             ", which sends nothing",
         value);
  return std::move(result.bytes);
}

/// Which rows go where stands in the data.
void PartsRun::route(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  auto exchange = [&](const GroupMove &group, size_t size, const std::vector<Bytes> &sources) {
    std::string why;
    std::vector<Bytes> results;
    if (options_.own) {
      results.resize(group.parts.size());
      auto rank = std::ranges::find(group.parts, options_.own->part) - group.parts.begin();
      auto me = static_cast<size_t>(rank);
      results[me] = asRank(group, value, size, sources[me], {});
    } else {
      results = exchangeTogether(group, size, sources, nextSeed(), why);
    }
    if (!why.empty())
      stop(RunStatus::Fault, "the steps of `" + std::string(value.movement->name) + "`: " + why,
           value);
    return results;
  };
  moveRows({placed_, grid_, [&](const PlacedValue &of) { return wholeShape(of); },
            [&](ValueId of, uint32_t part) -> const Value & { return at(of, part); },
            [&](uint32_t part) { return !options_.own || options_.own->part == part; }, exchange,
            [&](reference::BuiltinCall call, uint32_t part) {
              return evaluated(std::move(call), value, part);
            },
            [&](const std::string &why) { stop(RunStatus::Assert, why, value); }},
           id, values_[id]);
}

// ---- Results -----------------------------------------------------------------------------------

Value PartsRun::assembled(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  std::string why;
  Value whole = wholeOf(grid_, value, wholeShape(value), values_[id], why);
  if (!why.empty())
    stop(RunStatus::Fault, why, value);
  return whole;
}

/// The first part makes the file and tells the others its name. Of parts that have the same the first
/// one writes it, so each element is written once.
void PartsRun::writeOwn(size_t output, const PlacedValue &value, const Value &have) {
  constexpr size_t mostName = 4096; // `PATH_MAX`
  uint32_t me = options_.own->part;
  std::vector<int64_t> shape = wholeShape(value);
  std::string why, name;
  std::vector<uint8_t> text(mostName);
  if (me == 0) {
    name = options_.files->begin(output, value.elem, shape, why);
    if (!why.empty())
      stop(RunStatus::Silent, why, value);
    std::copy(name.begin(), name.end(), text.begin());
    for (uint32_t part = 1; part < grid_.count(); ++part)
      options_.own->port.send(part, text);
  } else {
    if (!options_.own->port.receive(0, text))
      stop(RunStatus::Silent,
           grid_.name(me) + " waits for " + grid_.name(0) + ", which sends nothing", value);
    name.assign(text.begin(), std::ranges::find(text, 0));
  }
  Box box = boxAt(value, me);
  bool isFirst = grid_.holds(value.placement, me);
  for (uint32_t part = 0; part < me && isFirst; ++part)
    isFirst = !grid_.holds(value.placement, part) || boxAt(value, part) != box;
  if (isFirst && movement::elementCount(box) > 0)
    options_.files->write(output, name, shape, box, have, why);
  if (!why.empty())
    stop(RunStatus::Silent, why, value);
}

/// The whole of an output on the first part, empty values on others.
Value PartsRun::gathered(size_t output) {
  ValueId id = placed_.outputs[output];
  PlacedValue value = placed_.values[id];
  uint32_t me = options_.own->part;
  Value have = at(id, me);
  std::vector<int64_t> shape = wholeShape(value);
  // Partial values are folded one level after the other, the innermost first, as `fold.cpp` does.
  for (size_t level = placed_.levels.size(); level-- > 0;) {
    Placement before = value.placement;
    if (!before[level].isPartial())
      continue;
    value.level = level;
    value.movement = &movementRecord(MovementId::AllReduce);
    value.placement[level] = {};
    for (const GroupMove &group : groupsOf(grid_, value, before, shape))
      if (std::ranges::find(group.parts, me) != group.parts.end())
        have = movedByRank(group, value, before[level].fold, have);
  }
  if (options_.files && options_.files->writes(output)) {
    writeOwn(output, value, have);
    return Value();
  }
  Placement before = value.placement;
  value.movement = &movementRecord(MovementId::Reshard);
  for (LevelPlacement &at : value.placement)
    at = {PlacementKind::Single};
  return movedByRank(groupsOf(grid_, value, before, shape)[0], value, Fold::Sum, have);
}

} // namespace

RunResult runOnParts(const CheckedProgram &program, const SourceManager &sources,
                     const PlacedProgram &placed, std::vector<Value> args,
                     const PartsOptions &options) {
  Sizes sizes;
  RunResult result =
      reference::bindSizes(program, sources, *placed.decl, args, options.entry, sizes);
  for (size_t i = 0; i < placed.decl->params.size() && result.ok(); ++i)
    if (i >= args.size() || args[i].isNone()) {
      result.status = RunStatus::Arguments;
      result.message = "`" + placed.decl->params[i]->name + "` has no value";
      result.span = placed.decl->nameSpan;
    }
  std::string why;
  Grid grid(placed.levels, countsOn(placed.levels, options.shape, why));
  if (result.ok() && !why.empty()) {
    result.status = RunStatus::Arguments;
    result.message = why;
    result.span = placed.decl->nameSpan;
  }
  if (result.ok())
    PartsRun(placed, options, grid, sizes, result).run(args);
  return result;
}

} // namespace ptl::parts
