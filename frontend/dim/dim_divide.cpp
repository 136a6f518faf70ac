// Normal forms of the opaque terms: division, `min` and `max`.
#include "frontend/dim/dim.h"
#include "frontend/dim/dim_impl.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ptl {

using namespace dims;

/// Operands of one `min` or `max` beyond which nested ones are left nested.
static constexpr size_t kMaxOperands = 8;

// ---- Division -----------------------------------------------------------------------------------

/// The q for which the remainder `c - q*d` is within `0..|d|`.
static int64_t euclideanQuotient(int64_t c, int64_t d) {
  // With a negative divisor the quotient is mirrored, so that the remainder stays at least 0.
  return d > 0 ? floorQuotient(c, d) : -floorQuotient(c, -d);
}

namespace {

struct Division {
  std::vector<DimTerm> quotient, remainder;
};

/// A polynomial while it is divided: leading term last, where it is cheap to take away.
class Dividend {
public:
  explicit Dividend(Dim a) : terms_(a.terms().begin(), a.terms().end()) {
    std::sort(terms_.begin(), terms_.end(), isBelow);
  }
  bool isEmpty() const { return terms_.empty(); }
  const DimTerm &leading() const { return terms_.back(); }
  void drop() { terms_.pop_back(); }
  /// Subtracts `factor * monomial * b`; false past a limit.
  bool subtract(DimContext::Impl &impl, int64_t factor, const DimMonomial *monomial, Dim b) {
    for (const DimTerm &term : b.terms()) {
      const DimMonomial *product = impl.product(monomial, term.monomial);
      if (!product)
        return false;
      DimTerm key{0, product};
      // Terms are sorted, so the place of the product is found by bisection.
      auto slot = std::lower_bound(terms_.begin(), terms_.end(), key, isBelow);
      if (slot == terms_.end() || slot->monomial != product)
        slot = terms_.insert(slot, key);
      if (!addProduct(slot->coefficient, -factor, term.coefficient))
        return false;
      if (slot->coefficient == 0)
        terms_.erase(slot);
    }
    return true;
  }

private:
  static bool isBelow(const DimTerm &a, const DimTerm &b) {
    return MonomialGreater()(b.monomial, a.monomial);
  }
  std::vector<DimTerm> terms_;
};

} // namespace

/// a = quotient*b + remainder, where no leading term of the remainder can be divided further.
static std::optional<Division> divide(DimContext::Impl &impl, Dim a, Dim b) {
  Division result;
  Dividend work(a);
  DimTerm leading = Dividend(b).leading();
  for (int step = 0; !work.isEmpty(); ++step) {
    // The limit bounds divisions whose remainders grow.
    if (step > 256)
      return std::nullopt;
    auto [coefficient, monomial] = work.leading();
    // The leading term can be divided if its monomial contains the divisor's.
    if (const DimMonomial *factor = impl.quotient(monomial, leading.monomial)) {
      int64_t q = euclideanQuotient(coefficient, leading.coefficient);
      if (q != 0) {
        result.quotient.push_back({q, factor});
        if (!work.subtract(impl, q, factor, b))
          return std::nullopt;
      }
    }
    // What is left of the leading term cannot be divided further, and belongs to the remainder.
    if (!work.isEmpty() && work.leading().monomial == monomial) {
      result.remainder.push_back(work.leading());
      work.drop();
    }
  }
  return result;
}

/// What a and b have in common, without factors that may be negative: those would turn the divisor.
static const DimMonomial *commonMonomial(DimContext &context, DimContext::Impl &impl, Dim a,
                                         Dim b) {
  std::span<const DimFactor> first = b.terms()[0].monomial->factors;
  std::vector<DimFactor> common(first.begin(), first.end());
  auto narrow = [&](Dim c) {
    for (const DimTerm &term : c.terms())
      for (DimFactor &factor : common) {
        uint32_t power = 0;
        for (const DimFactor &other : term.monomial->factors)
          if (other.atom == factor.atom)
            power = other.power;
        factor.power = std::min(factor.power, power);
      }
  };
  narrow(a);
  narrow(b);
  // A factor that may be negative would turn the inequality of the remainder around.
  std::erase_if(common, [&](const DimFactor &factor) {
    return factor.power == 0 || !context.isPlainlyNonNegative(context.atomDim(*factor.atom));
  });
  return impl.monomial(common);
}

/// Divides all coefficients by g and all monomials by m; the constant rounds down, which is right
/// for a dividend whose divisor is cancelled likewise.
static Dim cancel(DimContext &context, DimContext::Impl &impl, Dim a, int64_t g,
                  const DimMonomial *m) {
  std::vector<DimTerm> terms;
  for (const DimTerm &term : a.terms())
    terms.push_back({floorQuotient(term.coefficient, g), impl.quotient(term.monomial, m)});
  std::erase_if(terms, [](const DimTerm &term) { return term.coefficient == 0; });
  return context.termsDim(std::move(terms));
}

static int64_t commonCoefficient(Dim dividend, Dim divisor) {
  int64_t g = 0;
  for (const DimTerm &term : dividend.terms())
    // The constant may be rounded, so it does not have to share the factor.
    if (!term.monomial->isOne())
      g = std::gcd(g, term.coefficient);
  for (const DimTerm &term : divisor.terms())
    g = std::gcd(g, term.coefficient);
  return g;
}

/// The division inside `x/y + constant`, for `(x/y + c)/b == (x + c*y)/(y*b)`.
static const DimAtom *onlyDivision(Dim a) {
  // A constant comes first among the terms.
  std::span<const DimTerm> rest = a.terms().subspan(constantOf(a) != 0 ? 1 : 0);
  if (rest.size() != 1 || rest[0].coefficient != 1)
    return nullptr;
  const DimMonomial &monomial = *rest[0].monomial;
  const DimAtom *atom = monomial.factors[0].atom;
  return monomial.degree == 1 && atom->kind == DimAtomKind::FloorDiv ? atom : nullptr;
}

Dim DimContext::floorDiv(Dim a, Dim b) {
  if (!a || !b)
    return {};
  if (std::optional<int64_t> divisor = b.constant()) {
    // Divisors are at least 1; others have no quotient.
    if (*divisor <= 0)
      return {};
    if (*divisor == 1)
      return a;
  }
  std::optional<Division> division = divide(*impl_, a, b);
  if (!division)
    return {};
  Dim whole = termsDim(std::move(division->quotient));
  Dim rest = termsDim(std::move(division->remainder));
  // If everything divides, no atom is needed.
  if (!whole || !rest || rest.isConstant(0))
    return rest ? whole : Dim();
  if (rest.isConstant(-1))
    return add(whole, rest); // the divisor is >= 1
  if (rest.isConstant() && b.isConstant())
    return whole; // 0 <= rest < b
  int64_t g = commonCoefficient(rest, b);
  const DimMonomial *m = commonMonomial(*this, *impl_, rest, b);
  // Common factors are cancelled, so that equal quotients have one form.
  if (g > 1 || !m->isOne())
    return add(whole, floorDiv(cancel(*this, *impl_, rest, g, m), cancel(*this, *impl_, b, g, m)));
  // Nested quotients become one: (x/y + c) / b == (x + c*y) / (y*b).
  if (const DimAtom *inner = onlyDivision(rest)) {
    Dim offset = scale(inner->operands[1], constantOf(rest));
    Dim product = mul(inner->operands[1], b);
    return add(whole, floorDiv(add(inner->operands[0], offset), product));
  }
  return add(whole, atomDim(*impl_->atom(DimAtomKind::FloorDiv, {}, std::array{rest, b})));
}

// ---- min and max --------------------------------------------------------------------------------

/// The operands of `rest + min(x, y)` are `rest + x, rest + y`.
static bool flattenOne(DimContext &context, DimAtomKind kind, std::vector<Dim> &operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    for (const DimTerm &term : operands[i].terms()) {
      // Only a choice that is added as it is can be flattened.
      if (term.coefficient != 1 || term.monomial->degree != 1)
        continue;
      const DimAtom &atom = *term.monomial->factors[0].atom;
      if (atom.kind != kind || operands.size() + atom.operands.size() > kMaxOperands)
        continue;
      Dim rest = context.sub(operands[i], context.atomDim(atom));
      operands.erase(operands.begin() + static_cast<ptrdiff_t>(i));
      for (Dim inner : atom.operands)
        operands.push_back(context.add(rest, inner));
      return true;
    }
  }
  return false;
}

/// Drops operands that another one is known to beat.
static void dropDominated(DimContext &context, DimAtomKind kind, std::vector<Dim> &operands) {
  std::vector<Dim> kept;
  auto beats = [&](Dim a, Dim b) {
    // The difference has to be known without any facts, since atoms hold for all of them.
    return context.isPlainlyNonNegative(kind == DimAtomKind::Min ? context.sub(b, a)
                                                                 : context.sub(a, b));
  };
  for (Dim operand : operands) {
    // Of equal operands one is kept.
    if (std::any_of(kept.begin(), kept.end(), [&](Dim other) { return beats(other, operand); }))
      continue;
    std::erase_if(kept, [&](Dim other) { return beats(operand, other); });
    kept.push_back(operand);
  }
  operands = std::move(kept);
}

/// The terms that all operands have with one coefficient.
static Dim commonPart(DimContext &context, const std::vector<Dim> &operands) {
  std::vector<DimTerm> common(operands[0].terms().begin(), operands[0].terms().end());
  for (Dim operand : operands)
    std::erase_if(common, [&](const DimTerm &term) {
      return std::find(operand.terms().begin(), operand.terms().end(), term) ==
             operand.terms().end();
    });
  return context.termsDim(std::move(common));
}

Dim DimContext::minMax(DimAtomKind kind, std::vector<Dim> operands) {
  // Flattening repeats until no operand holds a choice of the same kind.
  while (flattenOne(*this, kind, operands)) {
  }
  if (operands.empty() || std::find(operands.begin(), operands.end(), Dim()) != operands.end())
    return {};
  // The order makes equal choices equal atoms.
  std::sort(operands.begin(), operands.end(), [](Dim a, Dim b) { return a.id() < b.id(); });
  dropDominated(*this, kind, operands);
  if (operands.size() == 1)
    return operands[0];
  // A common part is taken out, so that min(x, x + 1) shows what differs.
  Dim common = commonPart(*this, operands);
  if (!common.isConstant(0)) {
    for (Dim &operand : operands)
      operand = sub(operand, common);
    std::sort(operands.begin(), operands.end(), [](Dim a, Dim b) { return a.id() < b.id(); });
  }
  return add(common, atomDim(*impl_->atom(kind, {}, operands)));
}

// ---- Bounds by kind -----------------------------------------------------------------------------

static std::optional<int64_t> plainBound(const DimContext &context, const DimAtom &atom) {
  switch (atom.kind) {
  case DimAtomKind::Symbol:
    return leastOf(context.symbol(atom.symbol).kind);
  case DimAtomKind::FloorDiv: {
    std::optional<int64_t> bound = context.plainLowerBound(atom.operands[0]);
    if (!bound)
      return std::nullopt;
    // The quotient of the bound is the bound of the quotient, since division is monotone.
    if (std::optional<int64_t> divisor = atom.operands[1].constant())
      return floorQuotient(*bound, *divisor);
    // A quotient by an unknown divisor lies between 0 and its dividend.
    return *bound >= 0 ? 0 : *bound;
  }
  case DimAtomKind::Min:
  case DimAtomKind::Max: {
    bool isMin = atom.kind == DimAtomKind::Min;
    std::optional<int64_t> result;
    for (Dim operand : atom.operands) {
      std::optional<int64_t> bound = context.plainLowerBound(operand);
      if (!bound && isMin)
        // A minimum needs the bound of each operand, a maximum one of any.
        return std::nullopt;
      if (bound)
        result = !result ? *bound : isMin ? std::min(*result, *bound) : std::max(*result, *bound);
    }
    return result;
  }
  }
  return std::nullopt;
}

/// The least product; nothing if there may be none, or where it would not be that of the bounds.
static std::optional<int64_t> plainBound(const DimContext &context, const DimMonomial &monomial) {
  // The bound is computed once, since monomials are shared by many polynomials.
  if (monomial.isBounded)
    return monomial.lowerBound;
  std::optional<int64_t> product = 1;
  for (const DimFactor &factor : monomial.factors) {
    std::optional<int64_t> bound = plainBound(context, *factor.atom);
    // The product of bounds is only a bound if none of them is negative.
    if (!bound || (*bound < 0 && monomial.degree > 1))
      product.reset();
    for (uint32_t i = 0; product && i < factor.power; ++i)
      if (__builtin_mul_overflow(*product, *bound, &*product))
        product.reset();
  }
  monomial.isBounded = true;
  monomial.lowerBound = product;
  return product;
}

/// Adds the least value of `coefficient * monomial`; false if there may be none.
static bool addPlainBound(const DimContext &context, int64_t coefficient,
                          const DimMonomial &monomial, int64_t &sum) {
  if (monomial.isOne())
    return !__builtin_add_overflow(sum, coefficient, &sum);
  // A negative coefficient would need an upper bound.
  if (coefficient < 0)
    return false;
  std::optional<int64_t> bound = plainBound(context, monomial);
  return bound && addProduct(sum, coefficient, *bound);
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

// This avoids making the difference, which most comparisons need only for this answer.
bool DimContext::isPlainlyAtLeast(Dim a, Dim b) const {
  std::span<const DimTerm> left = a.terms(), right = b.terms();
  auto x = left.begin(), y = right.begin();
  int64_t sum = 0;
  while (x != left.end() || y != right.end()) {
    DimTerm term;
    // Terms are sorted by the number of their monomial, so the difference is a merge that needs no
    // new normal form: this function is called for every pair of operands of `min` and `max`.
    if (y == right.end() || (x != left.end() && x->monomial->id < y->monomial->id)) {
      term = *x++;
    } else if (x == left.end() || y->monomial->id < x->monomial->id) {
      term = {-y->coefficient, y->monomial};
      ++y;
    } else {
      term.monomial = x->monomial;
      if (__builtin_sub_overflow(x->coefficient, y->coefficient, &term.coefficient))
        return false;
      ++x, ++y;
    }
    if (term.coefficient != 0 && !addPlainBound(*this, term.coefficient, *term.monomial, sum))
      return false;
  }
  return sum >= 0;
}

} // namespace ptl
