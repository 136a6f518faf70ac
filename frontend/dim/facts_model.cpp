#include "frontend/dim/facts_model.h"

#include "frontend/dim/dim_impl.h"

#include <algorithm>

namespace ptl {

int64_t DimModel::least(SymbolId symbol) const {
  return leastOf(context_->symbol(symbol).kind).value_or(INT32_MIN);
}

/// Different symbols get different values where that is possible, so that they are not taken for
/// equal.
int64_t DimModel::value(SymbolId symbol) const {
  for (const auto &[known, value] : exceptions_)
    if (known == symbol)
      return value;
  int64_t spread = symbol.index % 61;
  SymbolKind kind = context_->symbol(symbol).kind;
  bool isCount = kind == SymbolKind::RangeCount || kind == SymbolKind::LoopIndex;
  switch (size_) {
  case Size::Least:
    return kind == SymbolKind::Tunable ? 1 : 0;
  case Size::One:
    return isCount ? 0 : 1;
  case Size::Some:
    return kind == SymbolKind::DimensionParam ? 1000 + 17 * spread : isCount ? 2 : 30 + spread;
  }
  return 0;
}

std::optional<int64_t> DimModel::value(Dim a) const {
  return evaluate(a, [this](SymbolId symbol) { return std::optional(value(symbol)); });
}

void DimModel::set(SymbolId symbol, int64_t value) {
  for (auto &[known, old] : exceptions_)
    if (known == symbol) {
      old = value;
      return;
    }
  exceptions_.emplace_back(symbol, value);
}

bool DimModel::repair(Dim a, bool isZero) {
  std::optional<int64_t> now = value(a);
  constexpr int64_t limit = int64_t(1) << 60;
  if (!now || *now > limit || *now < -limit)
    return false;
  if (*now == 0 || (*now > 0 && !isZero))
    return true;
  // Raising is tried first: few facts bound symbols by constants from above.
  for (bool raises : {true, false})
    for (const DimTerm &term : a.terms()) {
      if (term.monomial->degree != 1 || (term.coefficient > 0) != ((*now < 0) == raises))
        continue;
      const DimAtom &atom = *term.monomial->factors[0].atom;
      int64_t size = std::abs(term.coefficient), off = std::abs(*now);
      if (atom.kind != DimAtomKind::Symbol || (isZero && off % size != 0))
        continue;
      int64_t step = off / size + (off % size != 0);
      int64_t changed = value(atom.symbol) + (raises ? step : -step);
      if (changed < least(atom.symbol) || changed > (int64_t(1) << 50))
        continue;
      set(atom.symbol, changed);
      return true;
    }
  return false;
}

} // namespace ptl
