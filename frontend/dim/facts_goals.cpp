#include "frontend/dim/facts_goals.h"

#include <algorithm>
#include <numeric>

namespace ptl {

bool isChoice(const DimAtom &atom) {
  return atom.kind == DimAtomKind::Min || atom.kind == DimAtomKind::Max;
}

bool hasProduct(Dim goal) {
  return std::any_of(goal.terms().begin(), goal.terms().end(),
                     [](const DimTerm &term) { return term.monomial->degree == 2; });
}

Dim symbolicDivisor(DimContext &context, Dim sum) {
  for (const DimTerm &term : sum.terms()) {
    const DimAtom *atom = term.monomial->degree == 1 ? term.monomial->factors[0].atom : nullptr;
    if (atom && atom->kind == DimAtomKind::FloorDiv && !atom->operands[1].isConstant() &&
        context.isPlainlyNonNegative(atom->operands[1]))
      return atom->operands[1];
  }
  return {};
}

Dim tightened(DimContext &context, Dim a) {
  int64_t common = 0;
  for (const DimTerm &term : a.terms())
    // The constant rounds down, so it does not have to share the factor.
    if (!term.monomial->isOne())
      common = std::gcd(common, term.coefficient);
  return common > 1 ? context.floorDiv(a, context.constant(common)) : a;
}

} // namespace ptl
