// Static bounds of lengths: on chips every array in a local memory needs one.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// The extent of a length, with the capacity that facts give it.
Extent makeExtent(Context &ctx, Dim length, const RangeInfo *range = nullptr);
/// Static bound of a length: over constants, tunables and `static` dimensions only. Unknown when
/// there is none.
Dim capacityOf(Context &ctx, Dim length);
/// Whether a dimension has a value when the kernel is compiled.
bool isStaticDim(Context &ctx, Dim dim);
/// Reports each extent of an on-chip array without capacity; true when all have one.
bool requireCapacity(Context &ctx, const Type *type, Span span, std::string_view what);

} // namespace ptl
