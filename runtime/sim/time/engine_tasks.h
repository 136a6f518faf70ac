// Tasks in program order: the orchestrator submits them, and their accesses to arrays order them.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Adds an array of global memory and returns its number.
uint32_t addArray(Engine &e, int64_t bytes, size_t rank, std::string name, bool isIntermediate);
/// Submits a task. False after an error.
bool submit(Engine &e, TaskRequest request);
/// Advances time until no unfinished task conflicts with the access; then the orchestrator
/// continues.
bool await(Engine &e, const ArrayAccess &access);
/// Advances time until all tasks have ended.
bool finish(Engine &e);
/// Computes for each task the longest path to the end. A submission lengthens the paths of its
/// predecessors, so the scheduler knows only the paths among the tasks submitted so far.
void findWays(Engine &e);

} // namespace ptl::rt::sim
