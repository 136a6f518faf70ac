// What dimensions, element types and shapes of the checked tree stand for in a run.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The value of a dimension; nothing if a symbol in it has none, or if its arithmetic fails.
std::optional<int64_t> tryDim(const RunState &run, Dim dim);

/// The value of a dimension that has to have one. It stops the run where `tryDim` gives nothing.
int64_t dimValue(const RunState &run, Dim dim, Span span = kNoSpan);

/// The length of an axis; a negative one stops the run.
int64_t lengthValue(const RunState &run, Dim dim, Span span = kNoSpan);

/// The element type, where a type parameter stands for what the call of the frame bound.
ElemKind elemOf(const RunState &run, const Elem &elem);

/// The lengths of an array type: those that `..` stands for, then those of its extents. A negative
/// extent stops the run.
std::vector<int64_t> shapeOf(const RunState &run, const Type &type, Span span = kNoSpan);

} // namespace ptl::reference
