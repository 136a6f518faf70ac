#include "frontend/dim/dim_print.h"

#include <algorithm>
#include <array>
#include <map>

namespace ptl {

using namespace dims;

/// A polynomial while it is taken apart, leading term first.
using TermMap = std::map<const DimMonomial *, int64_t, MonomialGreater>;

static TermMap toMap(Dim a) {
  TermMap map;
  for (const DimTerm &term : a.terms())
    map.emplace(term.monomial, term.coefficient);
  return map;
}

/// Subtracts `factor * monomial * b` from `work`; false past a limit.
static bool subtract(DimContext::Impl &impl, TermMap &work, int64_t factor,
                     const DimMonomial *monomial, Dim b) {
  for (const DimTerm &term : b.terms()) {
    const DimMonomial *at = impl.product(monomial, term.monomial);
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

namespace {

/// One product of the printed sum, without its coefficient.
struct Spelled {
  int64_t coefficient = 0;
  std::vector<std::string> factors; ///< empty: the constant
  uint32_t degree = 0;
  size_t order = 0;
};

class Printer {
public:
  Printer(DimContext &context, DimContext::Impl &impl) : context_(context), impl_(impl) {}

  std::string sum(Dim a);

private:
  bool takeRemainder(TermMap &work, const DimAtom &division, std::vector<Spelled> &out);
  bool takeShifted(TermMap &work, const DimAtom &division, std::vector<Spelled> &out);
  bool takeCeiling(TermMap &work, const DimAtom &division, std::vector<Spelled> &out);
  std::vector<std::string> factors(const DimMonomial &monomial);
  std::string atom(const DimAtom &atom);
  std::string call(const char *name, std::span<const Dim> operands);
  std::string quotient(const DimAtom &atom, const char *op);
  std::string join(std::vector<Spelled> products);
  std::string operand(Dim a, bool isDivisor);
  const DimMonomial *of(const DimAtom &atom) { return impl_.atomMonomial(atom); }
  Dim plus(Dim a, int64_t constant);

  DimContext &context_;
  DimContext::Impl &impl_;
};

} // namespace

static bool isDivision(const std::string &text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && (c == '/' || c == '%'))
      return true;
  }
  return false;
}

/// A constant divisor whose dividend ends in `b - 1`, or a symbolic one whose dividend ends in -1.
static bool isCeiling(const DimAtom &division) {
  int64_t constant = constantOf(division.operands[0]);
  if (std::optional<int64_t> divisor = division.operands[1].constant())
    return constant == *divisor - 1;
  return constant == -1;
}

std::string Printer::operand(Dim a, bool isDivisor) {
  std::string text = sum(a);
  bool isSum = a.terms().size() > 1 || text.find(' ') != std::string::npos;
  bool isProduct = text.find_first_of("*/") != std::string::npos;
  bool isCall = !isSum && !isProduct;
  bool wraps = text.back() == ')' && a.terms().size() == 1 &&
               (text.starts_with("cdiv(") || text.starts_with("min(") || text.starts_with("max("));
  if (wraps || isCall || (isProduct && !isSum && !isDivisor && !isDivision(text)))
    return text;
  return "(" + text + ")";
}

std::string Printer::quotient(const DimAtom &atom, const char *op) {
  return operand(atom.operands[0], false) + op + operand(atom.operands[1], true);
}

std::string Printer::call(const char *name, std::span<const Dim> operands) {
  std::string text = name;
  const char *separator = "(";
  for (Dim operand : operands) {
    text += separator + sum(operand);
    separator = ", ";
  }
  return text + ")";
}

Dim Printer::plus(Dim a, int64_t constant) { return context_.add(a, context_.constant(constant)); }

std::string Printer::atom(const DimAtom &atom) {
  switch (atom.kind) {
  case DimAtomKind::Symbol:
    return context_.symbol(atom.symbol).name;
  case DimAtomKind::Min:
    return call("min", atom.operands);
  case DimAtomKind::Max:
    return call("max", atom.operands);
  case DimAtomKind::FloorDiv:
    break;
  }
  std::optional<int64_t> divisor = atom.operands[1].constant();
  if (divisor && isCeiling(atom))
    return call("cdiv", std::array{plus(atom.operands[0], 1 - *divisor), atom.operands[1]});
  return quotient(atom, "/");
}

std::vector<std::string> Printer::factors(const DimMonomial &monomial) {
  std::vector<std::string> result;
  for (const DimFactor &factor : monomial.factors) {
    std::string text = atom(*factor.atom);
    bool parenthesised = isDivision(text) && (monomial.degree > 1);
    text = parenthesised ? "(" + text + ")" : text;
    result.push_back(factor.power == 1 ? text : text + "**" + std::to_string(factor.power));
  }
  return result;
}

/// `c*(a - b*(a/b))*m` becomes `c*(a % b)*m`.
bool Printer::takeRemainder(TermMap &work, const DimAtom &division, std::vector<Spelled> &out) {
  Dim a = division.operands[0], b = division.operands[1];
  // One term of `b*(a/b)` identifies the place in the sum; the others are checked by subtraction.
  auto [leading, leadingCoefficient] = *toMap(b).begin();
  const DimMonomial *quotient = of(division);
  const DimMonomial *pattern = impl_.product(quotient, leading);
  if (!pattern)
    return false;
  for (auto [monomial, coefficient] : work) {
    const DimMonomial *factor = impl_.quotient(monomial, pattern);
    if (!factor || coefficient % leadingCoefficient != 0)
      continue;
    int64_t c = -coefficient / leadingCoefficient;
    TermMap rest = work;
    bool fits = subtract(impl_, rest, c, factor, a);
    for (auto [at, bCoefficient] : toMap(b)) {
      const DimMonomial *product = impl_.product(at, quotient);
      product = product ? impl_.product(product, factor) : nullptr;
      fits = fits && product && addProduct(rest[product], c, bCoefficient);
      if (product && rest[product] == 0)
        rest.erase(product);
    }
    // A spelling that does not make the sum shorter would only hide what it is made of.
    if (!fits || rest.size() + 1 >= work.size())
      continue;
    Spelled spelled{c, factors(*factor), factor->degree + 1};
    std::string text = this->quotient(division, " % ");
    bool alone = factor->isOne() && (c == 1 || c == -1);
    spelled.factors.push_back(alone ? text : "(" + text + ")");
    out.push_back(std::move(spelled));
    work = std::move(rest);
    return true;
  }
  return false;
}

/// `c*((a - 1)/b + 1)*m` becomes `c*cdiv(a, b)*m`.
bool Printer::takeCeiling(TermMap &work, const DimAtom &division, std::vector<Spelled> &out) {
  if (division.operands[1].isConstant() || !isCeiling(division))
    return false;
  const DimMonomial *quotient = of(division);
  for (auto [monomial, coefficient] : work) {
    const DimMonomial *factor = impl_.quotient(monomial, quotient);
    if (!factor)
      continue;
    // The 1 of `(a - 1)/b + 1` is part of a constant of the sum, which may be larger and of which
    // it takes its part.
    auto constant = work.find(factor);
    // With opposite signs, taking the 1 away would make the constant larger.
    if (constant == work.end() || (constant->second < 0) != (coefficient < 0))
      continue;
    Spelled spelled{coefficient, factors(*factor), factor->degree + 1};
    spelled.factors.push_back(
        call("cdiv", std::array{plus(division.operands[0], 1), division.operands[1]}));
    constant->second -= coefficient;
    if (constant->second == 0)
      work.erase(constant);
    work.erase(monomial);
    out.push_back(std::move(spelled));
    return true;
  }
  return false;
}

/// Remainders are kept positive: `c*((T + 15*S)/16 - S)*m` becomes `c*((T - S)/16)*m`.
bool Printer::takeShifted(TermMap &work, const DimAtom &division, std::vector<Spelled> &out) {
  Dim a = division.operands[0];
  std::optional<int64_t> divisor = division.operands[1].constant();
  if (!divisor || isCeiling(division))
    return false;
  const DimMonomial *quotient = of(division);
  for (auto [monomial, coefficient] : work) {
    const DimMonomial *factor = impl_.quotient(monomial, quotient);
    if (!factor)
      continue;
    TermMap rest = work;
    std::vector<DimTerm> dividend(a.terms().begin(), a.terms().end());
    for (const DimTerm &term : a.terms()) {
      const DimMonomial *outer = impl_.product(term.monomial, factor);
      auto found = outer ? rest.find(outer) : rest.end();
      if (found == rest.end() || found->second % coefficient != 0)
        continue;
      int64_t shift = found->second / coefficient;
      // Larger multiples were not made by keeping a remainder positive, and are written as they
      // are.
      if (shift != -1 && shift != 1)
        continue;
      dividend.push_back({shift * *divisor, term.monomial});
      rest.erase(found);
    }
    if (rest.size() == work.size())
      continue;
    rest.erase(monomial);
    Spelled spelled{coefficient, factors(*factor), factor->degree + 1};
    std::string text =
        operand(context_.termsDim(std::move(dividend)), false) + "/" + std::to_string(*divisor);
    spelled.factors.push_back(factor->isOne() ? text : "(" + text + ")");
    out.push_back(std::move(spelled));
    work = std::move(rest);
    return true;
  }
  return false;
}

/// Positive products first, so that `T - S` is not `-S + T`; the constant last among its sign.
std::string Printer::join(std::vector<Spelled> products) {
  auto rank = [](const Spelled &a) { return std::pair(a.coefficient < 0, ~a.degree); };
  for (size_t i = 0; i < products.size(); ++i)
    products[i].order = i;
  std::sort(products.begin(), products.end(), [&](const Spelled &a, const Spelled &b) {
    return std::pair(rank(a), a.order) < std::pair(rank(b), b.order);
  });
  std::string text;
  for (const Spelled &product : products) {
    bool negative = product.coefficient < 0;
    if (text.empty())
      text = negative ? "-" : "";
    else
      text += negative ? " - " : " + ";
    uint64_t size = negative ? 0 - static_cast<uint64_t>(product.coefficient)
                             : static_cast<uint64_t>(product.coefficient);
    const char *separator = "";
    if (size != 1 || product.factors.empty()) {
      text += std::to_string(size);
      separator = "*";
    }
    // Beside other factors `R/2` would divide them, too.
    bool isAlone = product.factors.size() == 1 && size == 1;
    for (const std::string &factor : product.factors) {
      // `--R/2` would be R/2.
      bool wrap = (!isAlone && isDivision(factor)) || (negative && factor.starts_with('-'));
      text += separator + (wrap ? "(" + factor + ")" : factor);
      separator = "*";
    }
  }
  return text.empty() ? "0" : text;
}

std::string Printer::sum(Dim a) {
  if (!a)
    return "?";
  TermMap work = toMap(a);
  std::vector<Spelled> products;
  std::vector<const DimAtom *> divisions;
  for (auto [monomial, coefficient] : work)
    for (const DimFactor &factor : monomial->factors)
      if (factor.atom->kind == DimAtomKind::FloorDiv)
        divisions.push_back(factor.atom);
  // Remainders go first: a ceiling takes the division that a remainder needs.
  for (const DimAtom *division : divisions) {
    while (takeRemainder(work, *division, products)) {
    }
    while (takeShifted(work, *division, products) || takeCeiling(work, *division, products)) {
    }
  }
  for (auto [monomial, coefficient] : work)
    products.push_back({coefficient, factors(*monomial), monomial->degree});
  return join(std::move(products));
}

std::string dims::spelled(DimContext &context, DimContext::Impl &impl, Dim a) {
  return Printer(context, impl).sum(a);
}

} // namespace ptl
