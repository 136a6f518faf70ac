// Completion in programs over parts.
#pragma once

#include "frontend/syntax/tree.h"

namespace ptl::ide {

/// Whether a program begins before a place in a chunk. Programs and kernels have different words there:
/// sections of programs are for parts of levels, and only programs move arrays.
bool isInProgram(const Tree &tree, uint32_t place);

} // namespace ptl::ide
