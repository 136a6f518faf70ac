// Creates types: the few that all declarations share, and derived ones. The `CheckedProgram` owns
// them.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

const Type *errorType(Context &ctx);
const Type *voidType(Context &ctx);
const Type *stringType(Context &ctx);
const Type *intType(Context &ctx);
const Type *boolType(Context &ctx);
const Type *scalarType(Context &ctx, Elem elem);
inline const Type *scalarType(Context &ctx, ElemKind kind) { return scalarType(ctx, Elem{kind}); }
/// A dense array type with inferred place and layout.
const Type *arrayType(Context &ctx, Elem elem, std::vector<Extent> extents, bool prefix = false);
const Type *rangeType(Context &ctx, const RangeInfo *range);
const Type *tupleType(Context &ctx, std::vector<const Type *> elements);
/// The type with another place and layout.
const Type *withPlace(Context &ctx, const Type *type, Place place,
                      Layout layout = Layout::Inferred);
/// A copy that the caller may modify before it is used.
Type *copyType(Context &ctx, const Type &type);

inline std::string toString(Context &ctx, const Type *type) { return toString(ctx.dims, *type); }

} // namespace ptl
