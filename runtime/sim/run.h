// Runs kernels of the block level with real addresses and real memories. Only events order the
// pipes, so missing synchronisation shows in the results.
#pragma once

#include "runtime/sim/chip.h"
#include "runtime/sim/issued.h"
#include "runtime/sim/program.h"

#include <functional>
#include <map>
#include <span>

namespace ptl::rt::sim {

/// Chooses the pipe that runs next if several pipes of several cores could.
enum class Schedule : uint8_t {
  Program, ///< as sequential as possible: a pipe runs empty before the scalar unit continues
  Eager,   ///< loads as early, stores as late as events allow
  Lazy,    ///< loads as late, stores as early as events allow
  Random,  ///< determined by the seed
};
inline constexpr std::string_view scheduleNames[] = {"program", "eager", "lazy", "random"};

/// A value that a core prints, and the text around it.
struct Printed {
  int64_t block = 0;
  int32_t core = 0; ///< of the group; the cube core is first if there is one
  const PrintedPart *part = nullptr;
  ElemKind elem = ElemKind::F32; ///< of the elements in `bytes`
  int64_t rows = 0, cols = 0;
  std::vector<uint8_t> bytes; ///< row by row
};

struct Options {
  Schedule schedule = Schedule::Program;
  uint64_t seed = 0;
  /// Instructions read when they begin and write when they end, and others run in between.
  bool stretched = false;
  /// A core issues an instruction only when its pipes are idle, for code without events.
  bool oneByOne = false;
  /// The number of core groups of the launch that run concurrently; the others wait until one ends.
  int32_t groupsAtOnce = 1;
  int32_t vectorCores =
      0; ///< per group; 0: as many as the chip has for a kernel with a cube function, else 1
  uint64_t maxSteps = 0;                         ///< of all cores; 0: no limit
  std::function<void(const TraceEvent &)> trace; ///< called after every operation on a pipe
  std::function<void(Printed)> print = {};       ///< called by prints, if values are computed
  bool values = true;           ///< false: only times are computed, memories have no bytes
  bool countEvents = false;     ///< events are counters, for runs in which waits are skipped
  bool sample = false;          ///< iterations of loops represent others like them (sampling.h)
  bool keepInnerQueues = false; ///< see `LoopSampler::keepInnerQueues`
  bool agesCache = false;       ///< see `LoopSampler::measureAllAlong`
  /// Runs one iteration of each loop, two of outermost loops, and some more where iterations
  /// differ. That gives addresses and the amount of work of each core group, but no results.
  bool glance = false;
  bool paces = false; ///< paces of loops are determined, whether or not iterations are skipped
};

/// A check of the program that failed.
struct FailedCheck {
  Check check;
  SourceLocation at;
  std::vector<std::pair<ScalarType, Scalar>> values; ///< values in its message
};

/// The result of a run. Errors are sentences that begin with a source location: `k.ptl:3:7: …`.
struct Result {
  bool ok = true;
  std::string error;
  std::optional<FailedCheck> failedCheck; ///< why it stopped, if a check of the program failed
  bool lacksValues = false;               ///< it stopped at a decision that depends on missing data
  uint64_t instructions = 0;              ///< number of instructions executed on pipes
  /// iterations of outermost loops, by block; only for a glance
  std::map<int64_t, int64_t> rounds = {};
};

/// Runs a kernel on `blocks` core groups. `pointers` and `scalars` are its arguments in order. The
/// caller owns the arrays, which are read and written in place.
Result runKernel(const Kernel &kernel, const Chip &chip, std::span<const GlobalArray> pointers,
                 std::span<const Scalar> scalars, int64_t blocks, const Options &options = {});
inline Result runKernel(const Kernel &kernel, const Machine &machine,
                        std::span<const GlobalArray> pointers, std::span<const Scalar> scalars,
                        int64_t blocks, const Options &options = {}) {
  return runKernel(kernel, chipOf(machine), pointers, scalars, blocks, options);
}

/// One kernel of a list of launches. Its pointers are indices into the list of arrays.
struct Launch {
  const Kernel *kernel = nullptr;
  std::vector<int32_t> pointers;
  std::vector<Scalar> scalars;
  int64_t blocks = 1;
};

/// Runs launches in sequence. Arrays without data are workspaces: they are allocated, filled with
/// poison and shared by all launches. Stops at the first error.
Result runLaunches(std::span<const Launch> launches, const Chip &chip,
                   std::span<const GlobalArray> arrays, const Options &options = {});

} // namespace ptl::rt::sim
