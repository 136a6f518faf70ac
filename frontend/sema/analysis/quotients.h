// Divisions in positions. A value is determined by its quotient and remainder by one divisor, so
// `y[t / N, t % N]` goes over two axes with one value. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/region.h"

namespace ptl {

struct Quotient {
  Dim dividend, divisor;
  bool operator==(const Quotient &) const = default;
};

/// The divisions in start, stop and step of a set, without repetition. Dividends are no constants.
void collectQuotients(const AxisSet &set, std::vector<Quotient> &found);

/// Among the divisions of one dividend, the one whose divisor divides the most other divisors: the
/// others can then be written by its quotient.
std::optional<Quotient> finestOf(DimContext &dims, const std::vector<Quotient> &all, Dim dividend);

/// The set in which the dividend of `of` is `divisor * quotient + remainder`; its other divisions
/// that allow it are divisions of the quotient.
AxisSet splitBy(DimContext &dims, const AxisSet &set, const Quotient &of, Dim quotient,
                Dim remainder);

/// A symbol that occurs in `dim` exactly once, as a term of its own with coefficient 1, so that the
/// value of `dim` determines it. `which` selects the candidates.
std::optional<SymbolId> solvedSymbol(Dim dim, const std::function<bool(SymbolId)> &which);

/// The set with each of its dimensions replaced.
AxisSet mapped(const AxisSet &set, const std::function<Dim(Dim)> &map);

} // namespace ptl
