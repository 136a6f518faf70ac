// Broadcasting: only a literal 1, a missing leading axis and a scalar are repeated.
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
/// An array type with the shape, or a scalar type if the shape has no axes.
const Type *shapedType(Context &ctx, Elem elem, const Shape &shape);
/// `[i, C]`
std::string toString(Context &ctx, const Shape &shape);

/// Whether the extents are equal under the facts.
Proof extentsEqual(Context &ctx, const Extent &a, const Extent &b);
/// Whether the shapes are equal without broadcasting.
bool sameShape(Context &ctx, const Shape &a, const Shape &b);

/// Two axes that do not match.
struct ExtentMismatch {
  Extent a, b;
  int64_t axis = 0;         ///< counted from the end
  bool rankDiffers = false; ///< the number of axes of `..` is unknown
};
/// The common shape after broadcasting; nothing, with the reason in `*mismatch`, if there is none.
std::optional<Shape> broadcast(Context &ctx, const Shape &a, const Shape &b,
                               ExtentMismatch *mismatch);
/// Whether broadcasting turns `from` into exactly `to`.
bool broadcastsTo(Context &ctx, const Shape &from, const Shape &to, ExtentMismatch *mismatch);
/// Adds the reason why two extents differ or cannot be proved equal, and the `assert` that would
/// settle it.
void explainExtents(Context &ctx, DiagnosticBuilder diagnostic, const Extent &a, const Extent &b);
/// If dropping the axes that a reduction has kept would give the value the expected type, offers
/// that fix.
bool offerWithoutKeptAxes(Context &ctx, DiagnosticBuilder report, const Expr *value,
                          const Type *target);

} // namespace ptl
