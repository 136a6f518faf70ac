// What a schema cannot say about a machine: names that must exist, numbers that must fit together.
#pragma once

#include "machines/machine.h"

namespace ptl {

/// What in the description contradicts the rest, and where: `` `moves[3].to` is `bias`, which is
/// not among the memories``. Empty if nothing does.
std::string inconsistency(const Machine &machine);

} // namespace ptl
