#include "frontend/sema/types/make_type.h"

namespace ptl {

const Type *errorType(Context &ctx) { return ctx.state.errorType; }
const Type *voidType(Context &ctx) { return ctx.state.voidType; }
const Type *stringType(Context &ctx) { return ctx.state.stringType; }
const Type *intType(Context &ctx) { return scalarType(ctx, ElemKind::Int); }
const Type *boolType(Context &ctx) { return scalarType(ctx, ElemKind::Bool); }

const Type *scalarType(Context &ctx, Elem elem) {
  if (!elem.param)
    if (const Type *known = ctx.state.scalarTypes[static_cast<size_t>(elem.kind)])
      return known;
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Scalar;
  type->elem = elem;
  if (!elem.param)
    ctx.state.scalarTypes[static_cast<size_t>(elem.kind)] = type;
  return type;
}

const Type *arrayType(Context &ctx, Elem elem, std::vector<Extent> extents, bool prefix) {
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Array;
  type->elem = elem;
  type->extents = std::move(extents);
  type->prefix = prefix;
  return type;
}

const Type *rangeType(Context &ctx, const RangeInfo *range) {
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Range;
  type->range = range;
  return type;
}

const Type *tupleType(Context &ctx, std::vector<const Type *> elements) {
  Type *type = ctx.program.make<Type>();
  type->kind = TypeKind::Tuple;
  type->elements = std::move(elements);
  return type;
}

Type *copyType(Context &ctx, const Type &type) { return ctx.program.make<Type>(type); }

const Type *withPlace(Context &ctx, const Type *type, Place place, Layout layout) {
  if (type->place == place && type->layout == layout)
    return type;
  Type *copy = copyType(ctx, *type);
  copy->place = place;
  copy->layout = layout;
  return copy;
}

} // namespace ptl
