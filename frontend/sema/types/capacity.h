// Static bounds of lengths: on chips every array in a local memory needs them.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// The extent of a length, with the capacity that the facts imply.
Extent makeExtent(Context &ctx, Dim length, const RangeInfo *range = nullptr);
/// A static upper bound of a length, over constants, tunables and `static` dimensions only. Unknown
/// if there is none.
Dim capacityOf(Context &ctx, Dim length);
/// Whether the value of a dimension is known when the kernel is compiled.
bool isStaticDim(Context &ctx, Dim dim);
/// Reports each extent of an on-chip array without a capacity; true if there is none.
bool requireCapacity(Context &ctx, const Type *type, Span span, std::string_view what);

/// Whether all lengths and dimensions of a type are known. Those of a type in error are not: they are
/// equal to all others, so that one mistake is reported once.
bool isKnown(const Type *type);
/// Reports a type with a length that is unknown although it was computed from known ones: its formula
/// is too large.
void requireKnown(Context &ctx, const Type *computed, Span span);

} // namespace ptl
