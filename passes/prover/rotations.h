// Finds buffers that are used in turn.
#pragma once

#include "passes/prover/read.h"

namespace ptl::prove {

/// Sets the rotation of every loop of a kernel (`Body::rotation`), and that of the kernel.
void findRotations(Kernel &kernel);

} // namespace ptl::prove
