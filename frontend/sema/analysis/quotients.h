// Divisions in positions. A value is determined by its quotient and remainder by one divisor, so
// `y[t / N, t % N]` covers two axes with one value. Only for use inside `sema/analysis`.
#pragma once

#include "frontend/sema/analysis/region.h"

namespace ptl {

struct Quotient {
  Dim dividend, divisor;
  bool operator==(const Quotient &) const = default;
};

/// Collects the distinct divisions in start, stop and step of a set whose dividends are not
/// constants.
void collectQuotients(const AxisSet &set, std::vector<Quotient> &found);

/// Among the divisions of one dividend, the one whose divisor divides the most other divisors, so
/// that the others can be expressed by its quotient.
std::optional<Quotient> finestOf(DimContext &dims, const std::vector<Quotient> &all, Dim dividend);

/// The set with the dividend of `of` replaced by `divisor * quotient + remainder`; its other
/// divisions become divisions of the quotient where possible.
AxisSet splitBy(DimContext &dims, const AxisSet &set, const Quotient &of, Dim quotient,
                Dim remainder);

/// A symbol that occurs in `dim` exactly once, as a term of its own with coefficient 1, so that the
/// value of `dim` determines it. `which` selects the candidates.
std::optional<SymbolId> solvedSymbol(Dim dim, const std::function<bool(SymbolId)> &which);

/// The set with `map` applied to each of its dimensions.
AxisSet mapped(const AxisSet &set, const std::function<Dim(Dim)> &map);

} // namespace ptl
