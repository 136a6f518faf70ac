#include "codegen/parts/part_source.h"

#include "frontend/sema/placement/distribution.h"
#include "ir/ops/op_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace ptl::parts {

bool isPieceOf(const PlacedValue &value) {
  if (value.kind == PlacedKind::Block)
    return !value.operands.empty();
  if (value.kind != PlacedKind::Index)
    return value.kind == PlacedKind::Slice || value.kind == PlacedKind::Joined;
  // Positions at exactly the first axes leave a contiguous run, which is read in place.
  for (const auto &[axis, position] : value.positions)
    if (axis >= value.positions.size())
      return false;
  return value.selected.empty();
}

static bool isComputed(const PlacedValue &value) {
  return value.kind == PlacedKind::Apply || value.kind == PlacedKind::Call ||
         value.kind == PlacedKind::Convert || value.kind == PlacedKind::Reshape ||
         value.kind == PlacedKind::Store || (value.kind == PlacedKind::Index && !isPieceOf(value));
}

static bool isNumber(const PlacedValue &value) {
  return value.kind == PlacedKind::Constant || value.kind == PlacedKind::Dimension ||
         value.kind == PlacedKind::Number;
}

namespace {

/// Which values stretches compute, and which values they wait for.
class Kinds {
public:
  Kinds(const PlacedProgram &placed, const StretchRules &rules) : placed_(placed), rules_(rules) {}

  bool isComputed(ValueId id) const {
    return parts::isComputed(placed_.values[id]) && (rules_.left.empty() || !rules_.left[id]);
  }

  /// Values that determine when the values around them can be computed. A call is a task of its own, behind what makes its arguments.
  /// If stretches are executed, everything else that is made of values must find them made.
  bool isAwaited(ValueId id) const {
    const PlacedValue &value = placed_.values[id];
    if (rules_.areExecuted && !isComputed(id) && !value.operands.empty())
      return true;
    return value.kind == PlacedKind::Move || value.kind == PlacedKind::Call ||
           value.kind == PlacedKind::Carried || value.kind == PlacedKind::Arm ||
           value.kind == PlacedKind::Chosen;
  }

private:
  const PlacedProgram &placed_;
  const StretchRules &rules_;
};

} // namespace

namespace {

/// Of a value: the movements, carried variables and choices that it waits for, and those that wait
/// for it.
/// Values with equal surroundings are computed in one stretch.
struct Around {
  std::optional<ValueId> region; ///< the innermost one
  /// The levels of which a single part computes it, with the number of the part or the stage's
  /// expression.
  std::vector<std::array<uint32_t, 3>> single = {};
  std::set<ValueId> before = {}, behind = {};
  std::optional<ValueId> call = {}; ///< of results of a call: the first one
  /// If stretches are executed: the levels whose parts all have the value. They compute it by one text, so that they have the same
  /// bits, though blocks of other values have other lengths on other parts.
  std::vector<uint32_t> everywhere = {};
  std::optional<ValueId> alone = {}; ///< of a value with a stretch of its own
  auto operator<=>(const Around &) const = default;
};

} // namespace

/// Outer regions first, so that the innermost one is written last in `allAround`.
static void sortRegions(std::vector<Region> &regions) {
  std::ranges::sort(regions, [](const Region &a, const Region &b) {
    return std::pair(a.begin, b.end) < std::pair(b.begin, a.end);
  });
}

std::vector<Region> regionsOf(const PlacedProgram &placed) {
  std::vector<Region> regions;
  for (const PlacedLoop &loop : placed.loops)
    regions.push_back({loop.first, loop.body(), loop.end});
  for (const PlacedChoice &choice : placed.choices)
    for (bool isFirst : {true, false}) {
      auto [begin, end] = choice.arm(isFirst);
      regions.push_back({begin - 1, begin, end});
    }
  sortRegions(regions);
  return regions;
}

/// Values that nothing uses and that are looked at when a program is executed: conditions and pages.
static std::vector<ValueId> lookedAt(const PlacedProgram &placed) {
  std::vector<ValueId> seen;
  for (const PlacedLoop &loop : placed.loops)
    if (!loop.stmt)
      seen.push_back(loop.holds);
  for (const PlacedChoice &choice : placed.choices) {
    seen.push_back(choice.holds);
    if (choice.page)
      seen.insert(seen.end(), {choice.page->rows, choice.page->kept});
  }
  return seen;
}

/// What stretches that are executed must not be joined across.
static void keepApart(const PlacedProgram &placed, const StretchRules &rules,
                      std::vector<Around> &around) {
  for (ValueId id = 0; id < around.size(); ++id)
    for (uint32_t level = 0; level < placed.levels.size(); ++level)
      if (computedAt(placed, id)[level].isWhole())
        around[id].everywhere.push_back(level);
  for (ValueId id : rules.alone)
    around[id].alone = id;
  // What makes them must be there when they are looked at.
  for (ValueId id : lookedAt(placed))
    around[id].behind.insert(id);
}

static std::vector<Around> allAround(const PlacedProgram &placed, const StretchRules &rules) {
  const std::vector<PlacedValue> &values = placed.values;
  Kinds kinds(placed, rules);
  std::vector<Around> around(values.size());
  std::vector<Region> regions = regionsOf(placed);
  // The body of a `parallel` over parts takes as long as the values around it, but is not executed with them.
  if (rules.areExecuted)
    for (const PlacedParts &parts : placed.parts)
      regions.push_back({parts.first, parts.body(), parts.end});
  sortRegions(regions);
  for (const Region &region : regions)
    for (ValueId id = region.begin; id < region.end; ++id)
      around[id].region = region.name;
  if (rules.areExecuted)
    keepApart(placed, rules, around);
  for (ValueId id = 0; id < values.size(); ++id)
    if (values[id].kind == PlacedKind::Call)
      around[id].call = id - static_cast<ValueId>(values[id].result);
  for (ValueId id = 0; id < values.size(); ++id)
    for (uint32_t level = 0; level < placed.levels.size(); ++level)
      if (const LevelPlacement &at = computedAt(placed, id)[level]; at.isSingle())
        around[id].single.push_back({level, at.stage ? 0 : at.part, at.stage.id()});
  // Operands have lower numbers than what uses them, so one pass forwards finds everything that a
  // value waits for, and one backwards everything that waits for it.
  for (ValueId id = 0; id < values.size(); ++id)
    for (std::optional<ValueId> operand : values[id].operands) {
      if (!operand)
        continue;
      around[id].before.insert(around[*operand].before.begin(), around[*operand].before.end());
      if (kinds.isAwaited(*operand))
        around[id].before.insert(*operand);
    }
  for (const PlacedLoop &loop : placed.loops)
    for (size_t i = 0; i < loop.carried.size(); ++i)
      // The next iteration needs the next value, even if nothing behind the loop reads it.
      around[loop.carried[i].next].behind.insert(loop.first + static_cast<ValueId>(i));
  for (ValueId id = static_cast<ValueId>(values.size()); id-- > 0;)
    for (std::optional<ValueId> operand : values[id].operands) {
      if (!operand)
        continue;
      around[*operand].behind.insert(around[id].behind.begin(), around[id].behind.end());
      if (kinds.isAwaited(id))
        around[*operand].behind.insert(id);
    }
  // One execution of a call makes all of its results.
  for (ValueId id = 0; id < values.size(); ++id)
    if (rules.areExecuted && around[id].call)
      around[id] = around[*around[id].call];
  return around;
}

/// Whether all elements of a value are elements of its operand.
static bool keepsElements(const PlacedProgram &placed, const PlacedValue &value) {
  if (value.kind == PlacedKind::Convert)
    return value.elem == placed.values[*value.operands[0]].elem;
  if (value.kind == PlacedKind::Index)
    return !value.hasOutside &&
           std::ranges::all_of(value.selected,
                               [](const PlacedSelection &each) { return each.operand == 0; });
  if (value.kind != PlacedKind::Apply)
    return value.kind == PlacedKind::Reshape;
  OpId op = cast<OpExpr>(*value.expr).op->id;
  return op == OpId::Transpose || op == OpId::Reshape || op == OpId::Broadcast;
}

/// Values that only reorder or reshape elements, and that whatever computes with them reads in
/// place.
static std::vector<bool> readInPlace(const PlacedProgram &placed, const Kinds &kinds,
                                     const std::vector<ValueId> &used) {
  std::vector<bool> inPlace;
  for (ValueId id = 0; id < placed.values.size(); ++id)
    inPlace.push_back(kinds.isComputed(id) && keepsElements(placed, placed.values[id]));
  for (ValueId id = 0; id < placed.values.size(); ++id)
    for (std::optional<ValueId> operand : placed.values[id].operands)
      if (operand && !kinds.isComputed(id))
        inPlace[*operand] = false;
  for (ValueId id : used)
    inPlace[id] = false;
  return inPlace;
}

/// Values that are results or begin the next round of a loop.
static std::vector<ValueId> keptValues(const PlacedProgram &placed) {
  std::vector<ValueId> kept = placed.outputs;
  for (const PlacedLoop &loop : placed.loops)
    for (const PlacedCarried &each : loop.carried)
      kept.push_back(each.next);
  return kept;
}

std::vector<bool> usedValues(const PlacedProgram &placed) {
  std::vector<bool> isUsed(placed.values.size(), false);
  for (ValueId id = 0; id < placed.values.size(); ++id) {
    isUsed[id] = isUsed[id] || placed.values[id].kind != PlacedKind::Apply;
    for (std::optional<ValueId> operand : placed.values[id].operands)
      if (operand)
        isUsed[*operand] = true;
  }
  for (ValueId id : keptValues(placed))
    isUsed[id] = true;
  for (const PlacedChoice &choice : placed.choices)
    if (choice.page)
      isUsed[choice.page->kept] = true;
  return isUsed;
}

static void addOnce(std::vector<ValueId> &to, ValueId id) {
  if (std::ranges::find(to, id) == to.end())
    to.push_back(id);
}

std::vector<Stretch> stretchesOf(const PlacedProgram &placed, const StretchRules &rules) {
  const std::vector<PlacedValue> &values = placed.values;
  Kinds kinds(placed, rules);
  std::vector<ValueId> kept = keptValues(placed);
  if (rules.areExecuted)
    std::ranges::copy(lookedAt(placed), std::back_inserter(kept));
  for (ValueId id : rules.alone) {
    kept.push_back(id);
    // Whoever computes it in pieces needs its operands as values.
    for (std::optional<ValueId> operand : values[id].operands)
      if (operand)
        kept.push_back(*operand);
  }
  std::vector<bool> inPlace = readInPlace(placed, kinds, kept);
  std::vector<Around> around = allAround(placed, rules);
  std::map<Around, size_t> numbers;
  std::vector<Stretch> stretches;
  std::vector<std::optional<size_t>> home(values.size());
  for (ValueId id = 0; id < values.size(); ++id) {
    if (!kinds.isComputed(id) || inPlace[id])
      continue;
    auto [found, isNew] = numbers.emplace(around[id], stretches.size());
    if (isNew)
      stretches.emplace_back().region = around[id].region;
    stretches[found->second].own.push_back(id);
    home[id] = found->second;
  }
  for (Stretch &stretch : stretches) {
    stretch.values = stretch.own;
    // The list grows by the values read in place, and by those that these read in place.
    for (size_t i = 0; i < stretch.values.size(); ++i)
      for (std::optional<ValueId> operand : values[stretch.values[i]].operands)
        if (operand && inPlace[*operand])
          addOnce(stretch.values, *operand);
    std::ranges::sort(stretch.values);
    auto isInside = [&](ValueId id) { return std::ranges::binary_search(stretch.values, id); };
    for (ValueId id : stretch.values)
      for (std::optional<ValueId> operand : values[id].operands)
        if (operand && !isInside(*operand)) {
          if (!isNumber(values[*operand]))
            addOnce(stretch.inputs, *operand);
          if (home[*operand])
            addOnce(stretches[*home[*operand]].outputs, *operand);
        }
  }
  for (ValueId id = 0; id < values.size(); ++id)
    for (std::optional<ValueId> operand : values[id].operands)
      // An `Arm` uses the value as a condition, which is known from sizes and takes no work when times are predicted.
      if (operand && home[*operand] && !kinds.isComputed(id) &&
          (rules.areExecuted || values[id].kind != PlacedKind::Arm))
        addOnce(stretches[*home[*operand]].outputs, *operand);
  for (ValueId id : kept)
    if (home[id])
      addOnce(stretches[*home[id]].outputs, id);
  for (ValueId id = 0; id < values.size(); ++id)
    if (rules.areExecuted && home[id] && values[id].kind == PlacedKind::Call)
      addOnce(stretches[*home[id]].outputs, id);
  return stretches;
}

} // namespace ptl::parts
