// The movements of a run at once: all parts together, or as one rank. `run_early_moves.cpp` has those that go on while parts compute.
#include "codegen/parts/elements.h"
#include "codegen/parts/exchange.h"
#include "codegen/parts/fold.h"
#include "codegen/parts/move_rows.h"
#include "codegen/parts/parts_run.h"
#include "codegen/parts/sent_and_given.h"

#include <algorithm>

namespace ptl::parts {

using movement::Box;
using reference::RunStatus;
using reference::Value;

// ---- At once -----------------------------------------------------------------------------------

/// What the parts of a group send.
std::vector<Value> PartsMoves::takenFrom(const GroupMove &group, ValueId from) {
  std::vector<Value> sources;
  for (size_t rank = 0; rank < group.parts.size(); ++rank) {
    uint32_t part = group.parts[rank];
    sources.push_back(takenBy(group, rank, at(from, part), boxAt(placed_.values[from], part)));
  }
  return sources;
}

/// The blocks of the parts of a group.
std::vector<Box> PartsMoves::blocksOf(const GroupMove &group, const PlacedValue &value) {
  std::vector<Box> blocks;
  for (uint32_t part : group.parts)
    blocks.push_back(boxAt(value, part));
  return blocks;
}

void PartsMoves::moveGroup(const GroupMove &group, const PlacedValue &value, Fold fold,
                           const std::vector<Value> &have, const std::vector<Box> &blocks,
                           std::vector<Value> &to) {
  std::vector<Bytes> sources;
  for (const Value &each : have)
    sources.push_back(each.isNone() ? Bytes() : bytesOf(each));
  // The order in which steps arrive is drawn anew each time: a result that depended on it would not be stable, and tests would
  // notice.
  std::string why = exchangeTogether(
      group, elemBytes(value.elem), std::move(sources), combining(fold, value.elem), nextSeed(),
      [&](size_t rank, std::span<const uint8_t> bytes) {
        // A part that is in the group but not in the placement afterwards only sent.
        if (uint32_t part = group.parts[rank]; grid_.holds(value.placement, part))
          give(group, rank, blocks[rank],
               valueOfBytes(value.elem, shapeOfBox(givenTo(group, rank, blocks[rank])),
                            bytes.data()),
               to[part]);
      });
  if (!why.empty())
    stop(RunStatus::Fault, "the steps of `" + std::string(value.movement->name) + "`: " + why,
         value);
}

std::vector<GroupMove> PartsMoves::groupsOfMove(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  int64_t distance = value.dim ? number(value.dim, value) : 0;
  std::vector<GroupMove> groups = groupsOf(
      grid_, value, placed_.values[*value.operands[0]].placement, wholeShape(value), {}, distance);
  for (auto [level, coordinate] : only_)
    std::erase_if(groups, [&](const GroupMove &group) {
      return grid_.coordinate(group.parts.front(), level) != coordinate;
    });
  return groups;
}

void PartsMoves::move(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  ValueId from = *value.operands[0];
  Fold fold = placed_.values[from].placement[value.level].fold;
  waitForMoves();
  values_[id].assign(grid_.count(), Value());
  for (const GroupMove &group : groupsOfMove(id)) {
    if (!options_.own) {
      moveGroup(group, value, fold, takenFrom(group, from), blocksOf(group, value), values_[id]);
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
Value PartsMoves::movedByRank(const GroupMove &group, const PlacedValue &value, Fold fold,
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

Bytes PartsMoves::asRank(const GroupMove &group, const PlacedValue &value, size_t elementBytes,
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
      results.resize(group.parts.size());
      why = exchangeTogether(group, size, sources, {}, nextSeed(),
                             [&](size_t rank, std::span<const uint8_t> bytes) {
                               results[rank].assign(bytes.begin(), bytes.end());
                             });
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

} // namespace ptl::parts
