#include "frontend/sema/facts_prover.h"

#include <algorithm>

namespace ptl {

/// Eliminations that one question may use; a case split needs several.
static constexpr int maxAttempts = 24;
/// Rounds in which facts may bring in monomials that bring in facts.
static constexpr int maxRounds = 4;
/// Facts multiplied by an atom in one elimination.
static constexpr int maxProducts = 24;

/// A linear system whose columns are monomials.
struct FactProver::System {
  LinearSystem linear;
  std::vector<const DimMonomial *> columns;
  std::vector<FactMask> from; ///< by origin number
  size_t known = 0;           ///< columns whose own bounds are in
  uint32_t maxDegree = 2;     ///< rows with greater products are left out

  bool has(Dim a) const {
    return std::any_of(a.terms().begin(), a.terms().end(), [&](const DimTerm &term) {
      return !term.monomial->isOne() &&
             std::find(columns.begin(), columns.end(), term.monomial) != columns.end();
    });
  }

  std::optional<LinearSystem::Row> row(Dim a) {
    LinearSystem::Row row;
    for (const DimTerm &term : a.terms()) {
      if (term.monomial->isOne()) {
        row.constant = term.coefficient;
        continue;
      }
      size_t column = static_cast<size_t>(std::find(columns.begin(), columns.end(), term.monomial) -
                                          columns.begin());
      if (column == LinearSystem::maxColumns)
        return std::nullopt;
      if (column == columns.size())
        columns.push_back(term.monomial);
      row.coefficients[column] = term.coefficient;
    }
    return row;
  }

  void add(Dim a, const FactMask &mask, bool isZero = false) {
    if (!a || linear.given() == LinearSystem::maxGivenRows)
      return;
    for (const DimTerm &term : a.terms())
      if (term.monomial->degree > maxDegree)
        return;
    std::optional<LinearSystem::Row> given = row(a);
    if (!given)
      return;
    if (from.size() == linear.given())
      from.push_back(mask);
    isZero ? linear.giveEquation(*given) : linear.give(*given);
  }
};

// ---- What is known of monomials
// --------------------------------------------------------------------

/// `b*q <= a < b*q + b`, times `rest`; for a symbolic divisor also what its bounds give for q
/// alone.
void FactProver::knowDivision(System &system, const DimAtom &atom, Dim rest) {
  Dim a = atom.operands[0], b = atom.operands[1], q = context_.atomDim(atom);
  Dim one = context_.constant(1);
  auto add = [&](Dim value, const FactMask &mask) { system.add(context_.mul(value, rest), mask); };
  Dim left = context_.sub(a, context_.mul(b, q));
  add(left, {});
  add(context_.sub(context_.sub(b, one), left), {});
  if (b.isConstant() || depth_ == 0)
    return;
  FactMask mask;
  FactProver inner(facts_, depth_ - 1);
  if (inner.isNonNegative(a, mask)) {
    add(q, mask);
    add(context_.sub(a, q), mask);
    FactMask above;
    if (inner.isNonNegative(context_.sub(a, b), above))
      add(context_.sub(q, one), above);
  } else if (inner.isNonNegative(context_.add(a, one), mask)) {
    add(context_.add(q, one), mask);
    add(context_.sub(a, q), mask);
  }
}

/// `min(x, y) <= x`, `x <= max(x, y)`, times `rest`.
void FactProver::knowChoice(System &system, const DimAtom &atom, Dim rest) {
  Dim value = context_.atomDim(atom);
  int64_t sign = atom.kind == DimAtomKind::Min ? 1 : -1;
  for (Dim operand : atom.operands)
    system.add(context_.mul(context_.scale(context_.sub(operand, value), sign), rest), {});
}

void FactProver::know(System &system, const DimMonomial &monomial) {
  Dim whole = context_.monomialDim(monomial);
  if (std::optional<int64_t> bound = context_.plainLowerBound(whole))
    system.add(context_.sub(whole, context_.constant(*bound)), {});
  for (size_t i = 0; i < monomial.factors.size(); ++i) {
    const DimAtom &atom = *monomial.factors[i].atom;
    Dim rest = context_.constant(1);
    for (size_t j = 0; j < monomial.factors.size(); ++j)
      for (uint32_t n = i == j ? 1 : 0; n < monomial.factors[j].power; ++n)
        rest = context_.mul(rest, context_.atomDim(*monomial.factors[j].atom));
    if (!context_.isPlainlyNonNegative(rest))
      continue;
    if (atom.kind == DimAtomKind::FloorDiv) {
      knowDivision(system, atom, context_.constant(1));
      if (!rest.isConstant())
        knowDivision(system, atom, rest);
    }
    if (atom.kind == DimAtomKind::Min || atom.kind == DimAtomKind::Max)
      knowChoice(system, atom, rest);
    // (x - 1)*rest >= 0 for x >= 1.
    int64_t bound = context_.plainLowerBound(context_.atomDim(atom)).value_or(0);
    if (monomial.degree > 1 && bound >= 1)
      system.add(context_.sub(whole, context_.scale(rest, bound)), {});
  }
}

// ---- Filling a system
// ------------------------------------------------------------------------------

void FactProver::addKnowledge(System &system) {
  while (system.known < system.columns.size())
    know(system, *system.columns[system.known++]);
}

void FactProver::addFacts(System &system, std::vector<bool> &usedNonNegative,
                          std::vector<bool> &usedZero) {
  auto add = [&](const std::vector<FactSet::Prepared::Known> &known, std::vector<bool> &used,
                 bool isZero) {
    for (size_t i = 0; i < known.size(); ++i) {
      if (used[i] || !(known[i].value.isConstant() || system.has(known[i].value)))
        continue;
      used[i] = true;
      system.add(known[i].value, known[i].from, isZero);
    }
  };
  add(facts_.zero, usedZero, true);
  add(facts_.nonNegative, usedNonNegative, false);
}

/// For a product x*y in the system: the facts about y, times x >= 0.
void FactProver::addProducts(System &system) {
  int products = 0;
  size_t columns = system.columns.size();
  for (size_t i = 0; i < columns; ++i) {
    const DimMonomial &monomial = *system.columns[i];
    if (monomial.degree != 2)
      continue;
    for (const DimFactor &factor : monomial.factors) {
      Dim x = context_.atomDim(*factor.atom);
      const DimFactor &first = monomial.factors.front();
      const DimAtom &other = *(&factor == &first ? monomial.factors.back() : first).atom;
      if (!context_.isPlainlyNonNegative(x))
        continue;
      for (const FactSet::Prepared::Known &known : facts_.nonNegative) {
        bool about = std::any_of(
            known.value.terms().begin(), known.value.terms().end(), [&](const DimTerm &term) {
              return term.monomial->degree == 1 && term.monomial->factors[0].atom == &other;
            });
        if (about && products++ < maxProducts)
          system.add(context_.mul(known.value, x), known.from);
      }
    }
  }
}

void FactProver::fill(System &system, bool withProducts) {
  std::vector<bool> usedNonNegative(facts_.nonNegative.size()), usedZero(facts_.zero.size());
  for (int round = 0; round < maxRounds; ++round) {
    size_t before = system.linear.given();
    addKnowledge(system);
    addFacts(system, usedNonNegative, usedZero);
    if (system.linear.given() == before)
      break;
  }
  if (withProducts)
    addProducts(system);
  addKnowledge(system);
}

// ---- Questions
// -------------------------------------------------------------------------------------

/// One case for each operand that the `min` or `max` may be.
bool FactProver::refutesCases(const std::vector<Assumption> &assumptions, const DimAtom &atom,
                              FactMask &from, int splits) {
  FactMask all;
  for (Dim chosen : atom.operands) {
    std::vector<Assumption> given = assumptions;
    given.push_back({context_.sub(context_.atomDim(atom), chosen), true, &atom});
    for (Dim other : atom.operands) {
      Dim less =
          atom.kind == DimAtomKind::Min ? context_.sub(other, chosen) : context_.sub(chosen, other);
      if (other != chosen)
        given.push_back({less, false});
    }
    if (!refutes(std::move(given), all, splits - 1))
      return false;
  }
  from |= all;
  return true;
}

bool FactProver::refutes(std::vector<Assumption> assumptions, FactMask &from, int splits) {
  std::vector<const DimAtom *> choices;
  for (bool withProducts : {false, true}) {
    if (++attempts_ > maxAttempts)
      return false;
    System system;
    for (const Assumption &assumption : assumptions)
      for (const DimTerm &term : assumption.value.terms())
        system.maxDegree = std::max(system.maxDegree, term.monomial->degree);
    for (const Assumption &assumption : assumptions)
      system.add(assumption.value, {}, assumption.isZero);
    fill(system, withProducts);
    if (std::optional<LinearSystem::Origins> origins = system.linear.refute()) {
      for (size_t i = 0; i < system.from.size(); ++i)
        if (origins->test(i))
          from |= system.from[i];
      return true;
    }
    bool hasProducts = false;
    for (const DimMonomial *monomial : system.columns) {
      hasProducts = hasProducts || monomial->degree == 2;
      for (const DimFactor &factor : monomial->factors) {
        bool isChoice =
            factor.atom->kind == DimAtomKind::Min || factor.atom->kind == DimAtomKind::Max;
        if (isChoice && std::find(choices.begin(), choices.end(), factor.atom) == choices.end())
          choices.push_back(factor.atom);
      }
    }
    if (!hasProducts)
      break;
  }
  // The goal comes first, so its own choices are the first to be split.
  size_t tries = splits > 0 ? std::min<size_t>(choices.size(), 3) : 0;
  for (size_t i = 0; i < tries; ++i) {
    bool isSplit = std::any_of(assumptions.begin(), assumptions.end(),
                               [&](const Assumption &a) { return a.chosenFor == choices[i]; });
    if (!isSplit && refutesCases(assumptions, *choices[i], from, splits))
      return true;
  }
  return false;
}

bool FactProver::isNonNegative(Dim a, FactMask &from) {
  if (!a || context_.isPlainlyNonNegative(a))
    return a.isKnown();
  if (a.isConstant())
    return false;
  attempts_ = 0;
  Dim opposite = context_.sub(context_.constant(-1), a);
  return opposite && refutes({{opposite, false}}, from, depth_);
}

bool FactProver::isZero(Dim a, FactMask &from) {
  if (!a || a.isConstant())
    return a.isConstant(0);
  FactMask mask;
  if (!isNonNegative(a, mask) || !isNonNegative(context_.negate(a), mask))
    return false;
  from |= mask;
  return true;
}

bool FactProver::isNeverZero(Dim a, FactMask &from) {
  if (!a || a.isConstant())
    return a && !a.isConstant(0);
  attempts_ = 0;
  return refutes({{a, true}}, from, depth_);
}

std::optional<int64_t> FactProver::greatest(Dim a) {
  if (!a || a.isConstant())
    return a.constant();
  // The column of `a` itself stands first, under the monomial 1, which no row looks up.
  System system;
  system.columns.push_back(context_.constant(1).terms()[0].monomial);
  for (const DimTerm &term : a.terms())
    system.maxDegree = std::max(system.maxDegree, term.monomial->degree);
  std::optional<LinearSystem::Row> row = system.row(context_.negate(a));
  if (!row)
    return std::nullopt;
  row->coefficients[0] = 1;
  system.linear.giveEquation(*row);
  system.from.emplace_back();
  fill(system, true);
  return system.linear.greatest(0);
}

} // namespace ptl
