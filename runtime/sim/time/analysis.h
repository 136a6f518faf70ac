// Analyses a timeline: how busy each lane is, why it is idle, what determines the length of the
// run, and what would be gained if that cost nothing.
#pragma once

#include "runtime/sim/time/timer.h"

#include <functional>
#include <map>

namespace ptl::rt::sim {

/// A period in which a lane had nothing to run although it had more operations later.
struct Gap {
  uint16_t lane = 0;
  Cycles start = 0, end = 0;
  Cause cause = Cause::None;
  uint32_t next = kNoRecord;    ///< the delayed instruction
  uint32_t wait = kNoRecord;    ///< the operation that waited: that instruction, or one on an event
  uint32_t blocker = kNoRecord; ///< the instruction that was waited for, on any lane
};

/// Gaps with the same cause between the same instructions, over all lanes of a kind.
struct GapGroup {
  Pipe pipe = Pipe::S;
  bool cube = false;
  Cause cause = Cause::None;
  uint32_t next = 0, wait = 0;  ///< sites
  uint32_t blocker = kNoRecord; ///< a site
  uint64_t count = 0;
  Cycles total = 0;
  Cycles critical = 0; ///< the part of it on the critical path
};

/// A part of the critical path. The parts cover the run without gaps.
struct PathPiece {
  enum class Kind : uint8_t {
    Work,      ///< an instruction occupies its pipe
    Events,    ///< an event or a barrier itself, or freeing a slot
    Stall,     ///< an instruction waits for resources that the cores share
    Scalar,    ///< the scalar unit had not reached it
    CrossCore, ///< a signal was on its way from another core
    Signals,   ///< of that, the time in which signals of other cores were served first
    Latency,   ///< an instruction has left its pipe, and an event or the end waits for its results
    Barrier,   ///< the same, and a barrier waits
    Launch,
    Repeat,
    Submit,
    Dispatch,
    Alike, ///< a task that is assumed to have run like another one
  };
  Kind kind = Kind::Work;
  uint32_t record = kNoRecord;
  Cycles start = 0, end = 0;
  double weight = 1; ///< how often it counts: more than once if it represents others, 0 if
                     ///< < it is represented by others

  Cycles length() const { return (end - start) * weight; }
};
inline constexpr std::string_view pathKindNames[] = {
    "work",    "events", "shared memory", "scalar unit",  "core to core", "signal hub", "latency",
    "barrier", "launch", "rounds alike",  "orchestrator", "dispatch",     "tasks alike"};
/// Whether reports name this part of the path after its pipe: `aiv v`, `aiv v latency`.
constexpr bool isOfPipe(PathPiece::Kind kind) {
  return kind == PathPiece::Kind::Work || kind == PathPiece::Kind::Events ||
         kind == PathPiece::Kind::Latency || kind == PathPiece::Kind::Barrier;
}

struct LaneUse {
  uint16_t lane = 0;
  uint64_t tasks = 0;
  Cycles busy = 0, stall = 0;
  Cycles first = 0, last = 0;
  std::map<Cause, Cycles> idle;
};

/// The utilisation of one pipe of one kind of core, over those that have work.
struct PipeUse {
  Pipe pipe = Pipe::S;
  bool cube = false;
  Cycles busy = 0;
  int32_t lanes = 0; ///< number of lanes that have done something
  double share = 0;  ///< relative to the time in which the cores had tasks
};

struct Gain {
  std::string what;         ///< `if mte2 of the cube cores cost nothing`
  Cycles end = 0;           ///< length of the run in that case
  uint32_t gap = kNoRecord; ///< the number of the group of gaps that it concerns
  uint32_t task = kNoTask;  ///< a task that would not wait where only shared memory makes it wait
};

/// A period in which a core of a kind that the program uses had no task.
struct CoreGap {
  uint32_t core = 0;
  Cycles start = 0, end = 0;
  TaskCause cause = TaskCause::End;
  uint32_t next = kNoTask;    ///< the task that it ran next, or the next one that began anywhere
  uint32_t blocker = kNoTask; ///< for a dependence: the task that was waited for
};

/// Gaps with the same cause before the same task, over all cores.
struct CoreGapGroup {
  TaskCause cause = TaskCause::End;
  uint32_t next = kNoTask, blocker = kNoTask;
  uint32_t cores = 0;
  Cycles total = 0;
};

/// What a core executed: blocks of tasks that had work.
struct CoreUse {
  uint32_t core = 0;
  std::vector<uint32_t> blocks; ///< indices of their spans
  Cycles busy = 0;
};

/// The bytes of a program's intermediate arrays. Each is live from the start of the first task that
/// uses it to the end of the last one.
struct StorageUse {
  int64_t peak = 0;     ///< peak of live bytes in the simulated run
  int64_t inOrder = 0;  ///< peak if the tasks had run sequentially
  int64_t unshared = 0; ///< sum over all arrays
};

/// The program as tasks on cores.
struct TaskAnalysis {
  std::vector<CoreUse> cores;       ///< of the kinds that the program uses
  std::vector<CoreGap> gaps;        ///< by core, then time
  std::vector<CoreGapGroup> groups; ///< the longest first
  std::vector<uint32_t> path;       ///< tasks on the critical path, from first to last
  std::vector<uint32_t> coresOf;    ///< by task: the number of cores that had work in it
  int32_t kernels = 0;              ///< number of tasks that are launches
  int32_t atOnce = 0;               ///< maximal number of launches that ran concurrently
  Cycles busy = 0, whole = 0;       ///< sums over those cores
  StorageUse storage;
};

struct Analysis {
  std::vector<PipeUse> pipes;   ///< the busiest first
  std::vector<LaneUse> lanes;   ///< lanes that did something
  std::vector<Gap> gaps;        ///< by lane, then time
  std::vector<GapGroup> groups; ///< the longest first
  std::vector<PathPiece>
      path; ///< from start to end, followed by those of tasks like which others ran
  std::map<std::string, Cycles> pathByPart; ///< `aic m`, `aiv v latency`, `launch`
  std::vector<Gain> gains;                  ///< the largest first
  TaskAnalysis tasks;
  Cycles atWork = 0;    ///< some core had a task
  Cycles uneven = 0;    ///< the part of it that perfect load balance would save
  uint64_t signals = 0; ///< number of signals between cores
  double signalUse = 0; ///< share of the time with tasks in which the hub was busy
  /// The part of the critical path that is latency: waiting for results of instructions that had
  /// already left their pipe.
  Cycles latency = 0;
  int32_t idleGroups = 0, groupsAtWork = 0; ///< numbers of core groups
};

Analysis analyse(const Timeline &timeline, int64_t groupsOfChip);
/// The number of core groups that the chip has for kernels like those that ran.
int64_t groupsOfChip(const Timeline &timeline);

/// The lifetime of a buffer of the first core group: from its first write to its last read.
struct BufferLife {
  Place place = Place::Vec;
  bool cube = false;
  Cycles start = 0, end = 0;
  int64_t bytes = 0;
};
std::vector<BufferLife> buffersInUse(const Timeline &timeline);

/// Repeats the run with something at no cost, and returns its length.
using Rerun = std::function<Cycles(const WhatIf &)>;
/// The minimal share of latency in the critical path for which a hint mentions it.
inline constexpr double kMuchLatency = 0.15;

/// `` `tload` (k.ptl:7:30) ``
std::string describeSite(const Site &site);
/// `cube-bound 87 %`, after the busiest pipe.
std::string describeBound(const Analysis &analysis);

/// Why a lane was idle: `` `textract` (7:20) waits for `tload` (7:30) on mte2 of aic ``.
std::string describeGap(const Timeline &timeline, const GapGroup &group);

} // namespace ptl::rt::sim
