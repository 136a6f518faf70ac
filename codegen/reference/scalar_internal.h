// The parts of `evalScalar`, by kind of operand.
#pragma once

#include "codegen/reference/scalar_ops.h"

namespace ptl::reference {} // namespace ptl::reference
