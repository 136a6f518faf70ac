// Checks of machines that a schema cannot express: names that must exist, numbers that must be
// consistent.
#pragma once

#include "machines/machine.h"

namespace ptl {

/// The first inconsistency in the description, and where it is: `` `moves[3].to` is `bias`, which
/// is not among the memories``. Empty if there is none.
std::string inconsistency(const Machine &machine);

} // namespace ptl
