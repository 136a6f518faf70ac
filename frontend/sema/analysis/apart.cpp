#include "frontend/sema/analysis/apart.h"

#include <algorithm>
#include <numeric>

namespace ptl {

/// Whether positions never agree modulo a common divisor of what varies.
static bool differInRemainder(DimContext &dims, const AxisSet &a, const AxisSet &b) {
  int64_t divisor = 0, remainder = 0;
  auto useStep = [&](const AxisSet &set) {
    // A single position has no step that matters.
    bool isPoint = dims.sub(set.stop, set.start).isConstant(1);
    if (isPoint)
      return true;
    auto step = set.step.constant();
    if (!step)
      return false;
    divisor = std::gcd(divisor, *step);
    return true;
  };
  if (!useStep(a) || !useStep(b))
    return false;
  // Monomials are whole numbers, so each term with a symbol is a multiple of its coefficient,
  // whatever the symbols are.
  for (const DimTerm &term : dims.sub(a.start, b.start).terms()) {
    if (term.monomial->isOne())
      remainder = term.coefficient;
    else
      divisor = std::gcd(divisor, term.coefficient);
  }
  return divisor > 1 && remainder % divisor != 0;
}

bool ApartProof::areDifferent(Dim a, Dim b, const FactSet &facts) const {
  auto isPair = [&](const ValuePair &pair) { return pair.earlier == a && pair.later == b; };
  // Of a value that is too large everything would count as proved.
  if (!a || !b)
    return false;
  return std::any_of(known_.distinct.begin(), known_.distinct.end(), isPair) ||
         facts.proveLess(a, b).isTrue() || facts.proveLess(b, a).isTrue();
}

bool ApartProof::isApart(const AxisSet &a, const AxisSet &b, const FactSet &facts) {
  if (a.kind == AxisSet::Kind::Lookup && b.kind == AxisSet::Kind::Lookup && a.local == b.local) {
    // An array that is declared within the loop has other values in the other iteration, so positions in it say nothing.
    if (known_.firstVar && a.local->index >= known_.firstVar->index)
      return false;
    bool differ = false;
    for (size_t i = 0; i < a.index.size() && i < b.index.size() && !differ; ++i)
      differ = isApart(a.index[i], b.index[i], facts);
    if (differ && !known_.contents.unique.contains(a.local)) {
      miss_ = NearMiss{{}, facts, {}, a.local};
      return false;
    }
    return differ;
  }
  if (!a.isInterval() || !b.isInterval() || !a.isKnown() || !b.isKnown())
    return false;
  if (differInRemainder(dims_, a, b))
    return true;
  Verdict before = facts.proveLessEqual(a.stop, b.start);
  if (before.isTrue() || facts.proveLessEqual(b.stop, a.start).isTrue())
    return true;
  if (!before.isFalse() && !miss_)
    miss_ = NearMiss{before, facts, {}, nullptr};
  return false;
}

/// The facts and which of the two values comes first.
FactSet ApartProof::ordered(const FactSet &facts, ValuePair pair, Precedence order) {
  FactSet more = facts;
  if (order == Precedence::Same) {
    more.addEqual(pair.earlier, pair.later);
    return more;
  }
  Dim distance =
      dims_.add(dims_.symbolDim(dims_.addSymbol("m'", SymbolKind::RangeCount)), dims_.constant(1));
  if (order == Precedence::Later)
    std::swap(pair.earlier, pair.later);
  more.addEqual(pair.later, dims_.add(pair.earlier, distance));
  return more;
}

bool ApartProof::byCases(const std::vector<AxisPair> &axes, const FactSet &facts, size_t next,
                         int quotients) {
  for (const AxisPair &axis : axes)
    if (isApart(axis.earlier, axis.later, facts))
      return true;
  // Each pair splits the proof into three cases, so their number is bounded.
  size_t rounds = std::min(known_.rounds.size(), maxRounds);
  size_t distinct = std::min(known_.distinct.size(), maxDistinct);
  if (next >= rounds + distinct)
    return byQuotients(axes, facts, quotients);
  bool isRound = next < rounds;
  const ValuePair &pair = isRound ? known_.rounds[next] : known_.distinct[next - rounds];
  auto isExcluded = [&](Precedence order) {
    if (!pair.earlier || !pair.later)
      return false;
    if (order == Precedence::Same)
      return !isRound || areDifferent(pair.earlier, pair.later, facts);
    return order == Precedence::Earlier ? facts.proveLessEqual(pair.later, pair.earlier).isTrue()
                                        : facts.proveLessEqual(pair.earlier, pair.later).isTrue();
  };
  for (Precedence order : {Precedence::Earlier, Precedence::Later, Precedence::Same})
    // The regions are apart if they are so in every case that is possible.
    if (!isExcluded(order) && !byCases(axes, ordered(facts, pair, order), next + 1, quotients))
      return false;
  return true;
}

/// By a division whose dividends differ, and so differ their quotients or their remainders.
bool ApartProof::byQuotients(const std::vector<AxisPair> &axes, const FactSet &facts,
                             int quotients) {
  std::vector<Quotient> earlier, later;
  for (const AxisPair &axis : axes) {
    collectQuotients(axis.earlier, earlier);
    collectQuotients(axis.later, later);
  }
  // All pairs are tried, and each try may go a level deeper: the bounds keep programs with long
  // index expressions from taking minutes.
  if (quotients == 0 || earlier.size() > 16 || later.size() > 16)
    return false;
  for (const Quotient &each : earlier)
    for (const Quotient &other : later) {
      auto first = finestOf(dims_, earlier, each.dividend);
      auto second = finestOf(dims_, later, other.dividend);
      if (first != each || second != other || each.divisor != other.divisor ||
          each.dividend == other.dividend || !areDifferent(each.dividend, other.dividend, facts))
        continue;
      if (byQuotient(axes, facts, each, other, quotients - 1))
        return true;
    }
  return false;
}

bool ApartProof::byQuotient(const std::vector<AxisPair> &axes, const FactSet &facts,
                            const Quotient &earlier, const Quotient &later, int quotients) {
  auto fresh = [&](const char *name, SymbolKind kind) {
    return dims_.symbolDim(dims_.addSymbol(name, kind));
  };
  // With `a = q*d + r` and `0 <= r < d`, different `a` differ in `q`, or agree in it and differ in
  // `r`. A symbol of the kind of counts is known not to be negative, which is what `r` needs. A
  // divisor that is a dimension is at least 1, as in types.
  ValuePair quotient{fresh("q", SymbolKind::ScalarValue), fresh("q'", SymbolKind::ScalarValue)};
  ValuePair rest{fresh("r", SymbolKind::RangeCount), fresh("r'", SymbolKind::RangeCount)};
  std::vector<AxisPair> split;
  for (const AxisPair &axis : axes)
    split.push_back({splitBy(dims_, axis.earlier, earlier, quotient.earlier, rest.earlier),
                     splitBy(dims_, axis.later, later, quotient.later, rest.later)});
  FactSet inside = facts;
  inside.addLess(rest.earlier, earlier.divisor);
  inside.addLess(rest.later, later.divisor);
  auto proves = [&](const FactSet &more) {
    return std::any_of(
               split.begin(), split.end(),
               [&](const AxisPair &axis) { return isApart(axis.earlier, axis.later, more); }) ||
           byQuotients(split, more, quotients);
  };
  if (!proves(ordered(inside, quotient, Precedence::Earlier)) ||
      !proves(ordered(inside, quotient, Precedence::Later)))
    return false;
  FactSet same = ordered(inside, quotient, Precedence::Same);
  return proves(ordered(same, rest, Precedence::Earlier)) &&
         proves(ordered(same, rest, Precedence::Later));
}

} // namespace ptl
