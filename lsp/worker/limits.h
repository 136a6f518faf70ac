// The worker's limits: memory, time per request, a last word when it dies, and its end when nobody
// is left to read its answers.
#pragma once

#include <cstdint>
#include <string>

namespace ptl::worker {

/// Limits the address space, and makes every fatal signal answer the request that is being worked
/// on with an error that names the step, on `out`, before the process ends.
void installLimits(int out, uint64_t memoryBytes);

/// Ends the process as soon as nobody reads `out` any more, whatever it computes then: a server
/// that was killed leaves no worker behind. A file as `out` has no reader to lose.
void endWithReader(int out);

/// The request that an answer on death is for (JSON text of its id), and how long it may take.
void beginRequest(const std::string &id, unsigned milliseconds);
/// The step that the last word names.
void noteStep(const std::string &step);
void endRequest();

/// Exit codes of a worker that ended itself.
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitCrash = 125;

} // namespace ptl::worker
