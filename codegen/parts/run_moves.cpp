// The movements of a run: all parts together, or as one rank, at once or while it computes.
#include "codegen/parts/elements.h"
#include "codegen/parts/exchange.h"
#include "codegen/parts/fold.h"
#include "codegen/parts/move_rows.h"
#include "codegen/parts/parts_run.h"
#include "runtime/movement/execute.h"

#include <algorithm>

namespace ptl::parts {

using movement::Box;
using reference::RunStatus;
using reference::Value;

// ---- At once -----------------------------------------------------------------------------------

/// The box of what a rank of a group gets.
static const Box &givenTo(const GroupMove &group, size_t rank, const Box &whole) {
  return group.given.empty() ? whole : group.given[rank];
}

/// What a rank of a group sends of its block `have`, which is `box`.
static Value takenBy(const GroupMove &group, size_t rank, const Value &have, const Box &box) {
  return group.taken.empty() || have.isNone() ? have : sliceOf(have, box, group.taken[rank]);
}

/// Puts what a rank of a group got in its place in the block `to`, which is `whole`.
static void give(const GroupMove &group, size_t rank, const Box &whole, Value moved, Value &to) {
  if (givenTo(group, rank, whole) == whole)
    to = std::move(moved);
  else
    putIn(to, whole, group.given[rank], moved);
}

static movement::CombineBytes combining(Fold fold, ElemKind elem) {
  return [fold, elem](uint8_t *to, const uint8_t *from, int64_t count, bool fromFirst) {
    foldAll(fold, elem, to, from, count, fromFirst);
  };
}

static std::string waitsFor(const Grid &grid, uint32_t me, uint32_t part) {
  return grid.name(me) + " waits for " + grid.name(part) + ", which sends nothing";
}

void PartsRun::moveGroup(const GroupMove &group, const PlacedValue &value, ValueId from,
                         std::vector<Value> &to) {
  std::vector<std::vector<Scalar>> sources;
  for (size_t rank = 0; rank < group.parts.size(); ++rank) {
    uint32_t part = group.parts[rank];
    const Value have = takenBy(group, rank, at(from, part), boxAt(placed_.values[from], part));
    sources.push_back(have.isNone() ? std::vector<Scalar>() : elementsOf(have));
  }
  Fold fold = placed_.values[from].placement[value.level].fold;
  // The order in which steps arrive is drawn anew each time: a result that depended on it would not be stable, and tests would
  // notice.
  movement::Execution<Scalar> execution(group.list, sources, [&](Scalar left, Scalar right) {
    return folded(fold, value.elem, left, right);
  });
  if (std::string why = execution.run(nextSeed()); !why.empty())
    stop(RunStatus::Fault, "the steps of `" + std::string(value.movement->name) + "`: " + why,
         value);
  // A part that is in the group but not in the placement afterwards only sent.
  for (size_t rank = 0; rank < group.parts.size(); ++rank)
    if (uint32_t part = group.parts[rank]; grid_.holds(value.placement, part)) {
      Box whole = boxAt(value, part);
      give(group, rank, whole,
           valueOfElements(value.elem, shapeOfBox(givenTo(group, rank, whole)),
                           execution.result(rank)),
           to[part]);
    }
}

std::vector<GroupMove> PartsRun::groupsOfMove(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  int64_t distance = value.dim ? number(value.dim, value) : 0;
  return groupsOf(grid_, value, placed_.values[*value.operands[0]].placement, wholeShape(value), {},
                  distance);
}

void PartsRun::move(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  if (value.movement->takes == MovementTakes::Rows)
    return route(id);
  ValueId from = *value.operands[0];
  Fold fold = placed_.values[from].placement[value.level].fold;
  waitForMoves();
  values_[id].assign(grid_.count(), Value());
  for (const GroupMove &group : groupsOfMove(id)) {
    if (!options_.own) {
      moveGroup(group, value, from, values_[id]);
      continue;
    }
    uint32_t me = options_.own->part;
    auto rank = static_cast<size_t>(std::ranges::find(group.parts, me) - group.parts.begin());
    if (rank < group.parts.size())
      give(group, rank, boxAt(value, me),
           movedByRank(group, value, fold,
                       takenBy(group, rank, at(from, me), boxAt(placed_.values[from], me))),
           values_[id][me]);
  }
}

/// Executes the steps of this part. The value is empty if the part holds nothing afterwards.
Value PartsRun::movedByRank(const GroupMove &group, const PlacedValue &value, Fold fold,
                            const Value &have) {
  uint32_t me = options_.own->part;
  auto size = static_cast<size_t>(elemInfo(value.elem).storageBytes);
  Bytes result = asRank(group, value, size, have.isNone() ? Bytes() : bytesOf(have),
                        combining(fold, value.elem));
  if (!grid_.holds(value.placement, me))
    return Value();
  auto rank = static_cast<size_t>(std::ranges::find(group.parts, me) - group.parts.begin());
  Box whole = boxAt(value, me);
  return valueOfBytes(value.elem, shapeOfBox(givenTo(group, rank, whole)), result.data());
}

Bytes PartsRun::asRank(const GroupMove &group, const PlacedValue &value, size_t elementBytes,
                       const Bytes &source, const movement::CombineBytes &combine) {
  OwnResult result = exchangeAsRank(group, *options_.own, elementBytes, source, combine);
  if (result.silent)
    stop(RunStatus::Silent, waitsFor(grid_, options_.own->part, *result.silent), value);
  return std::move(result.bytes);
}

/// A movement of rows: the data says which rows go where.
void PartsRun::route(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  waitForMoves();
  auto exchange = [&](const GroupMove &group, size_t size, const std::vector<Bytes> &sources) {
    std::string why;
    std::vector<Bytes> results;
    // As a rank this process has the source of its own part, and the others send the rest; within one process all parts are here.
    // Only the own result is filled in then, because no other is asked for.
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

// ---- While the part computes -------------------------------------------------------------------

/// A movement that another thread carries out. Until it lands only that thread writes what it brings, and nobody what it sends:
/// values that are shared are copied before they change.
struct PartsRun::Flight {
  struct Leg {
    GroupMove group;
    size_t rank = 0;
    Value sent;
    std::vector<int64_t> shape; ///< of what it brings
    Value brought;
    std::optional<uint32_t> silent;
  };
  std::vector<Leg> legs;
  uint64_t number = 0;
};

const EarlyMoves &PartsRun::earlyMoves(ValueId begin, ValueId end) {
  auto [found, isNew] = early_.try_emplace({begin, end});
  if (isNew && mover_)
    found->second = earlyMovesOf(placed_, begin, end);
  return found->second;
}

void PartsRun::begin(ValueId id) {
  settle(id, id + 1);
  land(id); // What the round before has brought and nothing has used.
  const PlacedValue &value = placed_.values[id];
  checkParts(value);
  ValueId from = *value.operands[0];
  uint32_t me = options_.own->part;
  values_[id].assign(grid_.count(), Value());
  auto flight = std::make_shared<Flight>();
  for (GroupMove &group : groupsOfMove(id)) {
    auto rank = static_cast<size_t>(std::ranges::find(group.parts, me) - group.parts.begin());
    if (rank == group.parts.size())
      continue;
    Value sent = takenBy(group, rank, at(from, me), boxAt(placed_.values[from], me));
    Box whole = boxAt(value, me);
    std::vector<int64_t> shape = shapeOfBox(givenTo(group, rank, whole));
    flight->legs.push_back({std::move(group), rank, std::move(sent), std::move(shape), {}, {}});
  }
  auto size = static_cast<size_t>(elemInfo(value.elem).storageBytes);
  movement::CombineBytes combine =
      combining(placed_.values[from].placement[value.level].fold, value.elem);
  // What depends on the program is taken here: the other thread uses the flight and the port only.
  auto work = [flight, size, combine, elem = value.elem, own = *options_.own,
               isHeld = grid_.holds(value.placement, me)] {
    for (Flight::Leg &leg : flight->legs) {
      OwnResult result = exchangeAsRank(leg.group, own, size,
                                        leg.sent.isNone() ? Bytes() : bytesOf(leg.sent), combine);
      leg.silent = result.silent;
      if (leg.silent)
        return;
      if (isHeld)
        leg.brought = valueOfBytes(elem, leg.shape, result.bytes.data());
    }
  };
  flight->number = mover_->begin(std::move(work));
  flights_.emplace(id, std::move(flight));
}

/// Puts what a movement has brought in its place, and waits for it if need be.
void PartsRun::land(ValueId id) {
  auto found = flights_.find(id);
  if (found == flights_.end())
    return;
  std::shared_ptr<Flight> flight = std::move(found->second);
  flights_.erase(found);
  mover_->wait(flight->number);
  const PlacedValue &value = placed_.values[id];
  uint32_t me = options_.own->part;
  for (Flight::Leg &leg : flight->legs) {
    if (leg.silent)
      stop(RunStatus::Silent, waitsFor(grid_, me, *leg.silent), value);
    if (!leg.brought.isNone())
      give(leg.group, leg.rank, boxAt(value, me), std::move(leg.brought), values_[id][me]);
  }
}

} // namespace ptl::parts
