// The values of dimensions, element types and shapes of the checked tree in a run.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of a dimension; nothing if one of its symbols has no value, or its arithmetic fails.
std::optional<int64_t> tryDim(const RunState &run, Dim dim);

/// The value of a dimension that must have one. Where `tryDim` returns nothing, the run stops.
int64_t dimValue(const RunState &run, Dim dim, Span span = kNoSpan);

/// The length of an axis; a negative one stops the run.
int64_t lengthValue(const RunState &run, Dim dim, Span span = kNoSpan);

/// The element type, where a type parameter is replaced by the type that the call of the frame
/// bound it to.
ElemKind elemOf(const RunState &run, const Elem &elem);

/// The extents of an array type: those of `..`, then the others. A negative extent stops the run.
std::vector<int64_t> shapeOf(const RunState &run, const Type &type, Span span = kNoSpan);

} // namespace ptl::reference
