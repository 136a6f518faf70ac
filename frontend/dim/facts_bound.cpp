#include "frontend/dim/facts_bound.h"

#include <algorithm>
#include <utility>

namespace ptl {

namespace {

class BoundSearch {
public:
  BoundSearch(const FactSet &facts, const AllowedSymbols &allowed)
      : context_(facts.context()), allowed_(allowed) {
    for (const Fact &fact : facts.facts()) {
      // Divisibility bounds nothing.
      if (fact.relation == Relation::Divides)
        continue;
      nonNegative_.push_back(context_.sub(fact.b, fact.a));
      if (fact.relation == Relation::Equal)
        nonNegative_.push_back(context_.sub(fact.a, fact.b));
    }
  }

  /// A polynomial that is never above `a`.
  Dim lower(Dim a) {
    search(a, 0);
    return best_;
  }

private:
  static constexpr int maxDepth = 8;
  static constexpr int maxSteps = 200;

  bool isAllowed(Dim a) const {
    bool all = true;
    forEachSymbol(a, [&](SymbolId symbol) { all = all && allowed_(symbol); });
    return all;
  }
  bool isAllowed(const DimAtom &atom) { return isAllowed(context_.atomDim(atom)); }

  /// The bound of a part, within the steps that are left.
  Dim inner(Dim a) {
    // The search of a part has a result of its own, and that of the whole goes on afterwards.
    Dim outer = std::exchange(best_, Dim());
    search(a, maxDepth / 2);
    return std::exchange(best_, outer);
  }
  void search(Dim a, int depth);
  void offer(Dim a);
  void replace(Dim a, const DimTerm &term, const DimAtom &atom, Dim rest, int depth);
  Dim multipleOfDivisor(const DimTerm &term, const DimAtom &quotient) const;
  Dim boundOfAll(const DimAtom &atom, bool below);
  std::vector<Dim> bounds(const DimAtom &atom, bool below);
  void symbolBounds(const DimAtom &atom, bool below, std::vector<Dim> &result);

  DimContext &context_;
  std::vector<Dim> nonNegative_; ///< what the facts say, outermost first
  const AllowedSymbols &allowed_;
  Dim best_;
  int steps_ = 0;
};

} // namespace

/// Fewer terms are simpler; of two constants the greater bounds better.
void BoundSearch::offer(Dim a) {
  if (!best_) {
    best_ = a;
    return;
  }
  bool constants = a.isConstant() && best_.isConstant();
  if (constants ? *a.constant() > *best_.constant() : a.terms().size() < best_.terms().size())
    best_ = a;
}

/// Bounds of a symbol from the facts in which it stands alone with coefficient 1 or -1.
void BoundSearch::symbolBounds(const DimAtom &atom, bool below, std::vector<Dim> &result) {
  Dim symbol = context_.atomDim(atom);
  for (Dim nonNegative : nonNegative_) {
    // The bits are a filter for facts that cannot mention the symbol.
    if ((nonNegative.symbolBits() & symbol.symbolBits()) == 0)
      continue;
    for (const DimTerm &term : nonNegative.terms())
      // s - e >= 0 bounds s from below by e, and e - s >= 0 from above.
      if (term.monomial == symbol.terms()[0].monomial && term.coefficient == (below ? 1 : -1))
        result.push_back(below ? context_.sub(symbol, nonNegative)
                               : context_.add(symbol, nonNegative));
  }
}

/// What is above the largest of a `max` is above all of its operands, and likewise below a `min`.
Dim BoundSearch::boundOfAll(const DimAtom &atom, bool below) {
  Dim all;
  for (Dim operand : atom.operands) {
    Dim bound = inner(below ? operand : context_.negate(operand));
    if (!bound)
      return {};
    bound = below ? bound : context_.negate(bound);
    all = !all ? bound : below ? context_.min(all, bound) : context_.max(all, bound);
  }
  return all;
}

/// Candidates for `candidate <= atom` (below) or `atom <= candidate`.
std::vector<Dim> BoundSearch::bounds(const DimAtom &atom, bool below) {
  std::vector<Dim> result;
  bool isMin = atom.kind == DimAtomKind::Min;
  switch (atom.kind) {
  case DimAtomKind::Symbol:
    symbolBounds(atom, below, result);
    break;
  case DimAtomKind::Min:
  case DimAtomKind::Max:
    // A maximum is above each of its operands, and a minimum below.
    if (isMin != below)
      result.assign(atom.operands.begin(), atom.operands.end());
    else
      result.push_back(boundOfAll(atom, below));
    break;
  case DimAtomKind::FloorDiv: {
    // Bounds of the dividend under a divisor that may stay; else a/b <= a for a >= 0.
    Dim a = atom.operands[0], b = atom.operands[1];
    if (isAllowed(b)) {
      Dim bound = inner(below ? a : context_.negate(a));
      // A quotient by a divisor of at least 1 is no more than its dividend.
      result.push_back(context_.floorDiv(below ? bound : context_.negate(bound), b));
    } else if (!below && context_.isPlainlyNonNegative(a)) {
      result.push_back(a);
    }
    break;
  }
  }
  if (below)
    if (std::optional<int64_t> bound = context_.plainLowerBound(context_.atomDim(atom)))
      result.push_back(context_.constant(*bound));
  std::erase(result, Dim());
  return result;
}

/// The `m` for which the term is `quotient * divisor * m`; unknown if the divisor is no part of it,
/// or may be 0.
Dim BoundSearch::multipleOfDivisor(const DimTerm &term, const DimAtom &quotient) const {
  Dim divisor = quotient.operands[1];
  if (context_.plainLowerBound(divisor).value_or(0) < 1)
    return {};
  std::optional<int64_t> number = divisor.constant();
  // A constant divisor has to divide the coefficient; a symbol has to be a factor of the monomial, which the loop below finds.
  if (number ? term.coefficient % *number != 0 : !divisor.symbol())
    return {};
  Dim rest = context_.constant(number ? term.coefficient / *number : term.coefficient);
  bool hasDivisor = number.has_value();
  for (const DimFactor &factor : term.monomial->factors) {
    uint32_t taken = factor.atom == &quotient ? 1 : 0;
    if (!hasDivisor && context_.atomDim(*factor.atom) == divisor) {
      taken = 1;
      hasDivisor = true;
    }
    for (uint32_t n = taken; n < factor.power; ++n)
      rest = context_.mul(rest, context_.atomDim(*factor.atom));
  }
  return hasDivisor ? rest : Dim();
}

/// a = term + others, term = coefficient*atom*rest.
void BoundSearch::replace(Dim a, const DimTerm &term, const DimAtom &atom, Dim rest, int depth) {
  Dim others = context_.sub(a, context_.termsDim({term}));
  // x - d < x/d * d <= x, by which `x % d` is below `d`, whatever `x` is.
  if (Dim times = atom.kind == DimAtomKind::FloorDiv ? multipleOfDivisor(term, atom) : Dim()) {
    Dim dividend = atom.operands[0], divisor = atom.operands[1];
    Dim least = context_.add(context_.sub(dividend, divisor), context_.constant(1));
    search(context_.add(others, context_.mul(term.coefficient > 0 ? least : dividend, times)),
           depth + 1);
  }
  // A bound of the atom bounds the polynomial, since the rest is not negative.
  for (Dim bound : bounds(atom, term.coefficient > 0)) {
    // A term with a negative coefficient needs the bound from the other side.
    Dim product = context_.scale(context_.mul(bound, rest), term.coefficient);
    search(context_.add(others, product), depth + 1);
  }
}

/// Tries the youngest symbol that may not stay: ends before starts, inner ranges before outer ones.
void BoundSearch::search(Dim a, int depth) {
  if (!a || depth > maxDepth || ++steps_ > maxSteps)
    return;
  const DimTerm *chosen = nullptr;
  const DimAtom *chosenAtom = nullptr;
  auto order = [&](const DimAtom &atom) {
    bool isStart = atom.kind == DimAtomKind::Symbol &&
                   context_.symbol(atom.symbol).kind == SymbolKind::RangeStart;
    return std::pair(isStart, atom.id);
  };
  for (const DimTerm &term : a.terms())
    for (const DimFactor &factor : term.monomial->factors)
      if (!isAllowed(*factor.atom) && (!chosen || order(*factor.atom) > order(*chosenAtom))) {
        chosen = &term;
        chosenAtom = factor.atom;
      }
  // All symbols that are left may stand in the answer.
  if (!chosen)
    return offer(a);
  Dim rest = context_.constant(1);
  for (const DimFactor &factor : chosen->monomial->factors)
    for (uint32_t n = factor.atom == chosenAtom ? 1 : 0; n < factor.power; ++n)
      rest = context_.mul(rest, context_.atomDim(*factor.atom));
  // With a rest that may be negative, the bound would turn around.
  if (context_.isPlainlyNonNegative(rest))
    replace(a, *chosen, *chosenAtom, rest, depth);
}

Dim boundFromBelow(const FactSet &facts, Dim a, const AllowedSymbols &allowed) {
  return BoundSearch(facts, allowed).lower(a);
}

} // namespace ptl
