// Events between the cores of a group in C++: flags on devices; counters in CPU simulation, where
// cores are threads.
#pragma once

#include "codegen/pto/line_map.h"
#include "machines/machine.h"

namespace ptl::pto {

/// Adds the functions by which the cores of a group signal each other and wait, for devices and for
/// CPU simulation. With `firstAlone` the first vector core is the only one that runs, and the cube
/// core neither signals another nor waits for it.
void addCoreEvents(TextLines &text, const Machine &machine, bool firstAlone);

} // namespace ptl::pto
