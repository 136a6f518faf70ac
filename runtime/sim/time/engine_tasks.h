// Tasks in program order: the orchestrator submits them, and what they touch orders them.
#pragma once

#include "runtime/sim/time/engine.h"

namespace ptl::rt::sim {

/// Makes an array of global memory known; its number.
uint32_t addArray(Engine &e, int64_t bytes, size_t rank, std::string name, bool isIntermediate);
/// Another task. False after an error.
bool submit(Engine &e, TaskRequest request);
/// Lets time pass until nobody is left who conflicts with the access; the orchestrator goes on
/// then.
bool await(Engine &e, const ArrayAccess &access);
/// Lets time pass until all tasks have ended.
bool finish(Engine &e);
/// Tasks make the ways of those before them longer: the scheduler knows what was submitted so far.
void findWays(Engine &e);

} // namespace ptl::rt::sim
