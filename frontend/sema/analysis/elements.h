// From expressions to the elements that they name. Inside `sema/analysis` only.
#pragma once

#include "frontend/sema/analysis/region.h"

namespace ptl {

/// Elements of an array, or of an array in a field of a struct.
struct Elements {
  const Local *local = nullptr;
  int32_t field = -1;         ///< -1: the local itself
  const Type *type = nullptr; ///< of all of it
  Region region;
  Span span; ///< as written
};

/// The elements that `x`, `x[…]`, `x[…][…]`, `s.field[…]` names; nothing for other expressions.
/// Elements of arrays in computed positions get symbols in `values`.
std::optional<Elements> elementsOf(DimContext &dims, const Expr *expr, KnownValues &values);
/// The array that a reshaping expression takes, which has the same values; else `array` itself.
const Expr *withAllAxes(const Expr *array);
/// Whether an expression has every position of its one axis once (`argsort`), or no value twice.
bool isKnownPermutation(const Expr *value, const KnownValues &values);
bool isKnownUnique(const Expr *value, const KnownValues &values);
/// All of an array.
Region wholeRegion(const Type *type);

/// `0:h, :` in the spelling of an index.
std::string toString(DimContext &dims, const Region &region);
std::string toString(DimContext &dims, const AxisSet &set);

} // namespace ptl
