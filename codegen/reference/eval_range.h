// Evaluates ranges: those that are written out, and those whose type says where they lie.
#pragma once

#include "codegen/reference/run_state.h"

namespace ptl::reference {

/// The positions of an expression of range type. A range literal has none when its end lies before
/// its start, and stops the run when its step is not positive.
RangeValue evalRange(RunState &run, const Expr &expr);

/// The positions that the type of a range says, whose start, length and step are dimensions.
RangeValue rangeOfInfo(const RunState &run, const RangeInfo &info, Span span);

} // namespace ptl::reference
