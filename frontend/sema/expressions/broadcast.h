// Shapes of operands that meet: only a literal 1, a missing leading axis and a scalar repeat.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

struct Shape {
  bool prefix = false; ///< begins with the declaration's `..`
  std::vector<Extent> extents;

  size_t rank() const { return extents.size(); }
  bool isScalar() const { return !prefix && extents.empty(); }
};

/// Scalars have no axes.
Shape shapeOf(const Type *type);
/// A scalar type when the shape has no axes.
const Type *shapedType(Context &ctx, Elem elem, const Shape &shape);
/// `[i, C]`
std::string toString(Context &ctx, const Shape &shape);

/// Equal under the facts.
Proof extentsEqual(Context &ctx, const Extent &a, const Extent &b);
/// Equal shapes without broadcasting.
bool sameShape(Context &ctx, const Shape &a, const Shape &b);

/// Two axes that do not match.
struct ExtentMismatch {
  Extent a, b;
  int64_t axis = 0;         ///< counted from the end
  bool rankDiffers = false; ///< the leading axes of `..` cannot be told
};
/// The shape both broadcast to; nothing and `*mismatch` when they do not.
std::optional<Shape> broadcast(Context &ctx, const Shape &a, const Shape &b,
                               ExtentMismatch *mismatch);
/// Whether `from` broadcasts to `to` without changing it.
bool broadcastsTo(Context &ctx, const Shape &from, const Shape &to, ExtentMismatch *mismatch);
/// Adds why two extents differ or cannot be shown equal, and the `assert` that would settle it.
void explainExtents(Context &ctx, DiagnosticBuilder diagnostic, const Extent &a, const Extent &b);
/// Where a value would be of the type without axes that a reduction has kept, offers to drop them.
bool offerWithoutKeptAxes(Context &ctx, DiagnosticBuilder report, const Expr *value,
                          const Type *target);

} // namespace ptl
