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

/// Unknown lengths are equal to all others, so that one mistake is reported once. Without a mistake
/// a length is unknown only where its formula is too large, which this reports; true if it is known.
bool requireKnown(Context &ctx, Dim length, Span span);
/// The same for the extents of a type.
bool requireKnown(Context &ctx, const Type *type, Span span);

} // namespace ptl
