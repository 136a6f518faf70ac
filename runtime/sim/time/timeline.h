// The record of a simulated run with its times. All reports of times are derived from it.
#pragma once

#include "runtime/sim/run.h"
#include "runtime/sim/time/cost.h"
#include "runtime/sim/time/large_vector.h"

#include <map>
#include <string>
#include <vector>

namespace ptl::rt::sim {

inline constexpr uint32_t kNoRecord = ~0u;

/// Why an operation did not begin as soon as its pipe had reached it.
enum class Cause : uint8_t {
  None,    ///< it did begin
  Start,   ///< the kernel, or the block of this core group, had not begun
  Scalar,  ///< the scalar unit had not issued it
  Event,   ///< an event was not set
  Latency, ///< results of its predecessors on the pipe were not available yet
  Barrier, ///< the same, for a barrier
  Tile,    ///< a queue had no tile from another core
  Slot,    ///< a queue had no free slot
  Signals, ///< a signal between cores waited at the hub for those of others
  Room,    ///< the queue of a pipe was full (of the scalar unit)
};
inline constexpr std::string_view causeNames[] = {
    "none",    "start",           "scalar unit",     "event",      "latency",
    "barrier", "tile of a queue", "slot of a queue", "signal hub", "queue of a pipe"};

/// An instruction of a kernel, wherever it runs.
struct Site {
  std::string kernel;
  StepKind kind = StepKind::Instruction;
  Pipe pipe = Pipe::S;
  bool cube = false;
  Flag flag; ///< of operations on events
  int32_t queue = -1;
  std::string name; ///< `tload`
  SourceLocation location;
  std::string why;    ///< of synchronisation
  double signals = 0; ///< to other cores, per execution
  bool isWork() const {
    return kind == StepKind::Instruction || kind == StepKind::Push || kind == StepKind::Pop;
  }
};

/// A pipe of a core of the chip.
struct Lane {
  bool cube = false;
  int32_t number = 0; ///< of the core among those of its kind
  Pipe pipe = Pipe::S;

  /// `aic3`, `aiv7`
  std::string core() const { return (cube ? "aic" : "aiv") + std::to_string(number); }
  /// The name of a lane: `aic3.mte2`.
  std::string name() const { return core() + "." + std::string(pipeName(pipe)); }
};

/// One operation on a lane.
struct Record {
  Cycles ready = 0; ///< its pipe had reached it
  Cycles start = 0, end = 0;
  Cycles tail = 0;   ///< latency: from the end until its results are available
  Cycles stall = 0;  ///< part of its length: waiting for shared resources
  Cycles queued = 0; ///< part of its wait: the signal waited at the hub for those of others
  /// length of the preceding window whose iterations it represents; 0: an operation
  Cycles window = 0;
  uint32_t site = 0;
  uint32_t before = kNoRecord;    ///< the previous one on its lane
  uint32_t waitedFor = kNoRecord; ///< the operation whose end it waited for
  uint32_t setter = kNoRecord;    ///< of a wait for an event: the operation that set it
  uint32_t block = 0;             ///< span of a block
  uint16_t lane = 0;
  Cause cause = Cause::None;
};

/// The sums over all operations of a site.
struct SiteTotal {
  uint64_t count = 0;
  Cycles busy = 0, stall = 0;
};

inline constexpr uint32_t kNoTask = ~0u;

/// Why a task, or a block of one, did not begin earlier.
enum class TaskCause : uint8_t {
  Start,      ///< the program had not begun
  Submit,     ///< the orchestrator had not reached it
  Dependence, ///< a predecessor had not ended
  Dispatch,   ///< a scheduler had not dispatched it
  Cores,      ///< all cores of its kind were busy
  End,        ///< of idle cores: there was no more work for them
};
inline constexpr std::string_view taskCauseNames[] = {"start",    "orchestrator", "dependence",
                                                      "dispatch", "cores taken",  "nothing left"};

/// The hazard between two tasks that access the same part of an array.
enum class Hazard : uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };
inline constexpr std::string_view hazardNames[] = {"read after write", "write after read",
                                                   "write after write"};

/// An edge to a predecessor, with the array that causes it.
struct TaskEdge {
  uint32_t before = kNoTask;
  Hazard hazard = Hazard::ReadAfterWrite;
  std::string array;
};

/// A task of the program: a launch of a kernel, or work of the host that takes no time.
struct LaunchSpan {
  std::string name = {};   ///< chosen by the program
  std::string kernel = {}; ///< empty: work of the host
  std::string writes = {}; ///< the arrays that it writes, by name
  SourceLocation location = {};
  bool cube = false, vector = false;    ///< the cores that it needs
  Cycles awaited = 0;                   ///< the time at which the orchestrator continued
  uint32_t awaitedTask = kNoTask;       ///< after waiting for this task
  Cycles submitted = 0, ready = 0;      ///< ready: submitted, and all predecessors have ended
  Cycles start = 0, begun = 0, end = 0; ///< begun: its cores have started
  TaskCause cause = TaskCause::Start;   ///< of `ready`
  uint32_t waitedFor = kNoTask;         ///< the predecessor that ended last
  std::vector<TaskEdge> waitsFor = {};
  std::vector<uint32_t> arrays = {}; ///< numbers of the arrays that it accesses
  int64_t blocks = 0;
  int64_t standing = 0;         ///< core groups that represented all; 0: all were simulated
  int64_t skipped = 0;          ///< skipped iterations of loops, maximum over the cores
  uint32_t like = kNoTask;      ///< an earlier task like which it is assumed to have run
  uint32_t lastBlock = kNoTask; ///< the block that ended last, by the index of its span
};

/// An array of global memory.
struct ArrayInfo {
  std::string name;
  int64_t bytes = 0;
  bool isIntermediate = false; ///< allocated and freed by the program
};

/// A block of a task on its cores.
struct BlockSpan {
  uint32_t launch = 0;
  int64_t block = 0;
  std::vector<uint32_t> cores = {};     ///< numbers: cube cores, then vector cores
  Cycles start = 0, begun = 0, end = 0; ///< start: it has been assigned cores
  bool works = false;                   ///< it has executed instructions
  bool isRepresented = false;           ///< another block represents it
  bool waited = false;                  ///< for a core, until `before` ended
  uint32_t before = kNoTask;            ///< the previous block on one of its cores
  uint32_t last = kNoRecord;            ///< its operation that ended last
};

/// The traffic from one moment on, for counters.
struct TrafficPoint {
  Cycles time = 0, until = 0;
  int64_t bytes = 0, missed = 0;
};

/// A tile that an instruction of the first core group reads or writes.
struct BufferAccess {
  Cycles start = 0, end = 0;
  int64_t address = 0, bytes = 0;
  Place place = Place::Vec;
  bool cube = false, writes = false;
};

struct Timeline {
  bool ok = true;
  std::string error;
  std::optional<FailedCheck> failedCheck; ///< why it stopped, if a check of the program failed
  bool lacksValues = false;               ///< it stopped at a decision that depends on missing data
  double clockMhz = 0;
  Cycles signal = 0; ///< time of the hub per signal between cores
  Cycles end = 0;
  uint64_t operations = 0; ///< of all pipes, including synchronisation
  uint64_t instructions = 0;
  int64_t bytes = 0, missed = 0; ///< to and from global memory; those that missed the second level
  std::vector<Site> sites;
  std::vector<SiteTotal> totals;    ///< by site
  std::map<uint32_t, Cycles> paces; ///< of loops, by site: time per iteration in the steady state
  std::vector<Lane> lanes;
  std::vector<bool> used;           ///< by lane: an instruction ran on it
  Cycles programBegun = 0;          ///< the start of the orchestrator
  std::vector<LaunchSpan> launches; ///< tasks, in program order
  std::vector<BlockSpan> blocks;    ///< by start time
  std::vector<ArrayInfo> arrays;
  // If requested:
  LargeVector<Record> records; ///< by start time
  LargeVector<TrafficPoint> traffic;
  LargeVector<BufferAccess> accesses;

  double microseconds(Cycles cycles) const { return clockMhz > 0 ? cycles / clockMhz : 0; }
  const LaunchSpan &launchOf(const Record &record) const {
    return launches[blocks[record.block].launch];
  }
  /// The name of a core by its number: `aic3`.
  std::string coreName(uint32_t core) const { return lanes[core * kNumPipes].core(); }
};

} // namespace ptl::rt::sim
