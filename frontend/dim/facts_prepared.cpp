#include "frontend/dim/facts_prepared.h"

#include <algorithm>
#include <numeric>

namespace ptl {

using Prepared = FactSet::Prepared;

/// Symbols that stand for others go first, so that normal forms speak of parameters.
static int rank(SymbolKind kind) {
  switch (kind) {
  case SymbolKind::RangeStart:
    return 6;
  case SymbolKind::RangeLen:
    return 5;
  case SymbolKind::LoopIndex:
    return 4;
  case SymbolKind::ScalarValue:
    return 3;
  case SymbolKind::RangeCount:
    return 2;
  case SymbolKind::DimensionParam:
    return 1;
  case SymbolKind::Tunable:
    return 0;
  }
  return 0;
}

/// A symbol that occurs in `a` only as a term of its own with coefficient 1 or -1, and not in `b`.
static std::optional<DimTerm> isolable(const DimContext &context, Dim a, Dim b) {
  std::optional<DimTerm> best;
  std::pair<int, uint32_t> bestRank;
  for (const DimTerm &term : a.terms()) {
    // Only a symbol with coefficient 1 or -1 can be solved for over the integers.
    if (term.monomial->degree != 1 || (term.coefficient != 1 && term.coefficient != -1))
      continue;
    const DimAtom &atom = *term.monomial->factors[0].atom;
    // The solution must not mention the symbol itself.
    if (atom.kind != DimAtomKind::Symbol || b.mentions(atom.symbol))
      continue;
    // Among several, the one that stands for others goes, and the youngest of those.
    std::pair<int, uint32_t> candidate{rank(context.symbol(atom.symbol).kind), atom.symbol.index};
    if (best && candidate < bestRank)
      continue;
    // A symbol that also occurs in a product or a division cannot be eliminated.
    size_t occurrences = 0;
    for (const DimTerm &other : a.terms())
      for (const DimFactor &factor : other.monomial->factors) {
        occurrences += factor.atom == &atom;
        for (Dim operand : factor.atom->operands)
          occurrences += operand.mentions(atom.symbol) ? 1 : 0;
      }
    if (occurrences != 1)
      continue;
    best = term;
    bestRank = candidate;
  }
  return best;
}

Prepared::Prepared(const Prepared &other)
    : context(other.context), outer(&other), rewrites(other.rewrites),
      rewritesFrom(other.rewritesFrom), rewrittenBits(other.rewrittenBits),
      nonNegative(other.nonNegative), zero(other.zero), multiples(other.multiples),
      waiting(other.waiting), count(other.count), models_(other.models_) {
  for (Model &model : models_)
    // With more facts the values may no longer satisfy all, so they are tried again.
    model.isTried = false;
}

Dim Prepared::reduce(Dim a, FactMask &from) const {
  // Most polynomials mention no rewritten symbol.
  if ((a.symbolBits() & rewrittenBits) == 0)
    return a;
  bool touched = false;
  for (size_t i = 0; i < rewrites.size(); ++i)
    if (a.mentions(rewrites[i].first)) {
      // The answer rests on the facts behind the rewrites that it used.
      from |= rewritesFrom[i];
      touched = true;
    }
  return touched ? context->substitute(a, rewrites) : a;
}

const std::optional<FactMask> *Prepared::answer(Dim a, int depth) const {
  if (const std::optional<FactMask> *known = asked.find(a.id(), depth))
    return known;
  // What followed from fewer facts follows from more, but what did not may do so by now.
  for (const Prepared *set = outer; set; set = set->outer)
    if (const std::optional<FactMask> *known = set->asked.find(a.id(), depth); known && *known)
      return known;
  return nullptr;
}

void Prepared::take(const Fact &fact, Dim onlyIfDivides) {
  size_t position = count++;
  if (onlyIfDivides) {
    // The fact only holds if a divisibility does, so it waits until that is known.
    waiting.push_back({onlyIfDivides, fact, position});
    maySettle_ = true;
  } else {
    FactMask from;
    // The set of facts has a fixed size; facts beyond it are used without being named.
    if (position < from.size())
      from.set(position);
    takeRelation(fact, from);
  }
  if (maySettle_)
    settleWaiting();
  maySettle_ = false;
}

void Prepared::takeRelation(const Fact &fact, FactMask from) {
  switch (fact.relation) {
  case Relation::Equal: {
    Dim zero = reduce(context->sub(fact.a, fact.b), from);
    return takeZero(zero, from);
  }
  case Relation::LessEqual: {
    Dim value = reduce(context->sub(fact.b, fact.a), from);
    return takeNonNegative(value, from);
  }
  case Relation::Divides: {
    Dim of = reduce(fact.b, from), value = reduce(fact.a, from);
    return takeMultiple(value, of, from);
  }
  }
}

void Prepared::takeZero(Dim value, FactMask from) {
  if (!value || value.isConstant(0))
    return;
  // An equation that can be solved becomes a rewrite, which is stronger than a row of the
  // elimination.
  if (std::optional<DimTerm> term = isolable(*context, value, context->constant(0))) {
    SymbolId symbol = term->monomial->factors[0].atom->symbol;
    Dim rest = context->sub(value, context->termsDim({*term}));
    return rewrite(symbol, context->scale(rest, -term->coefficient), from);
  }
  zero.push_back({value, from});
}

void Prepared::takeNonNegative(Dim value, FactMask from) {
  // What holds for all values says nothing.
  if (!value || context->isPlainlyNonNegative(value))
    return;
  nonNegative.push_back({value, from});
  // `a <= min(x, y)` is `a <= x` and `a <= y`; `max(x, y) <= b` likewise.
  for (const DimTerm &term : value.terms()) {
    if (term.monomial->degree != 1)
      continue;
    const DimAtom &atom = *term.monomial->factors[0].atom;
    bool splits = (atom.kind == DimAtomKind::Min && term.coefficient > 0) ||
                  (atom.kind == DimAtomKind::Max && term.coefficient < 0);
    if (!splits)
      continue;
    Dim rest = context->sub(value, context->termsDim({term}));
    for (Dim operand : atom.operands)
      takeNonNegative(context->add(rest, context->scale(operand, term.coefficient)), from);
    return;
  }
}

/// `value % of == 0` gives `value == of*z` for an integer z of its own: with it, a symbol of
/// `value` can be rewritten everywhere, so that all that follows from the divisibility normalises.
void Prepared::takeMultiple(Dim value, Dim of, FactMask from) {
  Dim remainder = context->mod(value, of);
  if (!remainder || remainder.isConstant(0))
    return;
  // Dividing value and modulus by a common factor makes the quotient solvable more often.
  int64_t g = of.constant().value_or(0);
  bool single = value.terms().size() == 1 && g != 0;
  for (const DimTerm &term : value.terms())
    g = std::gcd(g, term.coefficient);
  if (g > 1 && of.isConstant())
    return takeMultiple(context->floorDiv(value, context->constant(g)),
                        context->floorDiv(of, context->constant(g)), from);
  // A coefficient without a common factor with the modulus does not change the divisibility.
  if (single && value.terms()[0].coefficient != 1)
    return takeMultiple(context->monomialDim(*value.terms()[0].monomial), of, from);
  if (isolable(*context, value, of)) {
    bool isCount = context->isPlainlyNonNegative(value);
    // The quotient gets a symbol of its own, which is a count if the value is one.
    SymbolId quotient =
        context->addSymbol(context->toString(context->floorDiv(value, of)),
                           isCount ? SymbolKind::RangeCount : SymbolKind::ScalarValue);
    Dim product = context->mul(of, context->symbolDim(quotient));
    std::optional<DimTerm> term = isolable(*context, value, of);
    Dim rest = context->sub(value, context->termsDim({*term}));
    // sign*symbol + rest == product
    Dim solved = context->scale(context->sub(product, rest), term->coefficient);
    return rewrite(term->monomial->factors[0].atom->symbol, solved, from);
  }
  // Otherwise the remainder is known to be zero, and the pair is kept for products.
  maySettle_ = true;
  multiples.push_back({value, of, from});
  zero.push_back({remainder, from});
}

void Prepared::rewrite(SymbolId symbol, Dim value, FactMask from) {
  if (!value)
    return;
  maySettle_ = true;
  DimReplacement step{symbol, value};
  // Rewrites are kept fully reduced: the new one is applied to all earlier ones.
  auto update = [&](Dim &dim, FactMask &mask) {
    if (!dim.mentions(symbol))
      return;
    Dim updated = context->substitute(dim, {&step, 1});
    if (!updated)
      return;
    dim = updated;
    mask |= from;
  };
  for (size_t i = 0; i < rewrites.size(); ++i)
    update(rewrites[i].second, rewritesFrom[i]);
  // The list is sorted by symbols, as substitution wants it.
  auto at = std::ranges::lower_bound(rewrites, symbol, {}, &DimReplacement::first);
  auto fromAt = rewritesFrom.begin() + (at - rewrites.begin());
  if (at != rewrites.end() && at->first == symbol) {
    *at = step;
    *fromAt = from;
  } else {
    rewrites.insert(at, step);
    rewritesFrom.insert(fromAt, from);
  }
  rewrittenBits |= context->symbolDim(symbol).symbolBits();
  for (Known &known : nonNegative)
    update(known.value, known.from);
  for (Multiple &known : multiples) {
    update(known.value, known.from);
    update(known.of, known.from);
  }
  // Solved equations may become solvable again, and what the kind of the symbol said must be kept.
  std::vector<Known> again = std::move(zero);
  zero.clear();
  // The symbol disappears, so what its kind said of it becomes a fact about its value.
  if (std::optional<int64_t> bound = context->plainLowerBound(context->symbolDim(symbol)))
    takeNonNegative(context->sub(value, context->constant(*bound)), from);
  for (Known &known : again) {
    // An equation before this one may have been solved, so more symbols than this one are rewritten.
    if (Dim reduced = reduce(known.value, known.from))
      known.value = reduced;
    takeZero(known.value, known.from);
  }
}

void Prepared::settleWaiting() {
  for (size_t i = 0; i < waiting.size(); ++i) {
    FactMask from;
    // The divisibility may follow from the normal forms, or be a known one.
    Dim extent = reduce(waiting[i].extent, from), size = reduce(waiting[i].fact.b, from);
    bool holds = context->mod(extent, size).isConstant(0);
    for (const Multiple &known : multiples)
      if (!holds && known.value == extent && known.of == size) {
        from |= known.from;
        holds = true;
      }
    if (!holds)
      continue;
    Waiting settled = waiting[i];
    waiting.erase(waiting.begin() + static_cast<ptrdiff_t>(i));
    if (settled.position < from.size())
      from.set(settled.position);
    takeRelation(settled.fact, from);
    i = static_cast<size_t>(-1); // a rewrite may settle earlier ones
  }
}

// ---- Answers and models -------------------------------------------------------------------------

size_t ProofTable::slotOf(uint64_t key) const {
  // The multiplier spreads the keys; collisions go to the next slot (open addressing).
  size_t at = (key * 0x9e3779b97f4a7c15u >> 32) & (slots_.size() - 1);
  while (slots_[at].key != 0 && slots_[at].key != key)
    at = (at + 1) & (slots_.size() - 1);
  return at;
}

const std::optional<FactMask> *ProofTable::find(uint32_t dim, int depth) const {
  if (slots_.empty())
    return nullptr;
  const Slot &slot = slots_[slotOf(keyOf(dim, depth))];
  return slot.key != 0 ? &slot.answer : nullptr;
}

void ProofTable::set(uint32_t dim, int depth, const std::optional<FactMask> &answer) {
  // The table stays at most half full, so that searches are short.
  if (count_ * 2 >= slots_.size()) {
    std::vector<Slot> old = std::move(slots_);
    slots_ = std::vector<Slot>(std::max<size_t>(16, old.size() * 2));
    for (const Slot &slot : old)
      if (slot.key != 0)
        slots_[slotOf(slot.key)] = slot;
  }
  Slot &slot = slots_[slotOf(keyOf(dim, depth))];
  count_ += slot.key == 0;
  slot = {keyOf(dim, depth), answer};
}

/// Changes values until all facts hold; false if that takes too long.
bool Prepared::satisfy(DimModel &model) const {
  constexpr int maxPasses = 6;
  auto holds = [&](const Known &known, bool isZero) {
    std::optional<int64_t> value = model.value(known.value);
    return value && (isZero ? *value == 0 : *value >= 0);
  };
  for (int pass = 0; pass < maxPasses; ++pass) {
    bool changed = false;
    // Inequalities first: repairing equations last keeps them exact.
    for (bool isZero : {false, true})
      for (const Known &known : isZero ? zero : nonNegative)
        if (!holds(known, isZero)) {
          changed = true;
          if (!model.repair(known.value, isZero))
            return false;
        }
    if (!changed)
      return true;
  }
  return false;
}

const DimModel *Prepared::model(DimModel::Size size) const {
  // Finding values costs time, so it is done once for each kind of model.
  Model &model = models_[static_cast<size_t>(size)];
  if (!model.isTried) {
    if (!model.values)
      model.values.emplace(*context, size);
    model.isTried = true;
    model.isValid = satisfy(*model.values);
  }
  return model.isValid ? &*model.values : nullptr;
}

template <typename Test> bool Prepared::anyModel(Dim a, Test test) const {
  using Size = DimModel::Size;
  // Values of different sizes find different counterexamples.
  for (Size size : {Size::Least, Size::One, Size::Some}) {
    const DimModel *values = model(size);
    std::optional<int64_t> value = values ? values->value(a) : std::nullopt;
    if (value && test(*value))
      return true;
  }
  return false;
}

bool Prepared::mayBeNegative(Dim a) const {
  return anyModel(a, [](int64_t value) { return value < 0; });
}
bool Prepared::mayDifferFromZero(Dim a) const {
  return anyModel(a, [](int64_t value) { return value != 0; });
}
bool Prepared::mayBeZero(Dim a) const {
  return anyModel(a, [](int64_t value) { return value == 0; });
}

/// Starts from values that satisfy the facts and makes `a` great.
bool Prepared::mayExceed(Dim a, int64_t high) const {
  const DimModel *known = model(DimModel::Size::Some);
  Dim excess = context->sub(a, context->constant(high));
  // The value has to be at least one above the limit.
  excess = context->sub(excess, context->constant(1));
  if (!known || !excess)
    return false;
  // The copy is changed, since other questions need the model as it is.
  DimModel values = *known;
  return values.repair(excess, false) && satisfy(values) && values.value(excess).value_or(-1) >= 0;
}

bool Prepared::mayLeave(Dim a, int64_t low, int64_t high) const {
  return mayExceed(a, high) || (low != INT64_MIN && mayExceed(context->negate(a), -low));
}

} // namespace ptl
