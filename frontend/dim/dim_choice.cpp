#include "frontend/dim/dim_choice.h"

#include <algorithm>

namespace ptl {

/// Operands of one `min` or `max` beyond which nested ones are left nested.
static constexpr size_t kMaxOperands = 8;

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

Dim dims::choice(DimContext &context, DimContext::Impl &impl, DimAtomKind kind,
                 std::vector<Dim> operands) {
  // Flattening repeats until no operand holds a choice of the same kind.
  while (flattenOne(context, kind, operands)) {
  }
  if (operands.empty() || std::find(operands.begin(), operands.end(), Dim()) != operands.end())
    return {};
  // The order makes equal choices equal atoms.
  std::sort(operands.begin(), operands.end(), [](Dim a, Dim b) { return a.id() < b.id(); });
  dropDominated(context, kind, operands);
  if (operands.size() == 1)
    return operands[0];
  // A common part is taken out, so that min(x, x + 1) shows what differs.
  Dim common = commonPart(context, operands);
  if (!common.isConstant(0)) {
    for (Dim &operand : operands)
      operand = context.sub(operand, common);
    std::sort(operands.begin(), operands.end(), [](Dim a, Dim b) { return a.id() < b.id(); });
  }
  return context.add(common, context.atomDim(*impl.atom(kind, {}, operands)));
}

} // namespace ptl
