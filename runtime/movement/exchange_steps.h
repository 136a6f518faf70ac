// Every pair of ranks exchanges data.
#pragma once

#include "runtime/movement/writer.h"

namespace ptl::movement {

/// For all-to-all, boxes and rows: every pair of ranks exchanges data.
void writeExchange(Writer &w, Algorithm algorithm);

/// The box of the rows that a rank has for another.
Box rowsBetween(const Request &request, uint32_t from, uint32_t to);

} // namespace ptl::movement
