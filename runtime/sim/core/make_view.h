// Pointers and views of global memory: the steps that create them.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// Creates a pointer some elements after another one.
void addPointer(Registers &registers, const Step &step);
/// Creates a view at a pointer with the given shape and strides.
void makeView(Registers &registers, const Step &step);
/// Creates a part of a view, which must lie inside it. False after an error.
bool partitionView(CoreState &core, const Step &step);

} // namespace ptl::rt::sim
