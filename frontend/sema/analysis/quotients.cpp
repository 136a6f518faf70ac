#include "frontend/sema/analysis/quotients.h"

#include <algorithm>

namespace ptl {

AxisSet mapped(const AxisSet &set, const std::function<Dim(Dim)> &map) {
  AxisSet result = set;
  for (Dim *dim : {&result.start, &result.stop, &result.step})
    *dim = *dim ? map(*dim) : *dim;
  for (AxisSet &index : result.index)
    index = mapped(index, map);
  return result;
}

static void collect(Dim dim, std::vector<Quotient> &found) {
  for (const DimTerm &term : dim.terms())
    for (const DimFactor &factor : term.monomial->factors) {
      const DimAtom &atom = *factor.atom;
      for (Dim operand : atom.operands)
        collect(operand, found);
      if (atom.kind != DimAtomKind::FloorDiv || atom.operands[0].isConstant())
        continue;
      Quotient quotient{atom.operands[0], atom.operands[1]};
      if (std::find(found.begin(), found.end(), quotient) == found.end())
        found.push_back(quotient);
    }
}

void collectQuotients(const AxisSet &set, std::vector<Quotient> &found) {
  for (Dim dim : {set.start, set.stop, set.step})
    if (dim)
      collect(dim, found);
}

/// `a / b` if that leaves no remainder, whatever the symbols are.
static Dim exactQuotient(DimContext &dims, Dim a, Dim b) {
  Dim quotient = dims.floorDiv(a, b);
  return quotient && dims.mul(quotient, b) == a ? quotient : Dim();
}

std::optional<Quotient> finestOf(DimContext &dims, const std::vector<Quotient> &all, Dim dividend) {
  std::optional<Quotient> best;
  size_t most = 0;
  for (const Quotient &each : all) {
    if (each.dividend != dividend)
      continue;
    auto follows = [&](const Quotient &other) {
      return other.dividend == dividend && exactQuotient(dims, other.divisor, each.divisor);
    };
    auto count = static_cast<size_t>(std::count_if(all.begin(), all.end(), follows));
    if (count > most) {
      most = count;
      best = each;
    }
  }
  return best;
}

std::optional<SymbolId> solvedSymbol(Dim dim, const std::function<bool(SymbolId)> &which) {
  for (const DimTerm &term : dim.terms()) {
    if (term.coefficient != 1 || term.monomial->degree != 1)
      continue;
    const DimAtom &atom = *term.monomial->factors[0].atom;
    if (atom.kind != DimAtomKind::Symbol || !which(atom.symbol))
      continue;
    // A symbol that occurs in another term as well, even inside a division, has no solution that is
    // free of it.
    auto uses = [&](const DimTerm &other) {
      return std::any_of(other.monomial->factors.begin(), other.monomial->factors.end(),
                         [&](const DimFactor &factor) {
                           return factor.atom == &atom ||
                                  std::any_of(
                                      factor.atom->operands.begin(), factor.atom->operands.end(),
                                      [&](Dim operand) { return operand.mentions(atom.symbol); });
                         });
    };
    if (std::count_if(dim.terms().begin(), dim.terms().end(), uses) == 1)
      return atom.symbol;
  }
  return std::nullopt;
}

namespace {
/// Puts `quotient` in the place of the divisions of one dividend.
struct Splitter {
  DimContext &dims;
  const Quotient &of;
  Dim quotient;

  Dim apply(Dim dim) {
    Dim sum = dims.constant(0);
    for (const DimTerm &term : dim.terms()) {
      Dim product = dims.constant(term.coefficient);
      for (const DimFactor &factor : term.monomial->factors) {
        Dim value = apply(*factor.atom);
        for (uint32_t i = 0; i < factor.power; ++i)
          product = dims.mul(product, value);
      }
      sum = dims.add(sum, product);
    }
    return sum;
  }

  Dim apply(const DimAtom &atom) {
    std::vector<Dim> operands;
    for (Dim operand : atom.operands)
      operands.push_back(apply(operand));
    switch (atom.kind) {
    case DimAtomKind::Symbol:
      return dims.symbolDim(atom.symbol);
    case DimAtomKind::FloorDiv:
      if (atom.operands[0] == of.dividend)
        if (Dim more = exactQuotient(dims, atom.operands[1], of.divisor))
          return dims.floorDiv(quotient, more);
      return dims.floorDiv(operands[0], operands[1]);
    case DimAtomKind::Min:
      return dims.min(std::move(operands));
    case DimAtomKind::Max:
      return dims.max(std::move(operands));
    }
    return {};
  }
};
} // namespace

AxisSet splitBy(DimContext &dims, const AxisSet &set, const Quotient &of, Dim quotient,
                Dim remainder) {
  Splitter splitter{dims, of, quotient};
  Dim value = dims.add(dims.mul(of.divisor, quotient), remainder);
  DimSubstitution solved;
  if (auto symbol = solvedSymbol(of.dividend, [](SymbolId) { return true; }))
    solved[*symbol] = dims.sub(value, dims.sub(of.dividend, dims.symbolDim(*symbol)));
  return mapped(set, [&](Dim dim) {
    Dim split = dims.substitute(splitter.apply(dim), solved);
    return split ? split : dim; // past a limit of dimensions: as it was
  });
}

} // namespace ptl
