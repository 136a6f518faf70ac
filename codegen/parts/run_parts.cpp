#include "codegen/parts/parts_run.h"

#include "codegen/parts/builtin_call.h"
#include "codegen/parts/chunk_schedule.h"
#include "codegen/parts/elements.h"
#include "codegen/parts/exchange.h"
#include "codegen/parts/index_region.h"
#include "codegen/reference/builtin.h"
#include "codegen/reference/entry_sizes.h"
#include "codegen/reference/print.h"
#include "codegen/reference/scalar_ops.h"
#include "frontend/sema/placement/distribution.h"
#include "frontend/sema/walk.h"

#include <algorithm>

namespace ptl::parts {

using movement::Box;
using reference::RunResult;
using reference::RunStatus;
using reference::Value;

void PartsMoves::checkParts(const PlacedValue &value) {
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    if (const LevelPlacement &at = value.placement[level];
        at.isSingle() && at.part >= grid_.count(level))
      stop(RunStatus::Arguments,
           "there is no " + placed_.levels[level].name + " " + std::to_string(at.part) + " of " +
               std::to_string(grid_.count(level)),
           value);
}

void PartsRun::make(ValueId id, const std::vector<Value> &args) {
  settle(id, id + 1);
  settleHome(id);
  const PlacedValue &value = placed_.values[id];
  checkParts(value);
  values_[id].resize(grid_.count());
  // A movement needs all parts at the same time; every other value is made part by part.
  if (value.kind == PlacedKind::Move) {
    if (flights_.contains(id))
      return;
    // What a product multiplies by chunks comes while it does.
    const ChunkedPair *pair = pairWith(id, &ChunkedPair::move);
    if (pair && pair->operand)
      begin(id);
    else
      value.movement->takes == MovementTakes::Rows ? route(id) : move(id);
    return;
  }
  if (value.kind == PlacedKind::Missing) {
    waitForMoves();
    bool isFound = pools_.find(*placed_.pageAt(id));
    values_[id].assign(grid_.count(), Value::boolean(!isFound));
    return;
  }
  if (madeByChunks(id))
    return;
  if (putOff(id))
    return;
  for (uint32_t part : here_)
    if (grid_.holds(value.placement, part))
      values_[id][part] = made(id, part, args);
}

/// Whether a program says in any of its files that something is printed, which must not happen twice.
bool PartsRun::prints(const CheckedProgram &program) {
  for (const auto &module : program.modules)
    for (TokenIndex token = 0; token < module->tree->tokens().size(); ++token)
      if (module->tree->tokenText(token) == "print")
        return true;
  return false;
}

Value PartsRun::made(ValueId id, uint32_t part, const std::vector<Value> &args) {
  const PlacedValue &value = placed_.values[id];
  Value made = onPart(value, part, args);
  // The placement says which box a part holds. Another shape would be an error in the rules of
  // placement, and the run must not continue with wrong values.
  if (std::vector<int64_t> shape = shapeOfBox(boxAt(value, part));
      !std::equal(shape.begin(), shape.end(), made.shape().begin(), made.shape().end()))
    stop(RunStatus::Fault,
         grid_.name(part) + " has " + reference::shapeText(made.shape()) + ", not " +
             reference::shapeText(shape),
         value);
  return made;
}

/// The box of an argument on a part. Of a partial sum the first part of each level has the whole
/// argument, and the others have the identity element.
Value PartsRun::argument(const PlacedValue &value, uint32_t part, const std::vector<Value> &args) {
  const std::vector<Local *> &params = placed_.decl->params;
  size_t index =
      static_cast<size_t>(std::find(params.begin(), params.end(), value.param) - params.begin());
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    if (const LevelPlacement &at = value.placement[level];
        at.isPartial() && at.fold == Fold::Sum && grid_.coordinate(part, level) > 0)
      return Value::array(identityOfSums(value.elem, shapeOfBox(boxAt(value, part))));
  // A rank reads only its own block of a file, so that no rank needs memory for a whole array.
  if (options_.own && options_.files && options_.files->reads(index)) {
    std::string why;
    Value read = options_.files->read(index, boxAt(value, part), why);
    if (!why.empty())
      stop(RunStatus::Silent, why, value);
    return read;
  }
  return sliceOf(args[index], movement::wholeBox(wholeShape(value)), boxAt(value, part));
}

/// What is said when an `assert` does not hold on a part.
static std::string failedAssert(const PlacedAssert &assert,
                                const std::function<const Value &(size_t)> &operand) {
  std::string text = assert.stmt->message.empty() ? "`" + assert.stmt->text + "` does not hold"
                                                  : assert.stmt->message;
  for (size_t i = 0; i < assert.names.size(); ++i)
    text += (i ? ", `" : ": `") + assert.names[i] + "` is " + reference::valueText(operand(i + 1));
  return text;
}

/// Writes the line of a `print`, if the part is the first of those that have the same.
Value PartsRun::printed(const PlacedValue &value, uint32_t part) {
  for (size_t level = 0; level < placed_.levels.size(); ++level)
    if (const LevelPlacement &at = value.placement[level];
        at.isWhole() && !at.isOwn && grid_.coordinate(part, level) > 0)
      return Value::boolean(false);
  std::vector<Value> operands = operandsAt(value, part, std::nullopt);
  const auto *text = dyn_cast<StringExpr>(cast<OpExpr>(*value.expr).args[0]);
  reference::printLine(text ? text->value : "", operands, options_.entry);
  return Value::boolean(true);
}

Value PartsRun::zerosOf(const PlacedValue &value, uint32_t part) {
  return Value::array(reference::zeroArray(value.elem, shapeOfBox(boxAt(value, part))));
}

Value PartsRun::onPart(const PlacedValue &value, uint32_t part, const std::vector<Value> &args) {
  switch (value.kind) {
  case PlacedKind::Argument:
    return argument(value, part, args);
  case PlacedKind::Constant:
    return reference::valueOfConst(cast<ConstExpr>(*value.expr), value.elem);
  case PlacedKind::Number: {
    const Value &number = at(*value.operands[0], part);
    forEachSymbol(value.dim, [&](SymbolId symbol) { sizes_[symbol] = number.asScalar().scalar.i; });
    return number;
  }
  case PlacedKind::Dimension:
    return Value::integer(number(value.dim, value));
  case PlacedKind::Apply:
    return applied(value, part);
  case PlacedKind::Call:
    return called(value, part);
  case PlacedKind::Convert:
    return converted(value, part);
  case PlacedKind::Reshape:
    return reshaped(at(*value.operands[0], part), shapeOfBox(boxAt(value, part)));
  case PlacedKind::Store:
    // Of an array with an element for each stage only the part of this stage has another one now.
    if (const Placement *ofStage = storingStage(placed_, value);
        ofStage && !grid_.holds(*ofStage, part))
      return at(*value.operands[0], part);
    return selected(value, part);
  case PlacedKind::Index:
    return selected(value, part);
  case PlacedKind::Assert: {
    auto id = static_cast<ValueId>(&value - placed_.values.data());
    auto operand = [&](size_t i) -> const Value & { return at(*value.operands[i], part); };
    if (!isTrue(operand(0)))
      stop(RunStatus::Assert,
           failedAssert(*std::ranges::find(placed_.asserts, id, &PlacedAssert::value), operand) +
               " (" + grid_.name(part) + ")",
           value);
    return operand(0);
  }
  case PlacedKind::Print:
    return printed(value, part);
  case PlacedKind::Slice:
    return sliceOf(at(*value.operands[0], part), boxAt(placed_.values[*value.operands[0]], part),
                   boxAt(value, part));
  case PlacedKind::Block:
    return value.operands.empty() ? zerosOf(value, part) : at(*value.operands[0], part);
  case PlacedKind::Joined: {
    // A part with an empty range has made nothing.
    const Value &own = at(*value.operands[0], part);
    return own.isNone() ? zerosOf(value, part) : own;
  }
  case PlacedKind::Page:
    return pools_.page(*placed_.pageAt(static_cast<ValueId>(&value - placed_.values.data())), part);
  // These are not made by one part alone: all parts move together, and loops and choices hand on values that their bodies made.
  case PlacedKind::Move:
  case PlacedKind::Carried:
  case PlacedKind::Arm:
  case PlacedKind::Missing:
  case PlacedKind::Chosen:
    break;
  }
  stop(RunStatus::Fault, "a value that parts do not make", value);
}

/// An index, or an assignment to one. New axes have length 1 and are added by the shape.
Value PartsRun::selected(const PlacedValue &value, uint32_t part) {
  const Value &from = at(*value.operands[0], part);
  std::string why;
  std::optional<reference::Region> region = regionOf(
      {value, boxAt(placed_.values[*value.operands[0]], part),
       [&](Dim dim) { return number(dim, value); },
       [&](size_t operand) -> const Value & { return at(*value.operands[operand], part); }},
      why);
  if (!region)
    stop(RunStatus::Bounds, why + " (" + grid_.name(part) + ")", value);
  try {
    if (value.kind == PlacedKind::Store) {
      // The value before stays as it was, since other values may still be computed from it.
      Value array = from;
      reference::writeRegion(array.mutableArray(), *region, at(*value.operands[1], part),
                             AssignMode::Set, value.expr->span);
      return array;
    }
    Value taken = value.hasOutside ? reference::readOutside(from.asArray(), *region,
                                                            at(*value.operands.back(), part))
                                   : reference::readRegion(from.asArray(), *region);
    return reshaped(taken, shapeOfBox(boxAt(value, part)));
  } catch (const reference::Stop &stopped) {
    stop(stopped.status, stopped.message + " (" + grid_.name(part) + ")", value);
  }
}

Value PartsRun::evaluated(reference::BuiltinCall call, const PlacedValue &value, uint32_t part) {
  RunStatus status = RunStatus::Ok;
  std::string why;
  std::optional<Value> made = reference::evalBuiltin(call, status, why);
  if (!made)
    stop(status, why + " (" + grid_.name(part) + ")", value);
  return std::move(*made);
}

/// `index(a..b step s)`: what lies on each part.
static Value positionsFrom(int64_t first, int64_t step, int64_t length) {
  std::vector<Scalar> elements;
  for (int64_t i = 0; i < length; ++i)
    elements.push_back(Scalar::integer(first + i * step));
  return valueOfElements(ElemKind::I32, {length}, elements);
}

Value PartsRun::applied(const PlacedValue &value, uint32_t part) {
  if (cast<OpExpr>(*value.expr).op->id == OpId::Index) {
    auto numberAt = [&](size_t i) { return at(*value.operands[i], part).asScalar().scalar.i; };
    return positionsFrom(numberAt(0), value.operands.size() > 1 ? numberAt(1) : 1,
                         boxAt(value, part)[0].length());
  }
  return appliedTo(value, part, operandsAt(value, part, std::nullopt),
                   shapeOfBox(boxAt(value, part)));
}

std::vector<Value> PartsRun::operandsAt(const PlacedValue &value, uint32_t part,
                                        std::optional<size_t> without) {
  std::vector<Value> operands(value.operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    if (value.operands[i] && i != without)
      operands[i] = at(*value.operands[i], part);
  return operands;
}

Value PartsRun::appliedTo(const PlacedValue &value, uint32_t part, std::vector<Value> operands,
                          std::vector<int64_t> shape) {
  std::vector<int64_t> lengths;
  for (Dim length : value.lengths)
    lengths.push_back(number(length, value));
  Value made = evaluated(builtinCallOf(cast<OpExpr>(*value.expr), value.elem, std::move(operands),
                                       std::move(shape), lengths),
                         value, part);
  if (!made.isParts())
    return made;
  Value result = made.asParts()[value.result];
  return result;
}

Value PartsRun::converted(const PlacedValue &value, uint32_t part) {
  const auto &expr = cast<ConvertExpr>(*value.expr);
  const Value &from = at(*value.operands[0], part);
  if (from.elem() == value.elem)
    return from;
  if (expr.checkRange && from.isScalar() && from.elem() == ElemKind::Int) {
    int64_t number = from.asScalar().scalar.i;
    // An `int` that is converted implicitly must keep its value.
    Scalar there = roundScalar(Scalar::integer(number), value.elem);
    if (there.i != number)
      stop(RunStatus::Arithmetic,
           "the value " + std::to_string(number) + " does not fit in `" +
               std::string(elemName(value.elem)) + "`",
           value);
  }
  return evaluated(conversionOf(expr, value.elem, from), value, part);
}

// ---- Results -----------------------------------------------------------------------------------

Value PartsRun::assembled(ValueId id) {
  catchUpAll(id);
  const PlacedValue &value = placed_.values[id];
  std::string why;
  Value whole = wholeOf(grid_, value, wholeShape(value), values_[id], why);
  if (!why.empty())
    stop(RunStatus::Fault, why, value);
  return whole;
}

/// The first part creates the file and tells the others its name. Of the parts with the same box
/// the first one writes it, so each element is written once.
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

/// The whole output on the first part; the other parts return empty values.
Value PartsRun::gathered(size_t output) {
  waitForMoves();
  ValueId id = placed_.outputs[output];
  PlacedValue value = placed_.values[id];
  uint32_t me = options_.own->part;
  Value have = at(id, me);
  std::vector<int64_t> shape = wholeShape(value);
  // Partial values are folded one level after the other, the innermost first, as in `fold.cpp`.
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
  // A reshard to part 0 of every level collects the blocks.
  value.movement = &movementRecord(MovementId::Reshard);
  for (LevelPlacement &at : value.placement)
    at = {PlacementKind::Single};
  return movedByRank(groupsOf(grid_, value, before, shape)[0], value, Fold::Sum, have);
}

/// The tokens of all modules and the executor: what pages of a pool must not be shared across.
static std::string textOf(const CheckedProgram &program, const PoolOptions &options) {
  std::string text = options.executor + '\n';
  for (const auto &module : program.modules)
    for (TokenIndex token = 0; token < module->tree->tokens().size(); ++token)
      text.append(module->tree->tokenText(token)).push_back('\n');
  return text;
}

/// Reads the arrays whose elements a `where` needs, as a whole on every part, since `args` has only
/// their shapes. Returns why one cannot be read; else empty.
static std::string readForWheres(const CallableDecl &decl, const PartsOptions &options,
                                 std::vector<Value> &args) {
  std::string why;
  for (size_t i = 0; i < decl.params.size() && i < args.size(); ++i) {
    bool isNeeded = false;
    for (const WhereClause &clause : decl.wheres)
      forEachExpr(clause.condition, [&](const Expr *expr) {
        const auto *local = dyn_cast<LocalRefExpr>(expr);
        isNeeded |= local && local->local == decl.params[i];
      });
    if (!isNeeded || !args[i].isArray() || !options.files || !options.files->reads(i))
      continue;
    Value whole = options.files->read(i, movement::wholeBox(args[i].shape()), why);
    if (!why.empty())
      return why;
    args[i] = std::move(whole);
  }
  return {};
}

RunResult runOnParts(const CheckedProgram &program, const SourceManager &sources,
                     const PlacedProgram &placed, std::vector<Value> args,
                     const PartsOptions &options) {
  Sizes sizes;
  RunResult result;
  auto fails = [&](std::string why) {
    result.status = RunStatus::Arguments;
    result.message = std::move(why);
    result.span = placed.decl->nameSpan;
    return result;
  };
  std::string why;
  Grid grid(placed.levels, countsOn(placed.levels, options.shape, why),
            options.own ? options.own->port.cost() : movement::Cost());
  if (!why.empty())
    return fails(why);
  reference::RunOptions entry = options.entry;
  if (why = giveCounts(*placed.decl, grid, entry.dims); !why.empty())
    return fails(why);
  if (std::string why = readForWheres(*placed.decl, options, args); !why.empty()) {
    RunResult failed;
    failed.status = RunStatus::Silent;
    failed.message = why;
    failed.span = placed.decl->nameSpan;
    return failed;
  }
  result = reference::bindSizes(program, sources, *placed.decl, args, entry, sizes);
  for (size_t i = 0; i < placed.decl->params.size() && result.ok(); ++i)
    if (i >= args.size() || args[i].isNone()) {
      result.status = RunStatus::Arguments;
      result.message = "`" + placed.decl->params[i]->name + "` has no value";
      result.span = placed.decl->nameSpan;
    }
  PlacedProgram scheduled = placed;
  applySchedule(
      program, "reference",
      [&](SymbolId symbol) {
        auto size = sizes.find(symbol);
        return size == sizes.end() ? std::nullopt : std::optional(size->second);
      },
      scheduled);
  if (result.ok())
    PartsRun(program, sources, std::move(scheduled), textOf(program, options.pools), options, grid,
             sizes, result)
        .run(args);
  // Behind the outputs are the final values of the `inout`s.
  auto inouts =
      result.outputs.begin() +
      static_cast<ptrdiff_t>(std::min(placed.decl->outputs.size(), result.outputs.size()));
  result.inouts.assign(std::make_move_iterator(inouts),
                       std::make_move_iterator(result.outputs.end()));
  result.outputs.erase(inouts, result.outputs.end());
  return result;
}

} // namespace ptl::parts
