// The elements that expressions denote. Only for use inside `sema/analysis`.
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

/// The elements that `x`, `x[…]`, `x[…][…]`, `s.field[…]` denotes; nothing for other expressions.
/// Elements of arrays in computed positions get symbols in `values`.
std::optional<Elements> elementsOf(DimContext &dims, const Expr *expr, KnownValues &values);
/// The operand of a reshaping expression, which has the same elements; otherwise `array` itself.
const Expr *withAllAxes(const Expr *array);
/// Whether the elements of an expression are a permutation of the positions of its one axis
/// (`argsort`), or are distinct.
bool isKnownPermutation(const Expr *value, const KnownValues &values);
bool isKnownUnique(const Expr *value, const KnownValues &values);
/// The region of a whole array.
Region wholeRegion(const Type *type);

/// The region as the text of an index: `0:h, :`.
std::string toString(DimContext &dims, const Region &region);
std::string toString(DimContext &dims, const AxisSet &set);

} // namespace ptl
