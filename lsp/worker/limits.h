// The limits of the worker: memory, time per request, a last message when it crashes, and its exit
// when the reader of its answers is gone.
#pragma once

#include <cstdint>
#include <string>

namespace ptl::worker {

/// Limits the address space, and installs handlers of fatal signals, which answer the current
/// request on `out` with an error that names the step before the process ends.
void installLimits(int out, uint64_t memoryBytes);

/// Exits the process as soon as the reader of `out` is gone, even during a computation, so that a
/// killed server leaves no worker behind. Does nothing if `out` is a file.
void endWithReader(int out);

/// Sets the request that such a message answers (JSON text of its id), and the time limit.
void beginRequest(const std::string &id, unsigned milliseconds);
/// Sets the step that the last message names.
void noteStep(const std::string &step);
void endRequest();

/// Exit codes of a worker that terminated itself.
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitCrash = 125;

} // namespace ptl::worker
