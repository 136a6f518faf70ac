#include "frontend/dim/facts_explain.h"

#include <algorithm>

namespace ptl {

static std::string quoted(const std::string &text) { return "`" + text + "`"; }

std::string toString(const DimContext &context, Relation relation, Dim a, Dim b) {
  std::string left = context.toString(a), right = context.toString(b);
  switch (relation) {
  case Relation::Equal:
    return left + " == " + right;
  case Relation::LessEqual:
    return left + " <= " + right;
  case Relation::Divides:
    bool wrapLeft = left.find_first_of(" /") != std::string::npos;
    bool wrapRight = right.find_first_of(" /*") != std::string::npos;
    return (wrapLeft ? "(" + left + ")" : left) + " % " + (wrapRight ? "(" + right + ")" : right) +
           " == 0";
  }
  return {};
}

static std::string fromFacts(const FactSet &facts, const Verdict &verdict) {
  constexpr size_t maxListed = 3;
  std::string text;
  size_t listed = std::min(verdict.used.size(), maxListed);
  for (size_t i = 0; i < listed; ++i) {
    const Fact &fact = verdict.used[i];
    text += i == 0 ? "" : i + 1 == listed ? " and " : ", ";
    text += quoted(toString(facts.context(), fact.relation, fact.a, fact.b));
  }
  return text;
}

static std::string explainTrue(const FactSet &facts, const Verdict &verdict) {
  if (!verdict.used.empty())
    return "it follows from " + fromFacts(facts, verdict);
  return "it always holds";
}

/// "`a` is always 3 more than `b`", with the greater one first.
static std::string explainOrder(const FactSet &facts, const Verdict &verdict) {
  DimContext &dims = facts.context();
  Dim greater = verdict.a, less = verdict.b;
  std::optional<int64_t> least = facts.lowerBound(dims.sub(greater, less));
  // Which of both is greater is not part of the verdict; the bound of their difference tells.
  if (!least || *least <= 0) {
    std::swap(greater, less);
    least = facts.lowerBound(dims.sub(greater, less));
  }
  std::string left = quoted(dims.toString(greater)), right = quoted(dims.toString(less));
  bool isOrder = verdict.relation == Relation::LessEqual;
  if (!least || *least <= 0)
    return quoted(dims.toString(verdict.a)) +
           (isOrder ? " is never at most " : " is never equal to ") +
           quoted(dims.toString(verdict.b));
  if (less.isConstant() && greater.isConstant())
    return left + (isOrder ? " is greater than " : " is not ") + right;
  if (facts.reduce(dims.sub(greater, less)).isConstant(*least))
    return left + " is always " + std::to_string(*least) + " more than " + right;
  if (*least == 1)
    return left + " is always greater than " + right;
  return left + " is always at least " + std::to_string(*least) + " more than " + right;
}

static std::string explainFalse(const FactSet &facts, const Verdict &verdict) {
  DimContext &dims = facts.context();
  std::string text;
  if (verdict.relation == Relation::Divides) {
    Dim remainder = facts.reduce(dims.mod(verdict.a, verdict.b));
    text = quoted(dims.toString(verdict.a)) + " is never a multiple of " +
           quoted(dims.toString(verdict.b));
    if (remainder.isConstant())
      text += ", the remainder is always " + dims.toString(remainder);
  } else {
    text = explainOrder(facts, verdict);
  }
  return verdict.used.empty() ? text : text + ", by " + fromFacts(facts, verdict);
}

static std::string explainUnknown(const FactSet &facts, const Verdict &verdict) {
  DimContext &dims = facts.context();
  std::string left = quoted(dims.toString(verdict.a)), right = quoted(dims.toString(verdict.b));
  switch (verdict.relation) {
  case Relation::Equal:
    if (left == right) // of a variable, with another symbol each time
      return left + " is computed twice, and its operands may have changed in between";
    return "it is not known that " + left + " and " + right + " are equal";
  case Relation::LessEqual:
    return "it is not known that " + left + " is at most " + right;
  case Relation::Divides:
    return "it is not known that " + left + " is a multiple of " + right;
  }
  return {};
}

std::string explain(const FactSet &facts, const Verdict &verdict) {
  switch (verdict.proof) {
  case Proof::True:
    return explainTrue(facts, verdict);
  case Proof::False:
    return explainFalse(facts, verdict);
  case Proof::Unknown:
    return explainUnknown(facts, verdict);
  }
  return {};
}

/// `0 <= difference` with each term on the side where it is positive.
static std::pair<Dim, Dim> sides(DimContext &dims, Dim difference) {
  std::vector<DimTerm> left, right;
  for (DimTerm term : difference.terms()) {
    if (term.coefficient > 0) {
      right.push_back(term);
    } else {
      term.coefficient = -term.coefficient;
      left.push_back(term);
    }
  }
  return {dims.termsDim(std::move(left)), dims.termsDim(std::move(right))};
}

static bool isParameter(const DimContext &dims, SymbolId symbol) {
  SymbolKind kind = dims.symbol(symbol).kind;
  return kind == SymbolKind::DimensionParam || kind == SymbolKind::Tunable;
}

MissingFact missingFact(const FactSet &facts, const Verdict &verdict) {
  DimContext &dims = facts.context();
  Dim a = verdict.a, b = verdict.b;
  if (verdict.relation == Relation::LessEqual) {
    auto allowed = [&](SymbolId symbol) {
      return isParameter(dims, symbol) || dims.symbol(symbol).kind == SymbolKind::ScalarValue;
    };
    // The user can state facts about parameters and scalars only. Thus symbols of loops are
    // replaced by their bounds first, unless that makes the condition false for certain.
    Dim least = facts.symbolicLowerBound(dims.sub(b, a), allowed);
    if (least && !least.isConstant() && !facts.proveLessEqual(dims.constant(0), least).isFalse())
      std::tie(a, b) = sides(dims, least);
  }
  MissingFact missing{toString(dims, verdict.relation, a, b), true};
  auto check = [&](SymbolId symbol) {
    missing.isWhere = missing.isWhere && isParameter(dims, symbol);
  };
  forEachSymbol(a, check);
  forEachSymbol(b, check);
  return missing;
}

} // namespace ptl
