// Normal forms of the opaque terms: division, `min` and `max`.
#include "frontend/sema/dim.h"
#include "frontend/sema/dim_impl.h"

#include <algorithm>
#include <numeric>

namespace ptl {

using namespace dims;

/// Operands of one `min` or `max` beyond which nested ones are left nested.
static constexpr size_t maxOperands = 8;

// ---- Division
// --------------------------------------------------------------------------------------

/// The q for which the remainder `c - q*d` is within `0..|d|`.
static int64_t euclideanQuotient(int64_t c, int64_t d) {
  return d > 0 ? floorQuotient(c, d) : -floorQuotient(c, -d);
}

namespace {
struct Division {
  std::vector<DimTerm> quotient, remainder;
};
} // namespace

/// a = quotient*b + remainder, where no leading term of the remainder can be divided further.
static std::optional<Division> divide(DimContext::Impl &impl, Dim a, Dim b) {
  Division result;
  TermMap work = toMap(a), divisor = toMap(b);
  auto [leading, leadingCoefficient] = *divisor.begin();
  for (int step = 0; !work.empty(); ++step) {
    if (step > 256)
      return std::nullopt;
    auto [monomial, coefficient] = *work.begin();
    if (const DimMonomial *factor = impl.quotient(monomial, leading)) {
      int64_t q = euclideanQuotient(coefficient, leadingCoefficient);
      if (q != 0) {
        result.quotient.push_back({q, factor});
        if (!impl.subtract(work, q, factor, b))
          return std::nullopt;
      }
    }
    if (!work.empty() && work.begin()->first == monomial) {
      result.remainder.push_back({work.begin()->second, monomial});
      work.erase(work.begin());
    }
  }
  return result;
}

/// What a and b have in common, without factors that may be negative: those would turn the divisor.
static const DimMonomial *commonMonomial(DimContext &context, DimContext::Impl &impl, Dim a,
                                         Dim b) {
  std::vector<DimFactor> common = b.terms()[0].monomial->factors;
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
  std::erase_if(common, [&](const DimFactor &factor) {
    return factor.power == 0 || !context.isPlainlyNonNegative(context.atomDim(*factor.atom));
  });
  return impl.monomial(std::move(common));
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
    if (!term.monomial->isOne())
      g = std::gcd(g, term.coefficient);
  for (const DimTerm &term : divisor.terms())
    g = std::gcd(g, term.coefficient);
  return g;
}

/// The division inside `x/y + constant`, for `(x/y + c)/b == (x + c*y)/(y*b)`.
static const DimAtom *onlyDivision(Dim a) {
  Split split = splitConstant(a);
  if (split.rest.size() != 1 || split.rest[0].coefficient != 1)
    return nullptr;
  const DimMonomial &monomial = *split.rest[0].monomial;
  const DimAtom *atom = monomial.factors[0].atom;
  return monomial.degree == 1 && atom->kind == DimAtomKind::FloorDiv ? atom : nullptr;
}

Dim DimContext::floorDiv(Dim a, Dim b) {
  if (!a || !b)
    return {};
  if (std::optional<int64_t> divisor = b.constant()) {
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
  if (!whole || !rest || rest.isConstant(0))
    return rest ? whole : Dim();
  if (rest.isConstant(-1))
    return add(whole, rest); // the divisor is >= 1
  if (rest.isConstant() && b.isConstant())
    return whole; // 0 <= rest < b
  int64_t g = commonCoefficient(rest, b);
  const DimMonomial *m = commonMonomial(*this, *impl_, rest, b);
  if (g > 1 || !m->isOne())
    return add(whole, floorDiv(cancel(*this, *impl_, rest, g, m), cancel(*this, *impl_, b, g, m)));
  if (const DimAtom *inner = onlyDivision(rest)) {
    Dim offset = scale(inner->operands[1], splitConstant(rest).constant);
    Dim product = mul(inner->operands[1], b);
    return add(whole, floorDiv(add(inner->operands[0], offset), product));
  }
  return add(whole, atomDim(*impl_->atom(DimAtomKind::FloorDiv, {}, {rest, b})));
}

// ---- min and max
// -----------------------------------------------------------------------------------

/// The operands of `rest + min(x, y)` are `rest + x, rest + y`.
static bool flattenOne(DimContext &context, DimAtomKind kind, std::vector<Dim> &operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    for (const DimTerm &term : operands[i].terms()) {
      if (term.coefficient != 1 || term.monomial->degree != 1)
        continue;
      const DimAtom &atom = *term.monomial->factors[0].atom;
      if (atom.kind != kind || operands.size() + atom.operands.size() > maxOperands)
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
    return context.isPlainlyNonNegative(kind == DimAtomKind::Min ? context.sub(b, a)
                                                                 : context.sub(a, b));
  };
  for (Dim operand : operands) {
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
  while (flattenOne(*this, kind, operands)) {
  }
  if (operands.empty() || std::find(operands.begin(), operands.end(), Dim()) != operands.end())
    return {};
  std::sort(operands.begin(), operands.end(), [](Dim a, Dim b) { return a.id() < b.id(); });
  dropDominated(*this, kind, operands);
  if (operands.size() == 1)
    return operands[0];
  Dim common = commonPart(*this, operands);
  if (!common.isConstant(0)) {
    for (Dim &operand : operands)
      operand = sub(operand, common);
    std::sort(operands.begin(), operands.end(), [](Dim a, Dim b) { return a.id() < b.id(); });
  }
  return add(common, atomDim(*impl_->atom(kind, {}, std::move(operands))));
}

// ---- Bounds by kind
// --------------------------------------------------------------------------------

static std::optional<int64_t> plainBound(const DimContext &context, const DimAtom &atom) {
  switch (atom.kind) {
  case DimAtomKind::Symbol:
    switch (context.symbol(atom.symbol).kind) {
    case SymbolKind::Tunable:
      return 1;
    case SymbolKind::DimensionParam:
    case SymbolKind::RangeLen:
    case SymbolKind::RangeCount:
      return 0;
    case SymbolKind::RangeStart:
    case SymbolKind::LoopIndex:
    case SymbolKind::ScalarValue:
      return std::nullopt;
    }
    return std::nullopt;
  case DimAtomKind::FloorDiv: {
    std::optional<int64_t> bound = context.plainLowerBound(atom.operands[0]);
    if (!bound)
      return std::nullopt;
    if (std::optional<int64_t> divisor = atom.operands[1].constant())
      return floorQuotient(*bound, *divisor);
    return *bound >= 0 ? 0 : *bound;
  }
  case DimAtomKind::Min:
  case DimAtomKind::Max: {
    bool isMin = atom.kind == DimAtomKind::Min;
    std::optional<int64_t> result;
    for (Dim operand : atom.operands) {
      std::optional<int64_t> bound = context.plainLowerBound(operand);
      if (!bound && isMin)
        return std::nullopt;
      if (bound)
        result = !result ? *bound : isMin ? std::min(*result, *bound) : std::max(*result, *bound);
    }
    return result;
  }
  }
  return std::nullopt;
}

std::optional<int64_t> DimContext::plainLowerBound(Dim a) const {
  if (!a)
    return std::nullopt;
  int64_t sum = 0;
  for (const DimTerm &term : a.terms()) {
    if (term.coefficient < 0 && !term.monomial->isOne())
      return std::nullopt;
    int64_t product = term.coefficient;
    for (const DimFactor &factor : term.monomial->factors) {
      std::optional<int64_t> bound = plainBound(*this, *factor.atom);
      bool single = term.monomial->degree == 1;
      if (!bound || (*bound < 0 && !single))
        return std::nullopt;
      for (uint32_t i = 0; i < factor.power; ++i)
        if (__builtin_mul_overflow(product, *bound, &product))
          return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

} // namespace ptl
