#include "frontend/dim/dim_bounds.h"

namespace ptl {

using namespace dims;

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

bool dims::addPlainBound(const DimContext &context, int64_t coefficient,
                         const DimMonomial &monomial, int64_t &sum) {
  if (monomial.isOne())
    return !__builtin_add_overflow(sum, coefficient, &sum);
  // A negative coefficient would need an upper bound.
  if (coefficient < 0)
    return false;
  std::optional<int64_t> bound = plainBound(context, monomial);
  return bound && addProduct(sum, coefficient, *bound);
}

bool dims::isPlainlyAtLeast(const DimContext &context, Dim a, Dim b) {
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
    if (term.coefficient != 0 && !addPlainBound(context, term.coefficient, *term.monomial, sum))
      return false;
  }
  return sum >= 0;
}

} // namespace ptl
