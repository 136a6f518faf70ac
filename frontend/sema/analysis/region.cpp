// Inclusion, emptiness and union of regions.
#include "frontend/sema/analysis/region.h"

#include <algorithm>

namespace ptl {

/// Unions that stay in more parts than this are not joined by proofs any further.
static constexpr size_t kMostParts = 24;

static bool isUnit(Dim step) { return step.isConstant(1); }

const ElementSymbol *KnownValues::element(Dim symbol) const {
  auto id = symbol ? symbol.symbol() : std::nullopt;
  for (const ElementSymbol &each : elements)
    if (id && each.symbol == *id)
      return &each;
  return nullptr;
}

bool Contents::includes(const Contents &other) const {
  auto holds = [](const auto &all, const auto &some) {
    return std::all_of(some.begin(), some.end(),
                       [&](const Local *local) { return all.contains(local); });
  };
  return holds(unique, other.unique) && holds(sorted, other.sorted) &&
         holds(permutations, other.permutations);
}

void Contents::add(const Contents &other) {
  unique.insert(other.unique.begin(), other.unique.end());
  sorted.insert(other.sorted.begin(), other.sorted.end());
  permutations.insert(other.permutations.begin(), other.permutations.end());
}

AxisSet widest(AxisSet set) {
  // What is unknown may still be known to lie in an interval.
  if (set.kind == AxisSet::Kind::Unknown && set.start)
    set.kind = AxisSet::Kind::Interval;
  return set;
}

/// Where an iteration starts is no question for the prover: it is 0 in the first one only.
static bool mayStartAtZero(const FactSet &facts, Dim start) {
  DimContext &dims = facts.context();
  bool moves = false;
  forEachSymbol(start, [&](SymbolId symbol) {
    SymbolKind kind = dims.symbol(symbol).kind;
    moves = moves || kind == SymbolKind::RangeStart || kind == SymbolKind::RangeCount ||
            kind == SymbolKind::LoopIndex;
  });
  return !moves && facts.proveLessEqual(start, dims.constant(0)).isTrue();
}

Dim countOfEach(const KnownValues &values, const FactSet &facts, const AxisSet &set) {
  if (set.kind == AxisSet::Kind::Each)
    return set.stop;
  if (set.kind != AxisSet::Kind::Lookup || !values.contents.permutations.contains(set.local) ||
      set.index.size() != 1)
    return {};
  // A table that is a permutation names each position once if it is read at all of its positions.
  Regions positions{facts, set.local->type, values};
  return positions.isFull(set.index[0], 0) ? set.local->type->extents[0].length : Dim();
}

bool Regions::isFull(const AxisSet &set, size_t axis) const {
  if (set.kind == AxisSet::Kind::Full)
    return true;
  if (Dim count = countOfEach(values, facts, set))
    return facts.proveLessEqual(extent(axis), count).isTrue();
  if (!set.isInterval() || !isUnit(set.step))
    return false;
  // The quick test comes before the proof, which is expensive.
  if (!set.start.isConstant(0) && !mayStartAtZero(facts, set.start))
    return false;
  Dim end = extent(axis);
  return (set.stop == end || facts.proveLessEqual(end, set.stop).isTrue());
}

bool Regions::isFull(const Region &region) const {
  // The union over slots is never known to be complete.
  if (region.slot)
    return false;
  for (size_t i = 0; i < region.axes.size(); ++i)
    if (!isFull(region.axes[i], i))
      return false;
  return true;
}

bool Regions::contains(const AxisSet &outer, const AxisSet &inner, size_t axis) const {
  // Equal sets hold each other, unless it is unknown which positions they are.
  if (outer.kind == AxisSet::Kind::Full || (outer == inner && outer.isKnown()))
    return true;
  if (!outer.isInterval())
    return false;
  if (!inner.isInterval()) {
    // What is unknown is inside if all that it may be is.
    AxisSet most = widest(inner);
    return most.isInterval() ? contains(outer, most, axis) : isFull(outer, axis);
  }
  // A strided set holds another one only if both have the same remainder.
  bool sameClass = isUnit(outer.step) || (outer.step == inner.step && outer.start == inner.start);
  return sameClass &&
         (outer.start == inner.start || facts.proveLessEqual(outer.start, inner.start).isTrue()) &&
         (outer.stop == inner.stop || facts.proveLessEqual(inner.stop, outer.stop).isTrue());
}

bool Regions::contains(const Region &outer, const Region &inner) const {
  if (outer == inner)
    return true;
  if (outer.axes.size() != inner.axes.size() || outer.slot)
    return false;
  for (size_t i = 0; i < outer.axes.size(); ++i)
    if (!contains(outer.axes[i], inner.axes[i], i))
      return false;
  return true;
}

bool Regions::isEmpty(const AxisSet &set, size_t axis) const {
  DimContext &dims = facts.context();
  Dim end = extent(axis);
  // An array without positions on an axis has no elements.
  if (end && facts.proveLessEqual(end, dims.constant(0)).isTrue())
    return true;
  return set.isInterval() && (facts.proveLessEqual(set.stop, set.start).isTrue() ||
                              (end && facts.proveLessEqual(end, set.start).isTrue()));
}

bool Regions::isEmpty(const Region &region) const {
  if (region.slot && region.slots.isInterval() &&
      facts.proveLessEqual(region.slots.stop, region.slots.start).isTrue())
    return true;
  for (size_t i = 0; i < region.axes.size(); ++i)
    if (isEmpty(region.axes[i], i))
      return true;
  return false;
}

bool Regions::containsAny(const std::vector<Region> &outers, const Region &inner) const {
  for (const Region &outer : outers)
    if (outer == inner || contains(outer, inner))
      return true;
  // A region without elements is contained in any, but proving that comes last.
  return !outers.empty() && isEmpty(inner);
}

/// `a` then `b`. Intervals that adjoin exactly need no proof of their order: `[p, q)` and `[q, r)`
/// together hold
/// `[p, r)` wherever `q` is.
std::optional<AxisSet> Regions::joinIntervals(const AxisSet &a, const AxisSet &b) const {
  DimContext &dims = facts.context();
  AxisSet all = a;
  // Only intervals without gaps can be joined by their ends.
  if (isUnit(a.step) && isUnit(b.step)) {
    if (a.stop == b.start || facts.proveEqual(a.stop, b.start).isTrue()) {
      all.stop = b.stop;
      return all;
    }
    bool overlaps = facts.proveLessEqual(a.start, b.start).isTrue() &&
                    facts.proveLessEqual(b.start, a.stop).isTrue();
    if (!overlaps)
      return std::nullopt;
    if (facts.proveLessEqual(a.stop, b.stop).isTrue())
      all.stop = b.stop;
    else if (!facts.proveLessEqual(b.stop, a.stop).isTrue())
      // If neither end is known to be the later one, their maximum is.
      all.stop = dims.max(a.stop, b.stop);
    return all;
  }
  if (a.step == b.step && a.start == b.start) {
    if (facts.proveLessEqual(a.stop, b.stop).isTrue())
      all.stop = b.stop;
    else if (!facts.proveLessEqual(b.stop, a.stop).isTrue())
      all.stop = dims.max(a.stop, b.stop);
    return all;
  }
  return std::nullopt;
}

std::optional<AxisSet> Regions::join(const AxisSet &a, const AxisSet &b, size_t axis) const {
  // One of the two may hold the other, whatever their form.
  if (contains(a, b, axis))
    return a;
  if (contains(b, a, axis))
    return b;
  if (!a.isInterval() || !b.isInterval())
    return std::nullopt;
  if (auto joined = joinIntervals(a, b))
    return joined;
  // The other order is tried as well.
  return joinIntervals(b, a);
}

/// Regions that differ on one axis only.
std::optional<Region> Regions::join(const Region &a, const Region &b) const {
  if (a.slot || b.slot)
    return a == b ? std::optional<Region>(a) : std::nullopt;
  size_t different = SIZE_MAX;
  for (size_t i = 0; i < a.axes.size(); ++i) {
    if (a.axes[i] == b.axes[i])
      continue;
    // Boxes that differ on two axes have a union that is no box.
    if (different != SIZE_MAX)
      return std::nullopt;
    different = i;
  }
  if (different == SIZE_MAX)
    return a;
  auto joined = join(a.axes[different], b.axes[different], different);
  if (!joined)
    return std::nullopt;
  Region region = a;
  region.axes[different] = *joined;
  return region;
}

/// Strided parts that differ in their starts alone: with one of each remainder they are everything
/// between.
static std::optional<Region> interleave(DimContext &dims, const FactSet &facts,
                                        const std::vector<Region> &all, const Region &last,
                                        std::vector<size_t> *parts) {
  for (size_t axis = 0; axis < last.axes.size(); ++axis) {
    const AxisSet &set = last.axes[axis];
    auto step = set.isInterval() ? set.step.constant() : std::nullopt;
    // A larger step would need as many parts, which no program has.
    if (!step || *step < 2 || *step > 64)
      continue;
    std::vector<const Region *> found(*step, nullptr);
    std::vector<size_t> numbers;
    Dim least = set.start;
    auto offsetOf = [&](const AxisSet &other) { return dims.sub(other.start, least).constant(); };
    // Regions are alike if only the start on this axis differs, by a constant.
    auto isAlike = [&](const Region &region) {
      const AxisSet &other = region.axes[axis];
      Region same = region;
      same.axes[axis] = set;
      return other.isInterval() && other.step == set.step && same == last &&
             offsetOf(other).has_value();
    };
    for (const Region &region : all)
      if (isAlike(region) && *offsetOf(region.axes[axis]) < 0)
        least = region.axes[axis].start;
    Dim stop;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!isAlike(all[i]))
        continue;
      int64_t offset = *offsetOf(all[i].axes[axis]);
      // Each remainder counts once.
      if (offset >= *step || found[offset])
        continue;
      found[offset] = &all[i];
      numbers.push_back(i);
      Dim end = all[i].axes[axis].stop;
      // The parts may end at different positions; together they are complete up to the earliest.
      if (!stop || facts.proveLessEqual(end, stop).isTrue())
        stop = end;
      else if (!facts.proveLessEqual(stop, end).isTrue())
        stop = dims.min(stop, end);
    }
    // One remainder is missing.
    if (numbers.size() != static_cast<size_t>(*step))
      continue;
    Region region = last;
    region.axes[axis].start = least;
    region.axes[axis].stop = stop;
    region.axes[axis].step = dims.constant(1);
    *parts = numbers;
    return region;
  }
  return std::nullopt;
}

void Regions::add(std::vector<Region> &all, Region region) const {
  for (size_t i = 0; i < region.axes.size(); ++i) {
    if (!region.axes[i].isKnown())
      return; // some positions, nobody knows which
    if (isFull(region.axes[i], i))
      region.axes[i] = AxisSet();
  }
  if (std::find(all.begin(), all.end(), region) != all.end())
    return;
  if (region.slot) {
    all.push_back(std::move(region));
    return;
  }
  // The region may join with one of the parts, and the result with others, so it is added again.
  for (size_t i = 0; i < all.size() && all.size() <= kMostParts; ++i) {
    auto joined = join(all[i], region);
    if (!joined)
      continue;
    all.erase(all.begin() + static_cast<ptrdiff_t>(i));
    return add(all, std::move(*joined));
  }
  all.push_back(region);
  std::vector<size_t> parts;
  auto joined = interleave(facts.context(), facts, all, region, &parts);
  if (!joined)
    return;
  // Indices stay valid when parts are removed from the end.
  for (size_t i = parts.size(); i-- > 0;)
    all.erase(all.begin() + static_cast<ptrdiff_t>(parts[i]));
  add(all, std::move(*joined));
}

} // namespace ptl
