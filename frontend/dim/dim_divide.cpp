#include "frontend/dim/dim_divide.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ptl {

using namespace dims;

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

Dim dims::quotient(DimContext &context, DimContext::Impl &impl, Dim a, Dim b) {
  if (!a || !b)
    return {};
  if (std::optional<int64_t> divisor = b.constant()) {
    // Divisors are at least 1; others have no quotient.
    if (*divisor <= 0)
      return {};
    if (*divisor == 1)
      return a;
  }
  std::optional<Division> division = divide(impl, a, b);
  if (!division)
    return {};
  Dim whole = context.termsDim(std::move(division->quotient));
  Dim rest = context.termsDim(std::move(division->remainder));
  // If everything divides, no atom is needed.
  if (!whole || !rest || rest.isConstant(0))
    return rest ? whole : Dim();
  if (rest.isConstant(-1))
    return context.add(whole, rest); // the divisor is >= 1
  if (rest.isConstant() && b.isConstant())
    return whole; // 0 <= rest < b
  int64_t g = commonCoefficient(rest, b);
  const DimMonomial *m = commonMonomial(context, impl, rest, b);
  // Common factors are cancelled, so that equal quotients have one form.
  if (g > 1 || !m->isOne())
    return context.add(
        whole, context.floorDiv(cancel(context, impl, rest, g, m), cancel(context, impl, b, g, m)));
  // Nested quotients become one: (x/y + c) / b == (x + c*y) / (y*b).
  if (const DimAtom *inner = onlyDivision(rest)) {
    Dim offset = context.scale(inner->operands[1], constantOf(rest));
    Dim product = context.mul(inner->operands[1], b);
    return context.add(whole, context.floorDiv(context.add(inner->operands[0], offset), product));
  }
  return context.add(whole,
                     context.atomDim(*impl.atom(DimAtomKind::FloorDiv, {}, std::array{rest, b})));
}

} // namespace ptl
