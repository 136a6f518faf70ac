#include "frontend/sema/analysis/loop_domain.h"
#include "frontend/sema/analysis/loop_slots.h"

namespace ptl {

bool mentions(Dim dim, const std::function<bool(SymbolId)> &which) {
  bool found = false;
  if (dim)
    forEachSymbol(dim, [&](SymbolId symbol) { found = found || which(symbol); });
  return found;
}

// ---- Domains ------------------------------------------------------------------------------------

/// The bound, or a symbol that only the analysis knows.
static Dim known(DimContext &dims, LoopDomain &domain, Dim dim, const char *name) {
  // A bound that is no dimension gets a symbol, which has no value but can be compared with itself.
  domain.hasHiddenBounds = domain.hasHiddenBounds || !dim;
  return dim ? dim : dims.symbolDim(dims.addSymbol(name, SymbolKind::ScalarValue));
}

static Dim dimOf(const Expr *expr) { return expr ? expr->dim : Dim(); }

static void readTiles(DimContext &dims, const LoopHead &head, LoopDomain &domain) {
  const auto *tiles = cast<TilesExpr>(head.iterable);
  domain.kind = LoopDomain::Kind::Tiles;
  domain.lo = known(dims, domain, dimOf(tiles->lo), "the start");
  domain.hi = known(dims, domain, dimOf(tiles->hi), "the end");
  domain.size = known(dims, domain, dimOf(tiles->size), "the size");
  // Without a symbol the domain is in error.
  domain.start = head.range->start.symbol().value_or(SymbolId());
  domain.len = head.range->length.symbol().value_or(SymbolId());
  domain.count = head.range->count.symbol().value_or(SymbolId());
  // The end of a range is a symbol of its own, so that the end of one can be the start of the next.
  domain.end = dims.addSymbol("the end", SymbolKind::ScalarValue);
}

LoopDomain loopDomain(DimContext &dims, const LoopHead &head) {
  LoopDomain domain;
  domain.var = head.var;
  domain.span = head.var ? head.var->span : kNoSpan;
  domain.index = head.var ? head.var->symbol : std::nullopt;
  domain.step = dims.constant(1);
  if (!head.iterable || !head.var)
    return domain;
  const Type *type = head.iterable->type;
  if (head.iterable->kind == ExprKind::Tiles && head.range) {
    readTiles(dims, head, domain);
  } else if (type->kind == TypeKind::Range) {
    const RangeInfo &range = *type->range;
    domain.lo = range.start;
    domain.step = known(dims, domain, range.step, "the step of the loop");
    if (head.iterable->kind == ExprKind::Range)
      // The end as written is exact, while the one from the length may lie beyond it.
      domain.hi = dimOf(cast<RangeExpr>(head.iterable)->hi);
    else
      domain.hi = dims.add(range.start, dims.mul(range.step, range.length));
    domain.lo = known(dims, domain, domain.lo, "the start of the loop");
    domain.hi = known(dims, domain, domain.hi, "the end of the loop");
  } else {
    domain.kind = LoopDomain::Kind::List;
    domain.hasItems =
        head.iterable->kind == ExprKind::List && !cast<ListExpr>(head.iterable)->elements.empty();
  }
  return domain;
}

std::optional<SymbolId> LoopDomain::firstSymbol() const {
  return kind == Kind::Tiles ? std::optional<SymbolId>(start) : index;
}

bool LoopDomain::isOwn(SymbolId symbol) const {
  if (kind == Kind::Tiles)
    return symbol == start || symbol == len || symbol == count;
  return index && symbol == *index;
}

void LoopDomain::addFacts(FactSet &facts) const {
  if (kind == Kind::Tiles)
    facts.addTilesRange({start, len, count, lo, hi, size, true, span});
  else if (kind == Kind::Index && index)
    facts.addLoopIndex({*index, lo, hi, step, span});
}

bool LoopDomain::surelyRuns(const FactSet &before) const {
  return kind == Kind::List ? hasItems : before.proveLess(lo, hi).isTrue();
}

// ---- Joining iterations -------------------------------------------------------------------------

bool Joiner::dependsOn(const AxisSet &set) const {
  auto own = [&](SymbolId symbol) { return domain.isOwn(symbol); };
  if (mentions(set.start, own) || mentions(set.stop, own) || mentions(set.step, own))
    return true;
  for (const AxisSet &index : set.index)
    if (dependsOn(index))
      return true;
  return false;
}

bool Joiner::isForeign(SymbolId symbol) const {
  auto first = domain.firstSymbol();
  // Symbols are numbered in the order in which they are made. What comes after the loop's first
  // symbol was made within the loop.
  return first && symbol >= *first && !domain.isOwn(symbol);
}

/// Whether a set speaks of what has another value in every iteration, besides the variable itself.
bool Joiner::isForeign(const AxisSet &set) const {
  auto inner = [&](SymbolId symbol) { return isForeign(symbol); };
  if (mentions(set.start, inner) || mentions(set.stop, inner) || mentions(set.step, inner))
    return true;
  // The same holds for locals, which are numbered in order too.
  if (set.local && domain.var && set.local->index >= domain.var->index)
    return true;
  for (const AxisSet &index : set.index)
    if (isForeign(index))
      return true;
  return false;
}

/// The operands of `dim` when it is one `min`.
static const std::span<const Dim> *minOperands(Dim dim) {
  if (dim.terms().size() != 1)
    return nullptr;
  const DimTerm &term = dim.terms()[0];
  if (term.coefficient != 1 || term.monomial->factors.size() != 1 ||
      term.monomial->factors[0].power != 1)
    return nullptr;
  const DimAtom &atom = *term.monomial->factors[0].atom;
  return atom.kind == DimAtomKind::Min ? &atom.operands : nullptr;
}

Dim Joiner::boundAtEnd(Dim bound, SymbolId index, Dim lo, Dim hi, Dim step, bool isUpper) const {
  DimContext &dims = facts.context();
  auto at = [&](Dim value) { return dims.substitute(bound, {{index, value}}); };
  // The rounds before this one end at it.
  if (isSoFar)
    return at(hi);
  // The end of a loop need not be a position of it, and lies before the start where nothing runs.
  Dim extent = dims.sub(hi, lo);
  bool surelyOrdered = before.proveLessEqual(lo, hi).isTrue();
  bool isReached = step.isConstant(1) || (extent && before.proveDivides(step, extent).isTrue());
  if (surelyOrdered && isReached)
    return at(hi);
  Dim rounds = dims.ceilDiv(extent, step);
  if (!surelyOrdered)
    rounds = dims.max(rounds, dims.constant(0));
  Dim end = dims.add(lo, dims.mul(step, rounds));
  if (end && end.isConstant())
    return at(end);
  // A bound that moves evenly and the right way is never further at `hi` than at the end of the
  // rounds, so the simpler one serves.
  Dim next = at(dims.add(dims.symbolDim(index), dims.constant(1)));
  Dim slope = isUpper ? dims.sub(next, bound) : dims.sub(bound, next);
  bool isEven = slope && !mentions(slope, [&](SymbolId symbol) { return symbol == index; });
  return at(isEven && before.proveNonNegative(slope).isTrue() ? hi : end);
}

/// Intervals of step 1 whose neighbours adjoin or overlap, upwards or downwards.
std::optional<AxisSet> Joiner::joinUnit(const AxisSet &set, SymbolId index, Dim lo, Dim hi,
                                        Dim step) const {
  DimContext &dims = facts.context();
  auto at = [&](Dim dim, Dim value) { return dims.substitute(dim, {{index, value}}); };
  // The union of all intervals is one interval if each reaches the start of the next.
  Dim next = dims.add(dims.symbolDim(index), step);
  Dim nextStart = at(set.start, next);
  // Past a limit of dimensions nothing is known, and what is unknown must prove nothing.
  if (!nextStart)
    return std::nullopt;
  AxisSet all = set;
  all.start = at(set.start, lo);
  bool isRising = facts.proveLessEqual(set.start, nextStart).isTrue();
  if (isRising) {
    // The last interval ends where the next would begin.
    all.stop = boundAtEnd(set.start, index, lo, hi, step, true);
    if (set.stop == nextStart || facts.proveLessEqual(nextStart, set.stop).isTrue())
      return all;
    // A last tile that is cut has the end `min(next start, bound)`.
    if (const auto *operands = minOperands(set.stop)) {
      bool reachesNext = false;
      std::vector<Dim> ends = {all.stop};
      for (Dim operand : *operands) {
        bool isNext = operand == nextStart;
        reachesNext = reachesNext || isNext;
        // A bound that differs between iterations has no common value.
        if (!isNext && mentions(operand, [&](SymbolId symbol) { return symbol == index; }))
          return std::nullopt;
        if (!isNext)
          ends.push_back(operand);
      }
      if (reachesNext) {
        all.stop = dims.min(ends);
        return all;
      }
    }
    return std::nullopt;
  }
  // Descending intervals adjoin the other way round.
  if (step.isConstant(1) && at(set.stop, next) == set.start) {
    all.start = boundAtEnd(set.stop, index, lo, hi, step, false);
    all.stop = at(set.stop, lo);
    return all;
  }
  return std::nullopt;
}

std::optional<AxisSet> Joiner::joinIndex(const AxisSet &set, SymbolId index, Dim lo, Dim hi,
                                         Dim step) const {
  DimContext &dims = facts.context();
  auto own = [&](SymbolId symbol) { return symbol == index; };
  auto at = [&](Dim dim, Dim value) { return dims.substitute(dim, {{index, value}}); };
  // A step that changes from one iteration to the next gives no regular set.
  if (mentions(set.step, own))
    return std::nullopt;
  if (set.step.isConstant(1))
    if (auto joined = joinUnit(set, index, lo, hi, step))
      return joined;
  // The positions of neighbouring iterations are this far apart.
  Dim delta = dims.sub(at(set.start, dims.add(dims.symbolDim(index), step)), set.start);
  if (!delta || mentions(delta, own))
    return std::nullopt;
  AxisSet all = set;
  all.start = at(set.start, lo);
  // Single positions at a constant distance form a strided interval.
  bool isPoint = set.step.isConstant(1) && dims.sub(set.stop, set.start).isConstant(1);
  if (isPoint && facts.proveLess(dims.constant(0), delta).isTrue()) {
    all.stop = boundAtEnd(set.start, index, lo, hi, step, true);
    all.step = delta;
    return all;
  }
  // One of each remainder: up to a common end, or up to the same number of each. The end says
  // nothing of the number of rounds, so there must be some.
  bool interleaves = !set.step.isConstant(1) && delta.isConstant(1) && step.isConstant(1) &&
                     facts.proveEqual(dims.sub(hi, lo), set.step).isTrue() &&
                     held().proveLess(lo, hi).isTrue();
  Dim length = dims.sub(set.stop, set.start);
  bool isCommon = !mentions(set.stop, own);
  if (!interleaves ||
      (!isCommon && (mentions(length, own) || !facts.proveDivides(set.step, length).isTrue())))
    return std::nullopt;
  all.step = dims.constant(1);
  all.stop = isCommon ? set.stop : dims.add(all.start, length);
  return all;
}

/// Intervals that go downwards as the tiles go upwards, `N - 1 - index(r)`: each ends where the one before begins.
std::optional<AxisSet> Joiner::joinMirrored(const AxisSet &set) const {
  DimContext &dims = facts.context();
  Dim start = dims.symbolDim(domain.start), end = dims.symbolDim(domain.end);
  auto own = [&](SymbolId symbol) { return domain.isOwn(symbol); };
  auto notStart = [&](SymbolId symbol) { return symbol == domain.len || symbol == domain.count; };
  if (!set.step.isConstant(1) || mentions(set.stop, notStart))
    return std::nullopt;
  // Where this interval begins, in terms of the end of the tile, at which the next tile starts.
  Dim first = dims.substitute(set.start, {{domain.len, dims.sub(end, start)}});
  if (!first || mentions(first, own) || first != dims.substitute(set.stop, {{domain.start, end}}))
    return std::nullopt;
  AxisSet all = set;
  all.start = boundAtEnd(set.stop, domain.start, domain.lo, isSoFar ? start : domain.hi,
                         dims.constant(1), false);
  all.stop = dims.substitute(set.stop, {{domain.start, domain.lo}});
  return all;
}

std::optional<AxisSet> Joiner::joinTiles(const AxisSet &set) const {
  if (auto mirrored = joinMirrored(set))
    return mirrored;
  DimContext &dims = facts.context();
  Dim start = dims.symbolDim(domain.start), end = dims.symbolDim(domain.end),
      count = dims.symbolDim(domain.count);
  Dim hi = isSoFar ? start : domain.hi;
  auto own = [&](SymbolId symbol) { return domain.isOwn(symbol); };
  auto notStart = [&](SymbolId symbol) { return symbol == domain.len || symbol == domain.count; };
  auto from = [&](Dim dim, Dim value) { return dims.substitute(dim, {{domain.start, value}}); };
  // The start depends only on the start of the range, so consecutive ranges adjoin if this one ends
  // where the next begins.
  if (!mentions(set.start, notStart) && !mentions(set.step, own)) {
    // Where this interval stops, in terms of the end of the range, at which the next range starts.
    Dim stop = dims.substitute(set.stop, {{domain.len, dims.sub(end, start)}});
    AxisSet all = set;
    all.start = from(set.start, domain.lo);
    // Each range begins where the one before ends, so the last one ends at the end of the loop.
    all.stop = boundAtEnd(set.start, domain.start, domain.lo, hi, dims.constant(1), true);
    if (!stop)
      return std::nullopt;
    if (set.step.isConstant(1) && !mentions(stop, own) && stop == from(set.start, end))
      return all;
    // These are strided sets whose start moves by one step for each position of the range.
    bool strides =
        !set.step.isConstant(1) &&
        dims.sub(from(set.start, dims.add(start, dims.constant(1))), set.start) == set.step;
    if (strides && stop == from(set.start, end))
      return all;
  }
  auto isLen = [&](SymbolId symbol) { return symbol == domain.len; };
  if (mentions(set.start, isLen) || mentions(set.stop, isLen) || mentions(set.step, isLen))
    return std::nullopt;
  // Otherwise the ranges are counted: the k-th begins at `lo + k * size`. Its length may be shorter
  // at the end, so it must not matter.
  Dim origin = dims.add(domain.lo, dims.mul(domain.size, count));
  AxisSet counted = set;
  counted.start = from(set.start, origin);
  counted.stop = from(set.stop, origin);
  counted.step = from(set.step, origin);
  Dim all = isSoFar ? count : dims.ceilDiv(dims.sub(domain.hi, domain.lo), domain.size);
  return joinIndex(counted, domain.count, dims.constant(0), all, dims.constant(1));
}

std::optional<AxisSet> Joiner::joinAxis(const AxisSet &set) const {
  // The elements that a table names for all iterations are those at all positions.
  if (set.kind == AxisSet::Kind::Lookup && set.index.size() == 1) {
    auto index = joinAxis(set.index[0]);
    AxisSet all = set;
    if (index)
      all.index[0] = *index;
    return index ? std::optional<AxisSet>(all) : std::nullopt;
  }
  if (!set.isInterval())
    return std::nullopt;
  if (domain.kind == LoopDomain::Kind::Tiles)
    return joinTiles(set);
  if (domain.kind != LoopDomain::Kind::Index || !domain.index)
    return std::nullopt;
  Dim hi = isSoFar ? facts.context().symbolDim(*domain.index) : domain.hi;
  return joinIndex(set, *domain.index, domain.lo, hi, domain.step);
}

std::optional<Region> Joiner::joinOne(const Region &region, Unjoined *why) const {
  // Only one axis may move, because a union of boxes that move along two is no box.
  size_t moving = SIZE_MAX;
  for (size_t i = 0; i < region.axes.size(); ++i) {
    if (isForeign(region.axes[i])) {
      *why = Unjoined::OtherValue;
      return std::nullopt;
    }
    if (!dependsOn(region.axes[i]))
      continue;
    if (moving != SIZE_MAX) {
      *why = Unjoined::TwoAxes;
      return std::nullopt;
    }
    moving = i;
  }
  // A region that is the same in each iteration is written if the loop runs at all.
  if (moving == SIZE_MAX) {
    *why = Unjoined::MayNotRun;
    return !isSoFar && domain.surelyRuns(before) ? std::optional<Region>(region) : std::nullopt;
  }
  auto joined = joinAxis(region.axes[moving]);
  if (!joined || !joined->isKnown()) {
    *why = region.axes[moving].isInterval() ? Unjoined::Gaps : Unjoined::OtherValue;
    return std::nullopt;
  }
  Region all = region;
  all.axes[moving] = *joined;
  return all;
}

std::optional<Region> Joiner::join(const Region &region, Unjoined *why) const {
  if (region.slot)
    return joinSlots(*this, region, why);
  if (auto joined = joinOne(region, why))
    return joined;
  // A region over two axes may be one position that is split by division, which slots describe.
  Unjoined ofSlots = *why;
  auto slotted = withSlot(*this, region);
  return slotted ? joinSlots(*this, *slotted, &ofSlots) : std::nullopt;
}

} // namespace ptl
