// Evaluates ranges: literals, and ranges whose positions are given by their type.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The positions of an expression of range type. A range literal is empty if its end lies before
/// its start; a step that is not positive stops the run.
RangeValue evalRange(RunState &run, const Expr &expr);

/// The positions that a range's type describes; its start, length and step are dimensions.
RangeValue rangeOfInfo(const RunState &run, const RangeInfo &info, Span span);

} // namespace ptl::reference
