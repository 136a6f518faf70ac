#include "frontend/sema/dim.h"

#include "frontend/sema/dim_impl.h"

#include <algorithm>
#include <cassert>
#include <set>

namespace ptl {

using namespace dims;

namespace dims {

size_t hashOf(const std::vector<DimTerm> &terms) {
  size_t hash = terms.size();
  for (const DimTerm &term : terms)
    hash = mix(mix(hash, term.monomial->id), static_cast<size_t>(term.coefficient));
  return hash;
}

size_t hashOf(const std::vector<DimFactor> &factors) {
  size_t hash = factors.size();
  for (const DimFactor &factor : factors)
    hash = mix(mix(hash, factor.atom->id), factor.power);
  return hash;
}

size_t hashOf(const DimAtom &atom) {
  size_t hash = mix(static_cast<size_t>(atom.kind), atom.symbol.index);
  for (Dim operand : atom.operands)
    hash = mix(hash, operand.id());
  return hash;
}

bool MonomialGreater::operator()(const DimMonomial *a, const DimMonomial *b) const {
  if (a == b)
    return false;
  if (a->degree != b->degree)
    return a->degree > b->degree;
  auto [x, y] =
      std::mismatch(a->factors.begin(), a->factors.end(), b->factors.begin(), b->factors.end());
  // Equal degrees: neither list is a prefix of the other.
  if (x->atom != y->atom)
    return x->atom->id < y->atom->id;
  return x->power > y->power;
}

Split splitConstant(Dim a) {
  Split split;
  for (const DimTerm &term : a.terms()) {
    if (term.monomial->isOne())
      split.constant = term.coefficient;
    else
      split.rest.push_back(term);
  }
  return split;
}

TermMap toMap(Dim a) {
  TermMap map;
  for (const DimTerm &term : a.terms())
    map.emplace(term.monomial, term.coefficient);
  return map;
}

} // namespace dims

// ---- Dim
// -------------------------------------------------------------------------------------------

std::span<const DimTerm> Dim::terms() const {
  return node_ ? std::span<const DimTerm>(node_->terms) : std::span<const DimTerm>();
}

std::optional<int64_t> Dim::constant() const {
  if (!node_)
    return std::nullopt;
  if (node_->terms.empty())
    return 0;
  if (node_->terms.size() == 1 && node_->terms[0].monomial->isOne())
    return node_->terms[0].coefficient;
  return std::nullopt;
}

std::optional<SymbolId> Dim::symbol() const {
  if (!node_ || node_->terms.size() != 1 || node_->terms[0].coefficient != 1)
    return std::nullopt;
  const DimMonomial &monomial = *node_->terms[0].monomial;
  if (monomial.degree != 1 || monomial.factors[0].atom->kind != DimAtomKind::Symbol)
    return std::nullopt;
  return monomial.factors[0].atom->symbol;
}

uint32_t Dim::id() const { return node_ ? node_->id : UINT32_MAX; }

// ---- Interning
// -------------------------------------------------------------------------------------

const DimAtom *DimContext::Impl::atom(DimAtomKind kind, SymbolId symbol,
                                      std::vector<Dim> operands) {
  DimAtom key{kind, 0, symbol, std::move(operands)};
  return atoms.get(key, [&] { return key; });
}

const DimMonomial *DimContext::Impl::monomial(std::vector<DimFactor> factors) {
  std::sort(factors.begin(), factors.end(),
            [](const DimFactor &a, const DimFactor &b) { return a.atom->id < b.atom->id; });
  size_t kept = 0;
  uint64_t degree = 0;
  for (const DimFactor &factor : factors) {
    degree += factor.power;
    if (kept > 0 && factors[kept - 1].atom == factor.atom)
      factors[kept - 1].power += factor.power;
    else
      factors[kept++] = factor;
  }
  if (degree > maxDegree)
    return nullptr;
  factors.resize(kept);
  return monomials.get(
      factors, [&] { return DimMonomial{0, static_cast<uint32_t>(degree), std::move(factors)}; });
}

const DimMonomial *DimContext::Impl::product(const DimMonomial *a, const DimMonomial *b) {
  if (a->isOne())
    return b;
  if (b->isOne())
    return a;
  std::vector<DimFactor> factors = a->factors;
  factors.insert(factors.end(), b->factors.begin(), b->factors.end());
  return monomial(std::move(factors));
}

const DimMonomial *DimContext::Impl::quotient(const DimMonomial *a, const DimMonomial *b) {
  if (b->isOne())
    return a;
  if (b->degree > a->degree)
    return nullptr;
  std::vector<DimFactor> factors;
  auto divisor = b->factors.begin();
  for (const DimFactor &factor : a->factors) {
    uint32_t power = factor.power;
    if (divisor != b->factors.end() && divisor->atom == factor.atom) {
      if (divisor->power > power)
        return nullptr;
      power -= divisor->power;
      ++divisor;
    }
    if (power > 0)
      factors.push_back({factor.atom, power});
  }
  return divisor == b->factors.end() ? monomial(std::move(factors)) : nullptr;
}

const Dim::Node *DimContext::Impl::sum(std::vector<DimTerm> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const DimTerm &a, const DimTerm &b) { return a.monomial->id < b.monomial->id; });
  std::vector<DimTerm> result;
  result.reserve(terms.size());
  for (const DimTerm &term : terms) {
    if (!result.empty() && result.back().monomial == term.monomial) {
      if (!addProduct(result.back().coefficient, term.coefficient, 1))
        return nullptr;
    } else {
      result.push_back(term);
    }
    if (result.back().coefficient == 0)
      result.pop_back();
  }
  // INT64_MIN has no negation; without it, negating never overflows.
  for (const DimTerm &term : result)
    if (term.coefficient == INT64_MIN)
      return nullptr;
  if (result.size() > maxTerms)
    return nullptr;
  return nodes.get(result, [&] { return Dim::Node{0, result}; });
}

bool DimContext::Impl::subtract(TermMap &work, int64_t factor, const DimMonomial *monomial, Dim b) {
  for (const DimTerm &term : b.terms()) {
    const DimMonomial *at = product(monomial, term.monomial);
    if (!at)
      return false;
    auto slot = work.try_emplace(at, 0).first;
    if (!addProduct(slot->second, -factor, term.coefficient))
      return false;
    if (slot->second == 0)
      work.erase(slot);
  }
  return true;
}

// ---- Arithmetic
// ------------------------------------------------------------------------------------

DimContext::DimContext() : impl_(std::make_unique<Impl>()) { impl_->one = impl_->monomial({}); }
DimContext::~DimContext() = default;

std::shared_ptr<void> &DimContext::proverMemory() { return impl_->proverMemory; }

SymbolId DimContext::addSymbol(std::string name, SymbolKind kind, Span span) {
  impl_->symbols.push_back({std::move(name), kind, span});
  return {static_cast<uint32_t>(impl_->symbols.size() - 1)};
}

const Symbol &DimContext::symbol(SymbolId id) const { return impl_->symbols[id.index]; }

Dim DimContext::constant(int64_t value) {
  if (value == 0)
    return Dim(impl_->sum({}));
  return Dim(impl_->sum({{value, impl_->one}}));
}

Dim DimContext::symbolDim(SymbolId id) {
  return atomDim(*impl_->atom(DimAtomKind::Symbol, id, {}));
}

Dim DimContext::atomDim(const DimAtom &atom) { return monomialDim(*impl_->monomial({{&atom, 1}})); }

Dim DimContext::monomialDim(const DimMonomial &monomial) {
  return Dim(impl_->sum({{1, &monomial}}));
}

Dim DimContext::termsDim(std::vector<DimTerm> terms) { return Dim(impl_->sum(std::move(terms))); }

Dim DimContext::add(Dim a, Dim b) {
  if (!a || !b)
    return {};
  std::vector<DimTerm> terms(a.terms().begin(), a.terms().end());
  terms.insert(terms.end(), b.terms().begin(), b.terms().end());
  return Dim(impl_->sum(std::move(terms)));
}

Dim DimContext::sub(Dim a, Dim b) { return add(a, negate(b)); }

Dim DimContext::scale(Dim a, int64_t factor) {
  if (!a)
    return {};
  std::vector<DimTerm> terms;
  for (DimTerm term : a.terms()) {
    if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient))
      return {};
    if (term.coefficient != 0)
      terms.push_back(term);
  }
  return Dim(impl_->sum(std::move(terms)));
}

Dim DimContext::mul(Dim a, Dim b) {
  if (!a || !b)
    return {};
  std::vector<DimTerm> terms;
  terms.reserve(a.terms().size() * b.terms().size());
  for (const DimTerm &x : a.terms()) {
    for (const DimTerm &y : b.terms()) {
      const DimMonomial *monomial = impl_->product(x.monomial, y.monomial);
      int64_t coefficient;
      if (!monomial || __builtin_mul_overflow(x.coefficient, y.coefficient, &coefficient))
        return {};
      terms.push_back({coefficient, monomial});
    }
  }
  return Dim(impl_->sum(std::move(terms)));
}

Dim DimContext::ceilDiv(Dim a, Dim b) {
  Dim one = constant(1);
  return add(floorDiv(sub(a, one), b), one);
}

Dim DimContext::mod(Dim a, Dim b) { return sub(a, mul(b, floorDiv(a, b))); }

Dim DimContext::substitute(Dim a, const DimSubstitution &map) {
  if (!a || map.empty())
    return a;
  Dim result = constant(0);
  for (const DimTerm &term : a.terms()) {
    Dim product = constant(term.coefficient);
    for (const DimFactor &factor : term.monomial->factors) {
      const DimAtom &atom = *factor.atom;
      std::vector<Dim> operands;
      for (Dim operand : atom.operands)
        operands.push_back(substitute(operand, map));
      Dim value;
      if (atom.kind == DimAtomKind::Symbol) {
        auto found = map.find(atom.symbol);
        value = found == map.end() ? atomDim(atom) : found->second;
      } else if (operands == atom.operands) {
        value = atomDim(atom);
      } else if (atom.kind == DimAtomKind::FloorDiv) {
        value = floorDiv(operands[0], operands[1]);
      } else {
        value = minMax(atom.kind, std::move(operands));
      }
      for (uint32_t i = 0; i < factor.power; ++i)
        product = mul(product, value);
    }
    result = add(result, product);
  }
  return result;
}

// ---- Walks
// -----------------------------------------------------------------------------------------

static std::optional<int64_t> evaluateAtom(const DimAtom &atom, const DimLookup &lookup) {
  if (atom.kind == DimAtomKind::Symbol)
    return lookup(atom.symbol);
  std::optional<int64_t> result;
  for (Dim operand : atom.operands) {
    std::optional<int64_t> value = evaluate(operand, lookup);
    if (!value)
      return std::nullopt;
    if (!result)
      result = value;
    else if (atom.kind == DimAtomKind::Min)
      result = std::min(*result, *value);
    else if (atom.kind == DimAtomKind::Max)
      result = std::max(*result, *value);
    else if (*value > 0)
      result = floorQuotient(*result, *value);
    else
      return std::nullopt;
  }
  return result;
}

std::optional<int64_t> evaluate(Dim a, const DimLookup &lookup) {
  if (!a)
    return std::nullopt;
  int64_t sum = 0;
  for (const DimTerm &term : a.terms()) {
    int64_t product = term.coefficient;
    for (const DimFactor &factor : term.monomial->factors) {
      std::optional<int64_t> value = evaluateAtom(*factor.atom, lookup);
      for (uint32_t i = 0; i < factor.power; ++i)
        if (!value || __builtin_mul_overflow(product, *value, &product))
          return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

static void collectSymbols(Dim a, std::set<SymbolId> &symbols) {
  for (const DimTerm &term : a.terms()) {
    for (const DimFactor &factor : term.monomial->factors) {
      if (factor.atom->kind == DimAtomKind::Symbol)
        symbols.insert(factor.atom->symbol);
      for (Dim operand : factor.atom->operands)
        collectSymbols(operand, symbols);
    }
  }
}

void forEachSymbol(Dim a, const std::function<void(SymbolId)> &visit) {
  std::set<SymbolId> symbols;
  collectSymbols(a, symbols);
  for (SymbolId symbol : symbols)
    visit(symbol);
}

} // namespace ptl
