// The limits of the worker: memory, time per request, a last message when it dies, and its end when
// nobody reads its answers any more.
#pragma once

#include <cstdint>
#include <string>

namespace ptl::worker {

/// Limits the address space, and makes every fatal signal answer the current request on `out` with
/// an error that names the step, before the process ends.
void installLimits(int out, uint64_t memoryBytes);

/// Ends the process as soon as nobody reads `out` any more, whatever it is computing, so that a
/// killed server leaves no worker behind. This does nothing if `out` is a file.
void endWithReader(int out);

/// Sets the request that such an answer is for (JSON text of its id), and the time limit.
void beginRequest(const std::string &id, unsigned milliseconds);
/// Sets the step that the last message names.
void noteStep(const std::string &step);
void endRequest();

/// Exit codes of a worker that ended itself.
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitCrash = 125;

} // namespace ptl::worker
