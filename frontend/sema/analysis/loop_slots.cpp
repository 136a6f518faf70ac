#include "frontend/sema/analysis/loop_slots.h"

#include "frontend/sema/analysis/quotients.h"
#include "frontend/sema/context.h"

namespace ptl {

/// Divisions that one value may be taken apart by.
static constexpr int kMostDivisions = 4;

static AxisSet pointSet(DimContext &dims, Dim at) {
  AxisSet set;
  set.kind = AxisSet::Kind::Interval;
  set.start = at;
  set.stop = dims.add(at, dims.constant(1));
  set.step = dims.constant(1);
  return set;
}

static bool mentionsSymbol(const AxisSet &set, const std::function<bool(SymbolId)> &which) {
  if (mentions(set.start, which) || mentions(set.stop, which) || mentions(set.step, which))
    return true;
  for (const AxisSet &index : set.index)
    if (mentionsSymbol(index, which))
      return true;
  return false;
}

/// The region by the value whose quotients its axes follow, where all that has another value in
/// another iteration is in that value.
std::optional<Region> withSlot(const Joiner &loop, const Region &region) {
  DimContext &dims = loop.facts.context();
  std::vector<Quotient> quotients;
  for (const AxisSet &set : region.axes)
    collectQuotients(set, quotients);
  auto moves = [&](SymbolId symbol) { return loop.domain.isOwn(symbol) || loop.isForeign(symbol); };
  // Each value that axes divide is tried as the slot.
  for (const Quotient &each : quotients) {
    Dim slot = dims.symbolDim(dims.addSymbol("slot", SymbolKind::ScalarValue));
    auto solved = solvedSymbol(each.dividend, [](SymbolId) { return true; });
    // The value must contain a symbol that can be solved for, and must move with the loop.
    if (!solved || !mentions(each.dividend, moves))
      continue;
    // All occurrences of the symbol are expressed by the slot.
    Dim value = dims.sub(slot, dims.sub(each.dividend, dims.symbolDim(*solved)));
    Region result = region;
    bool isAlone = true;
    for (AxisSet &set : result.axes) {
      set = mapped(set, [&](Dim dim) { return dims.substitute(dim, {{*solved, value}}); });
      // Nothing else in the axes may move, or the slot would not say everything.
      bool isKnown = !set.isInterval() || (set.start && set.stop && set.step);
      isAlone = isAlone && isKnown && !mentionsSymbol(set, [&](SymbolId symbol) {
                  return moves(symbol) && symbol != *slot.symbol();
                });
    }
    if (!isAlone)
      continue;
    result.slot = *slot.symbol();
    result.slots = pointSet(dims, each.dividend);
    // An element of an array: the value goes over those of the array.
    if (const ElementSymbol *element = loop.values.element(each.dividend)) {
      result.slots.kind = AxisSet::Kind::Lookup;
      result.slots.local = element->table;
      result.slots.index = {pointSet(dims, element->index)};
      result.slots.start = result.slots.stop = result.slots.step = Dim();
    }
    return result;
  }
  return std::nullopt;
}

/// Takes a value below `count` apart: whole rounds of a divisor are all remainders for each
/// quotient.
static std::optional<Region> spread(const Joiner &loop, Region region, SymbolId slot, Dim count,
                                    int depth) {
  DimContext &dims = loop.facts.context();
  Dim zero = dims.constant(0), one = dims.constant(1), value = dims.symbolDim(slot);
  auto along = [&](FactSet inside, SymbolId index, Dim to, AxisSet &set) {
    inside.addLoopIndex({index, zero, to, one, loop.domain.span});
    Joiner joiner{inside, loop.domain, loop.held(), loop.values};
    auto joined = set.isInterval() ? joiner.joinIndex(set, index, zero, to, one) : std::nullopt;
    bool isKnown = joined && joined->isKnown();
    if (isKnown)
      set = *joined;
    return isKnown;
  };
  std::vector<size_t> moving;
  for (size_t i = 0; i < region.axes.size(); ++i)
    if (mentionsSymbol(region.axes[i], [&](SymbolId symbol) { return symbol == slot; }))
      moving.push_back(i);
  // With a single axis the slot is an ordinary loop over it.
  if (moving.size() == 1)
    return along(loop.facts, slot, count, region.axes[moving[0]]) ? std::optional(region)
                                                                  : std::nullopt;
  std::vector<Quotient> quotients;
  for (size_t axis : moving)
    collectQuotients(region.axes[axis], quotients);
  // The finest quotient is the one that all others are made of.
  auto finest = depth > 0 ? finestOf(dims, quotients, value) : std::nullopt;
  if (!finest || !loop.facts.proveNonNegative(finest->divisor).isTrue())
    return std::nullopt; // over nothing where the divisor is 0
  SymbolId quotient = dims.addSymbol("quotient", SymbolKind::RangeCount);
  SymbolId rest = dims.addSymbol("rest", SymbolKind::RangeCount);
  for (size_t axis : moving) {
    AxisSet &set = region.axes[axis];
    set = splitBy(dims, set, *finest, dims.symbolDim(quotient), dims.symbolDim(rest));
    bool byRest = mentionsSymbol(set, [&](SymbolId symbol) { return symbol == rest; });
    bool byOther =
        mentionsSymbol(set, [&](SymbolId symbol) { return symbol == quotient || symbol == slot; });
    // An axis may follow the remainder or the quotient, but not both.
    if (byRest && (byOther || !along(loop.facts, rest, finest->divisor, set)))
      return std::nullopt;
    if (mentionsSymbol(set, [&](SymbolId symbol) { return symbol == slot || symbol == rest; }))
      return std::nullopt;
  }
  return spread(loop, std::move(region), quotient, dims.floorDiv(count, finest->divisor),
                depth - 1);
}

/// The region without its slot, once that has been all values from 0 up to some number.
static std::optional<Region> spread(const Joiner &loop, const Region &region) {
  DimContext &dims = loop.facts.context();
  // All elements of a permutation are a stretch too.
  Dim count = countOfEach(loop.values, loop.facts, region.slots);
  const AxisSet &slots = region.slots;
  if (!count && slots.isInterval() && slots.step.isConstant(1) && slots.start.isConstant(0))
    count = slots.stop;
  if (!count)
    return std::nullopt;
  Region result = region;
  result.slot.reset();
  result.slots = {};
  return spread(loop, std::move(result), *region.slot, dims.max(count, dims.constant(0)),
                kMostDivisions);
}

std::optional<Region> joinSlots(const Joiner &loop, const Region &region, Unjoined *why) {
  auto moves = [&](SymbolId symbol) {
    return symbol != *region.slot && (loop.domain.isOwn(symbol) || loop.isForeign(symbol));
  };
  // The union is taken over the values of the slot alone, so nothing else in the region may move with the loop.
  for (const AxisSet &set : region.axes)
    if (mentionsSymbol(set, moves)) {
      *why = Unjoined::TwoAxes;
      return std::nullopt;
    }
  // The values of the slot are joined like positions on one axis.
  auto all = loop.joinOne({{region.slots}}, why);
  if (!all)
    return std::nullopt;
  Region result = region;
  result.slots = all->axes[0];
  // When the slot has come to cover a whole stretch, the axes can be given without it.
  auto covered = spread(loop, result);
  return covered ? covered : result;
}

} // namespace ptl
