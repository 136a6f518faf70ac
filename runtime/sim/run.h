// Runs kernels of the block level with real addresses and real memories. Nothing but events orders
// the pipes, so missing synchronisation shows in the results.
#pragma once

#include "runtime/sim/chip.h"
#include "runtime/sim/issued.h"
#include "runtime/sim/program.h"

#include <functional>
#include <map>
#include <span>

namespace ptl::rt::sim {

/// Chooses the pipe that goes next when several pipes of several cores could.
enum class Schedule : uint8_t {
  Program, ///< as sequential as it can be: a pipe empties before the scalar unit goes on
  Eager,   ///< loads as early, stores as late as events let them
  Lazy,    ///< loads as late, stores as early as events let them
  Random,  ///< by the seed
};
inline constexpr std::string_view scheduleNames[] = {"program", "eager", "lazy", "random"};

struct Options {
  Schedule schedule = Schedule::Program;
  uint64_t seed = 0;
  /// Instructions read when they begin and write when they end, and others run in between.
  bool stretched = false;
  /// A core issues an instruction only when its pipes are idle, for code that has no events yet.
  bool oneByOne = false;
  /// The number of core groups of the launch that run at the same time; the others wait until one
  /// is done.
  int32_t groupsAtOnce = 1;
  int32_t vectorCores =
      0; ///< of a group; 0: as the chip has for a kernel with a cube function, else 1
  uint64_t maxSteps = 0;                         ///< of all cores; 0: no limit
  std::function<void(const TraceEvent &)> trace; ///< called after every operation on a pipe
  bool values = true;           ///< false: nothing is computed, memories have no bytes
  bool countEvents = false;     ///< events may be set several times, as where waits were left out
  bool sample = false;          ///< rounds of loops stand for others like them (sampling.h)
  bool keepInnerQueues = false; ///< but see `LoopSampler::keepInnerQueues`
  /// Runs one round of each loop, or two of outermost loops, or some more where rounds differ. This
  /// gives addresses and the amount of work of each core group, but no results.
  bool glance = false;
  bool paces = false; ///< those of loops are looked for, whether rounds are left out or not
};

/// A check of the program that did not hold.
struct FailedCheck {
  Check check;
  SourceLocation at;
  std::vector<std::pair<ScalarType, Scalar>> values; ///< of its message
};

/// What a run reports. Errors are sentences that begin with their place: `k.ptl:3:7: …`.
struct Result {
  bool ok = true;
  std::string error;
  std::optional<FailedCheck> failedCheck; ///< why it stopped, if the program itself said so
  bool lacksValues = false;               ///< it stopped where data decide, and has times alone
  uint64_t instructions = 0;              ///< that ran on pipes
  std::map<int64_t, int64_t> rounds = {}; ///< of outermost loops, by block; of a glance
};

/// Runs a kernel on `blocks` core groups. `pointers` and `scalars` are its arguments in order. The
/// arrays are the caller's and are read and written in place.
Result runKernel(const Kernel &kernel, const Chip &chip, std::span<const GlobalArray> pointers,
                 std::span<const Scalar> scalars, int64_t blocks, const Options &options = {});
inline Result runKernel(const Kernel &kernel, const Machine &machine,
                        std::span<const GlobalArray> pointers, std::span<const Scalar> scalars,
                        int64_t blocks, const Options &options = {}) {
  return runKernel(kernel, chipOf(machine), pointers, scalars, blocks, options);
}

/// One kernel of a list. Its pointers are numbers in the list of arrays.
struct Launch {
  const Kernel *kernel = nullptr;
  std::vector<int32_t> pointers;
  std::vector<Scalar> scalars;
  int64_t blocks = 1;
};

/// Runs launches one after another. Arrays without data are workspaces: they are allocated, filled
/// with poison and shared by all launches. Stops at the first error.
Result runLaunches(std::span<const Launch> launches, const Chip &chip,
                   std::span<const GlobalArray> arrays, const Options &options = {});

} // namespace ptl::rt::sim
