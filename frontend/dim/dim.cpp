#include "frontend/dim/dim.h"

#include "frontend/dim/dim_bounds.h"
#include "frontend/dim/dim_choice.h"
#include "frontend/dim/dim_divide.h"
#include "frontend/dim/dim_impl.h"
#include "frontend/dim/dim_print.h"

#include <algorithm>

namespace ptl {

using namespace dims;

bool MonomialGreater::operator()(const DimMonomial *a, const DimMonomial *b) const {
  if (a == b)
    return false;
  // Higher degrees come first, as division needs them.
  if (a->degree != b->degree)
    return a->degree > b->degree;
  auto [x, y] =
      std::mismatch(a->factors.begin(), a->factors.end(), b->factors.begin(), b->factors.end());
  // Equal degrees: neither list is a prefix of the other.
  if (x->atom != y->atom)
    return x->atom->id < y->atom->id;
  return x->power > y->power;
}

int64_t dims::constantOf(Dim a) {
  // The monomial 1 is the oldest.
  bool has = !a.terms().empty() && a.terms()[0].monomial->isOne();
  return has ? a.terms()[0].coefficient : 0;
}

// ---- Dim ----------------------------------------------------------------------------------------

std::optional<SymbolId> Dim::symbol() const {
  if (!node_ || node_->terms.size() != 1 || node_->terms[0].coefficient != 1)
    return std::nullopt;
  const DimMonomial &monomial = *node_->terms[0].monomial;
  if (monomial.degree != 1 || monomial.factors[0].atom->kind != DimAtomKind::Symbol)
    return std::nullopt;
  return monomial.factors[0].atom->symbol;
}

// 64 symbols share a bit each with others, so the bits are a filter and no proof (a Bloom filter).
static uint64_t bitOf(SymbolId symbol) { return uint64_t(1) << symbol.index % 64; }

bool Dim::mentions(SymbolId symbol) const {
  // Most polynomials do not mention the symbol, and the bits tell that at once.
  if ((symbolBits() & bitOf(symbol)) == 0)
    return false;
  for (const DimTerm &term : terms()) {
    for (const DimFactor &factor : term.monomial->factors) {
      if (factor.atom->kind == DimAtomKind::Symbol && factor.atom->symbol == symbol)
        return true;
      for (Dim operand : factor.atom->operands)
        if (operand.mentions(symbol))
          return true;
    }
  }
  return false;
}

// ---- Interning ----------------------------------------------------------------------------------

const DimAtom *DimContext::Impl::atom(DimAtomKind kind, SymbolId symbol,
                                      std::span<const Dim> operands) {
  bool isSymbol = kind == DimAtomKind::Symbol;
  uint64_t hash = mix(static_cast<uint64_t>(kind), symbol.index), bits = 0;
  for (Dim operand : operands) {
    // Operands are interned, so their numbers identify them.
    hash = mix(hash, operand.id());
    bits |= operand.symbolBits();
  }
  // Equal atoms are one object (hash consing), so that equality is a comparison of pointers.
  return atoms.get(
      hash,
      [&](const DimAtom &other) {
        return other.kind == kind && other.symbol == symbol &&
               std::ranges::equal(other.operands, operands);
      },
      [&] {
        return arena.make<DimAtom>(DimAtom{kind, 0, 0, symbol, isSymbol ? bitOf(symbol) : bits,
                                           arena.copy(operands), nullptr});
      });
}

const DimMonomial *DimContext::Impl::monomial(std::span<const DimFactor> factors) {
  uint64_t hash = factors.size(), bits = 0, degree = 0;
  for (const DimFactor &factor : factors) {
    degree += factor.power;
    bits |= factor.atom->symbolBits;
    hash = mix(hash, factor.atom->id + factor.power * kHashStep);
  }
  // The limit bounds what a product of polynomials can grow to; beyond it the value is unknown.
  if (degree > maxDegree)
    return nullptr;
  return monomials.get(
      hash, [&](const DimMonomial &other) { return std::ranges::equal(other.factors, factors); },
      [&] {
        return arena.make<DimMonomial>(
            DimMonomial{0, 0, static_cast<uint32_t>(degree), bits, arena.copy(factors)});
      });
}

const DimMonomial *DimContext::Impl::atomMonomial(const DimAtom &atom) {
  if (!atom.monomial) {
    DimFactor factor{&atom, 1};
    atom.monomial = monomial({&factor, 1});
  }
  return atom.monomial;
}

const DimMonomial *DimContext::Impl::product(const DimMonomial *a, const DimMonomial *b) {
  if (a->isOne())
    return b;
  if (b->isOne())
    return a;
  if (a->degree + b->degree > maxDegree)
    return nullptr;
  Buffer<DimFactor, maxDegree> buffer;
  DimFactor *factors = buffer.items;
  size_t count = 0;
  auto x = a->factors.begin(), y = b->factors.begin();
  // Both lists are sorted by atoms, so the product is a merge that adds powers.
  while (x != a->factors.end() || y != b->factors.end()) {
    if (y == b->factors.end() || (x != a->factors.end() && x->atom->id < y->atom->id)) {
      factors[count++] = *x++;
    } else if (x == a->factors.end() || y->atom->id < x->atom->id) {
      factors[count++] = *y++;
    } else {
      factors[count++] = {x->atom, x->power + y->power};
      ++x, ++y;
    }
  }
  return monomial({factors, count});
}

const DimMonomial *DimContext::Impl::quotient(const DimMonomial *a, const DimMonomial *b) {
  if (b->isOne())
    return a;
  if (b->degree > a->degree)
    return nullptr;
  Buffer<DimFactor, maxDegree> buffer;
  DimFactor *factors = buffer.items;
  size_t count = 0;
  auto divisor = b->factors.begin();
  // The divisor's factors have to occur in the same order with no higher power.
  for (const DimFactor &factor : a->factors) {
    uint32_t power = factor.power;
    if (divisor != b->factors.end() && divisor->atom == factor.atom) {
      if (divisor->power > power)
        return nullptr;
      power -= divisor->power;
      ++divisor;
    }
    if (power > 0)
      factors[count++] = {factor.atom, power};
  }
  // A factor of the divisor that was not found makes the quotient none.
  return divisor == b->factors.end() ? monomial({factors, count}) : nullptr;
}

const Dim::Node *DimContext::Impl::sorted(std::span<const DimTerm> terms) {
  if (terms.size() > maxTerms)
    return nullptr;
  uint64_t hash = terms.size(), bits = 0;
  for (const DimTerm &term : terms) {
    // INT64_MIN has no negation; without it, negating never overflows.
    if (term.coefficient == INT64_MIN)
      return nullptr;
    hash = mix(hash, term.monomial->id + static_cast<uint64_t>(term.coefficient) * kHashStep);
    bits |= term.monomial->symbolBits;
  }
  return nodes.get(
      hash, [&](const Dim::Node &other) { return std::ranges::equal(other.terms, terms); },
      [&] {
        return arena.make<Dim::Node>(Dim::Node{0, 0, bits, arena.copy(terms), false, std::nullopt});
      });
}

const Dim::Node *DimContext::Impl::sum(std::span<DimTerm> terms) {
  // Equal monomials become neighbours, so one pass adds their coefficients.
  std::sort(terms.begin(), terms.end(),
            [](const DimTerm &a, const DimTerm &b) { return a.monomial->id < b.monomial->id; });
  size_t kept = 0;
  for (const DimTerm &term : terms) {
    if (kept > 0 && terms[kept - 1].monomial == term.monomial) {
      if (!addProduct(terms[kept - 1].coefficient, term.coefficient, 1))
        return nullptr;
    } else {
      terms[kept++] = term;
    }
    // Terms that cancel leave the list, so that equal polynomials have equal terms.
    if (terms[kept - 1].coefficient == 0)
      --kept;
  }
  return sorted(terms.first(kept));
}

const Dim::Node *DimContext::Impl::combine(std::span<const DimTerm> a, std::span<const DimTerm> b,
                                           int64_t sign) {
  Buffer<DimTerm, 2 * maxTerms> buffer;
  DimTerm *terms = buffer.items;
  size_t count = 0;
  auto x = a.begin(), y = b.begin();
  // Both are sorted, so the sum is a merge.
  while (x != a.end() || y != b.end()) {
    if (y == b.end() || (x != a.end() && x->monomial->id < y->monomial->id)) {
      terms[count++] = *x++;
    } else if (x == a.end() || y->monomial->id < x->monomial->id) {
      terms[count++] = {sign * y->coefficient, y->monomial};
      ++y;
    } else {
      int64_t &coefficient = terms[count].coefficient;
      terms[count].monomial = x->monomial;
      // Overflow makes the result unknown rather than wrong.
      if (__builtin_add_overflow(x->coefficient, sign * y->coefficient, &coefficient))
        return nullptr;
      count += coefficient != 0;
      ++x, ++y;
    }
  }
  return sorted({terms, count});
}

// ---- Arithmetic ---------------------------------------------------------------------------------

DimContext::DimContext() : impl_(std::make_unique<Impl>()) { impl_->one = impl_->monomial({}); }
DimContext::~DimContext() = default;

std::shared_ptr<void> &DimContext::proverMemory() { return impl_->proverMemory; }

SymbolId DimContext::addSymbol(std::string name, SymbolKind kind, Span span) {
  impl_->symbols.push_back({std::move(name), kind, span});
  return {static_cast<uint32_t>(impl_->symbols.size() - 1)};
}

const Symbol &DimContext::symbol(SymbolId id) const { return impl_->symbols[id.index]; }

Dim DimContext::constant(int64_t value) {
  // The constant 0 is the empty sum.
  DimTerm term{value, impl_->one};
  return Dim(impl_->sorted({&term, value == 0 ? size_t(0) : size_t(1)}));
}

Dim DimContext::symbolDim(SymbolId id) {
  return atomDim(*impl_->atom(DimAtomKind::Symbol, id, {}));
}

Dim DimContext::atomDim(const DimAtom &atom) { return monomialDim(*impl_->atomMonomial(atom)); }

Dim DimContext::monomialDim(const DimMonomial &monomial) {
  // The polynomial of one monomial is asked for often, so it is kept with it.
  if (!monomial.alone) {
    DimTerm term{1, &monomial};
    monomial.alone = impl_->sorted({&term, 1});
  }
  return Dim(monomial.alone);
}

Dim DimContext::termsDim(std::vector<DimTerm> terms) { return Dim(impl_->sum(terms)); }

Dim DimContext::add(Dim a, Dim b) {
  return a && b ? Dim(impl_->combine(a.terms(), b.terms(), 1)) : Dim();
}

Dim DimContext::sub(Dim a, Dim b) {
  return a && b ? Dim(impl_->combine(a.terms(), b.terms(), -1)) : Dim();
}

Dim DimContext::scale(Dim a, int64_t factor) {
  if (!a || factor == 1)
    return a;
  if (factor == 0)
    return constant(0);
  Buffer<DimTerm, maxTerms> buffer;
  DimTerm *terms = buffer.items;
  size_t count = 0;
  for (DimTerm term : a.terms()) {
    if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient))
      return {};
    terms[count++] = term;
  }
  return Dim(impl_->sorted({terms, count}));
}

Dim DimContext::mul(Dim a, Dim b) {
  if (!a || !b)
    return {};
  // A constant factor keeps the order of the terms, which is cheaper than a product.
  if (std::optional<int64_t> factor = a.constant())
    return scale(b, *factor);
  if (std::optional<int64_t> factor = b.constant())
    return scale(a, *factor);
  // The buffer is kept between calls.
  std::vector<DimTerm> &terms = impl_->scratch;
  terms.clear();
  for (const DimTerm &x : a.terms()) {
    for (const DimTerm &y : b.terms()) {
      const DimMonomial *monomial = impl_->product(x.monomial, y.monomial);
      int64_t coefficient;
      if (!monomial || __builtin_mul_overflow(x.coefficient, y.coefficient, &coefficient))
        return {};
      terms.push_back({coefficient, monomial});
    }
  }
  return Dim(impl_->sum(terms));
}

Dim DimContext::ceilDiv(Dim a, Dim b) {
  Dim one = constant(1);
  // cdiv(a, b) is (a - 1) / b + 1 for b >= 1.
  return add(floorDiv(sub(a, one), b), one);
}

Dim DimContext::mod(Dim a, Dim b) { return sub(a, mul(b, floorDiv(a, b))); }

/// The value of an atom that may mention a replaced symbol.
Dim DimContext::substituteAtom(const DimAtom &atom, std::span<const DimReplacement> map,
                               uint64_t bits) {
  if (atom.kind == DimAtomKind::Symbol) {
    // Replacements are sorted by their symbols.
    auto found = std::ranges::lower_bound(map, atom.symbol, {}, &DimReplacement::first);
    bool replaced = found != map.end() && found->first == atom.symbol;
    return replaced ? found->second : atomDim(atom);
  }
  std::vector<Dim> operands;
  for (Dim operand : atom.operands)
    operands.push_back(substitute(operand, map, bits));
  // An atom none of whose operands changed stays the same object.
  if (std::ranges::equal(operands, atom.operands))
    return atomDim(atom);
  // The constructors bring the new operands into normal form.
  if (atom.kind == DimAtomKind::FloorDiv)
    return floorDiv(operands[0], operands[1]);
  return minMax(atom.kind, std::move(operands));
}

Dim DimContext::substitute(Dim a, std::span<const DimReplacement> map, uint64_t bits) {
  // What mentions no replaced symbol stays as it is, which the bits tell.
  if ((a.symbolBits() & bits) == 0)
    return a;
  std::vector<DimTerm> terms;
  for (const DimTerm &term : a.terms()) {
    if ((term.monomial->symbolBits & bits) == 0) {
      terms.push_back(term);
      continue;
    }
    Dim product = constant(term.coefficient);
    // The value of the term is the product of the values of its factors.
    for (const DimFactor &factor : term.monomial->factors) {
      Dim value = (factor.atom->symbolBits & bits) == 0 ? atomDim(*factor.atom)
                                                        : substituteAtom(*factor.atom, map, bits);
      for (uint32_t i = 0; i < factor.power; ++i)
        product = mul(product, value);
    }
    if (!product)
      return {};
    terms.insert(terms.end(), product.terms().begin(), product.terms().end());
  }
  return Dim(impl_->sum(terms));
}

Dim DimContext::substitute(Dim a, std::span<const DimReplacement> replacements) {
  uint64_t bits = 0;
  for (const DimReplacement &replacement : replacements)
    bits |= bitOf(replacement.first);
  return substitute(a, replacements, bits);
}

Dim DimContext::substitute(Dim a, const DimSubstitution &map) {
  uint64_t bits = 0;
  for (const auto &[symbol, value] : map)
    bits |= bitOf(symbol);
  if ((a.symbolBits() & bits) == 0)
    return a;
  std::vector<DimReplacement> replacements(map.begin(), map.end());
  return substitute(a, replacements, bits);
}

// ---- Walks --------------------------------------------------------------------------------------

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
    // A divisor is at least 1; other values have no quotient.
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
      // An unknown value makes the whole unknown, as does an overflow.
      for (uint32_t i = 0; i < factor.power; ++i)
        if (!value || __builtin_mul_overflow(product, *value, &product))
          return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

Dim DimContext::power(Dim base, Dim exponent) {
  if (!isExponent(exponent))
    return Dim();
  Dim result = constant(1);
  for (int64_t i = 0; i < *exponent.constant(); ++i)
    result = mul(result, base);
  return result;
}

static void collectSymbols(Dim a, std::vector<SymbolId> &symbols) {
  for (const DimTerm &term : a.terms()) {
    for (const DimFactor &factor : term.monomial->factors) {
      if (factor.atom->kind == DimAtomKind::Symbol)
        symbols.push_back(factor.atom->symbol);
      for (Dim operand : factor.atom->operands)
        collectSymbols(operand, symbols);
    }
  }
}

void forEachSymbol(Dim a, const std::function<void(SymbolId)> &visit) {
  if (a.symbolBits() == 0)
    return;
  if (std::optional<SymbolId> symbol = a.symbol())
    return visit(*symbol);
  std::vector<SymbolId> symbols;
  collectSymbols(a, symbols);
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
  for (SymbolId symbol : symbols)
    visit(symbol);
}

// ---- What other files do ------------------------------------------------------------------------

Dim DimContext::floorDiv(Dim a, Dim b) { return quotient(*this, *impl_, a, b); }

Dim DimContext::minMax(DimAtomKind kind, std::vector<Dim> operands) {
  return choice(*this, *impl_, kind, std::move(operands));
}

std::optional<int64_t> DimContext::plainLowerBound(Dim a) const {
  if (!a)
    return std::nullopt;
  const Dim::Node &node = *a.node_;
  if (node.isBounded)
    return node.lowerBound;
  // The mark is set first, so that failing is remembered as well.
  node.isBounded = true;
  int64_t sum = 0;
  for (const DimTerm &term : node.terms)
    if (!addPlainBound(*this, term.coefficient, *term.monomial, sum))
      return std::nullopt;
  return node.lowerBound = sum;
}

bool DimContext::isPlainlyAtLeast(Dim a, Dim b) const {
  return dims::isPlainlyAtLeast(*this, a, b);
}

std::string DimContext::toString(Dim a) const {
  // Looking for `%` and `cdiv` interns polynomials: not visible from outside, so const.
  return spelled(const_cast<DimContext &>(*this), *impl_, a);
}

} // namespace ptl
