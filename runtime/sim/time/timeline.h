// Records what happened when in a simulated run. All reports of times read it.
#pragma once

#include "runtime/sim/run.h"
#include "runtime/sim/time/cost.h"

#include <map>
#include <string>
#include <vector>

namespace ptl::rt::sim {

inline constexpr uint32_t kNoRecord = ~0u;

/// Why an operation did not begin as soon as its pipe had reached it.
enum class Cause : uint8_t {
  None,    ///< it did
  Start,   ///< the kernel, or the block of this core group, had not begun
  Scalar,  ///< the scalar unit had not issued it
  Event,   ///< an event was not set
  Latency, ///< the results of what was before it on its pipe were not there
  Barrier, ///< the same, and it is a barrier
  Tile,    ///< a queue had no tile from another core
  Slot,    ///< a queue had no free slot
  Signals, ///< a signal between cores was there, but waited for those of others
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
  double signals = 0; ///< to other cores, for each time
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
  /// `aic3.mte2`
  std::string name() const { return core() + "." + std::string(pipeName(pipe)); }
};

/// One operation on a lane.
struct Record {
  Cycles ready = 0; ///< its pipe had come to it
  Cycles start = 0, end = 0;
  Cycles tail = 0;   ///< its latency: from the end until its results are there
  Cycles stall = 0;  ///< of its length, waiting for what the cores share
  Cycles queued = 0; ///< of what it waited, that the signal it waited for did so for others
  Cycles window = 0; ///< before it, whose rounds it stands for; 0: it is an operation
  uint32_t site = 0;
  uint32_t before = kNoRecord;    ///< the last one on its lane
  uint32_t waitedFor = kNoRecord; ///< what ended that it waited for
  uint32_t setter = kNoRecord;    ///< of a wait for an event: who set it
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
  Submit,     ///< the orchestrator had not come to it
  Dependence, ///< a task that it waits for had not ended
  Dispatch,   ///< a scheduler had not handed it out
  Cores,      ///< cores of its kind were taken
  End,        ///< of idle cores: nothing was left for them
};
inline constexpr std::string_view taskCauseNames[] = {"start",    "orchestrator", "dependence",
                                                      "dispatch", "cores taken",  "nothing left"};

/// The hazard between two tasks that touch the same part of an array.
enum class Hazard : uint8_t { ReadAfterWrite, WriteAfterRead, WriteAfterWrite };
inline constexpr std::string_view hazardNames[] = {"read after write", "write after read",
                                                   "write after write"};

/// An edge to a task that another one waits for, and the array because of which it waits.
struct TaskEdge {
  uint32_t before = kNoTask;
  Hazard hazard = Hazard::ReadAfterWrite;
  std::string array;
};

/// A task of the program: a launch of a kernel, or work of the host that takes no time.
struct LaunchSpan {
  std::string name = {};   ///< that the program gives it
  std::string kernel = {}; ///< empty: work of the host
  std::string writes = {}; ///< the arrays that it writes, by name
  SourceLocation location = {};
  bool cube = false, vector = false; ///< the cores that it needs
  Cycles awaited = 0;                ///< the orchestrator went on
  uint32_t awaitedTask = kNoTask;    ///< after this task
  Cycles submitted = 0, ready = 0;   ///< ready: submitted, and those that it waits for have ended
  Cycles start = 0, begun = 0, end = 0; ///< begun: its cores are at work
  TaskCause cause = TaskCause::Start;   ///< of `ready`
  uint32_t waitedFor = kNoTask;         ///< of those that it waits for the one that ended last
  std::vector<TaskEdge> waitsFor = {};
  std::vector<uint32_t> arrays = {}; ///< that it touches, by number
  int64_t blocks = 0;
  int64_t standing = 0;         ///< core groups that ran for all; 0: all did
  int64_t skipped = 0;          ///< rounds of loops that were left out, of the core with the most
  uint32_t like = kNoTask;      ///< an earlier task like which it is taken to have run
  uint32_t lastBlock = kNoTask; ///< number of the span of the block that ended last
};

/// An array of global memory.
struct ArrayInfo {
  std::string name;
  int64_t bytes = 0;
  bool isIntermediate = false; ///< made and given up by the program
};

/// A block of a task on its cores.
struct BlockSpan {
  uint32_t launch = 0;
  int64_t block = 0;
  std::vector<uint32_t> cores = {};     ///< numbers: cube cores, then vector cores
  Cycles start = 0, begun = 0, end = 0; ///< start: it has its cores
  bool works = false;                   ///< it has had instructions
  bool isRepresented = false;           ///< another block ran in its place
  bool waited = false;                  ///< for a core, until `before` had ended
  uint32_t before = kNoTask;            ///< the block that had one of its cores last
  uint32_t last = kNoRecord;            ///< of its operations the last to end
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
  std::optional<FailedCheck> failedCheck; ///< why it stopped, if the program itself said so
  bool lacksValues = false;               ///< it stopped where data decide, and has times alone
  double clockMhz = 0;
  Cycles signal = 0; ///< of the hub, for each signal between cores
  Cycles end = 0;
  uint64_t operations = 0; ///< of all pipes, synchronisation included
  uint64_t instructions = 0;
  int64_t bytes = 0, missed = 0; ///< to and from global memory; of these past the second level
  std::vector<Site> sites;
  std::vector<SiteTotal> totals;    ///< by site
  std::map<uint32_t, Cycles> paces; ///< of loops, by site: a round, once pipes are in step
  std::vector<Lane> lanes;
  std::vector<bool> used;           ///< by lane: an instruction was on it
  Cycles programBegun = 0;          ///< the orchestrator is at work
  std::vector<LaunchSpan> launches; ///< tasks, in program order
  std::vector<BlockSpan> blocks;    ///< by time of their beginning
  std::vector<ArrayInfo> arrays;
  // If they are wanted:
  std::vector<Record> records; ///< by time of their beginning
  std::vector<TrafficPoint> traffic;
  std::vector<BufferAccess> accesses;

  double microseconds(Cycles cycles) const { return clockMhz > 0 ? cycles / clockMhz : 0; }
  const LaunchSpan &launchOf(const Record &record) const {
    return launches[blocks[record.block].launch];
  }
  /// The name of a core by its number: `aic3`.
  std::string coreName(uint32_t core) const { return lanes[core * kNumPipes].core(); }
};

} // namespace ptl::rt::sim
