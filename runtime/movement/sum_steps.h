// Sums over ranks.
#pragma once

#include "runtime/movement/writer.h"

namespace ptl::movement {

void writeReduceScatter(Writer &w, Algorithm algorithm);
void writeAllReduce(Writer &w, Algorithm algorithm);

} // namespace ptl::movement
