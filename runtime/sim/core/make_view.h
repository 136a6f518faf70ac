// Pointers and views of global memory: the steps that make them.
#pragma once

#include "runtime/sim/core/core_state.h"

namespace ptl::rt::sim {

/// A pointer that lies some elements behind another one.
void addPointer(Registers &registers, const Step &step);
/// A view with given shape and strides at a pointer.
void makeView(Registers &registers, const Step &step);
/// A part of a view; it has to lie inside of it. False after an error.
bool partitionView(CoreState &core, const Step &step);

} // namespace ptl::rt::sim
