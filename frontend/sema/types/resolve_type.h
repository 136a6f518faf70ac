// Resolves types as written, and queries about their parts.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Resolves a written type. Errors are reported and give the error type; never null.
const Type *resolveType(Context &ctx, NodeId node);

/// The annotation of a `let` or `var`: `f16[i, k] @mat`, `_ @mat dn`.
struct TypeAnnotation {
  const Type *type = nullptr; ///< null for `_`; has the written place and layout
  Place place = Place::Inferred;
  Layout layout = Layout::Inferred;
  Span span;
};
TypeAnnotation resolveAnnotation(Context &ctx, NodeId node);

/// Resolves `@mat dn`; reports names that are not places or layouts.
void resolvePlace(Context &ctx, NodeId node, Place &place, Layout &layout);

/// The element type of that name (`f16`, `T`, `acc(T)`); nothing if there is none. Does not report.
std::optional<Elem> findElem(Context &ctx, std::string_view name);
/// The same of a syntax node; `acc(T)` too. Does not report.
std::optional<Elem> findElem(Context &ctx, NodeId node);
/// Whether an expression node (`f32`, `T[i, j]`, `Row[C]`, `nn.Mlp[D, F]`) names a type. Does not
/// report.
bool namesType(Context &ctx, NodeId node);
/// A type with dimensions and element types substituted (for aliases, struct fields, results of
/// calls).
const Type *substituteType(Context &ctx, const Type *type, const DimSubstitution &dims,
                           const std::vector<std::pair<const TypeParam *, Elem>> &elems = {});
/// Whether a symbol for which `isWanted` holds stands in an extent, or in an argument of a struct, of
/// the type or of its elements. False without a type.
bool mentionsSymbol(const Type *type, const std::function<bool(SymbolId)> &isWanted);
/// Type of a field of a struct value of type `structType`.
const Type *fieldType(Context &ctx, const Type *structType, const StructField &field);

} // namespace ptl
