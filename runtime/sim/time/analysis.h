// What a timeline says: how busy each lane is, why it is idle, what decides the length of the run,
// and what would be gained if that cost nothing.
#pragma once

#include "runtime/sim/time/timer.h"

#include <functional>
#include <map>

namespace ptl::rt::sim {

/// A stretch in which a lane had no operation to run although it had some later.
struct Gap {
  uint16_t lane = 0;
  Cycles start = 0, end = 0;
  Cause cause = Cause::None;
  uint32_t next = kNoRecord;    ///< the instruction that it kept back
  uint32_t wait = kNoRecord;    ///< the operation that waited: that instruction, or one on an event
  uint32_t blocker = kNoRecord; ///< the instruction that was waited for, on whatever lane
};

/// Gaps with the same cause between the same instructions, on all lanes of a kind.
struct GapGroup {
  Pipe pipe = Pipe::S;
  bool cube = false;
  Cause cause = Cause::None;
  uint32_t next = 0, wait = 0;  ///< sites
  uint32_t blocker = kNoRecord; ///< a site
  uint64_t count = 0;
  Cycles total = 0;
  Cycles critical = 0; ///< of it on the critical path
};

/// A part of the critical path. The parts cover the run without holes.
struct PathPiece {
  enum class Kind : uint8_t {
    Work,      ///< an instruction occupies its pipe
    Events,    ///< an event or a barrier itself, or giving back a slot
    Stall,     ///< of an instruction, waiting for what the cores share
    Scalar,    ///< the scalar unit had not come to it
    CrossCore, ///< another core had not heard of it
    Signals,   ///< of that, until those of other cores had been handed on
    Latency,   ///< an instruction has left its pipe, and an event or the end waits for its results
    Barrier,   ///< the same, and a barrier waits
    Launch,
    Repeat,
    Submit,
    Dispatch,
    Alike, ///< a task that is taken to have run like another one
  };
  Kind kind = Kind::Work;
  uint32_t record = kNoRecord;
  Cycles start = 0, end = 0;
  double weight = 1; ///< how often it counts: more than once where it stands for others, 0 where
                     ///< others stand for it

  Cycles length() const { return (end - start) * weight; }
};
inline constexpr std::string_view pathKindNames[] = {
    "work",    "events", "shared memory", "scalar unit",  "core to core", "signal hub", "latency",
    "barrier", "launch", "rounds alike",  "orchestrator", "dispatch",     "tasks alike"};
/// Whether reports name the pipe with this part of the path: `aiv v`, `aiv v latency`.
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

/// Utilisation of one pipe of one kind of core, over those that work.
struct PipeUse {
  Pipe pipe = Pipe::S;
  bool cube = false;
  Cycles busy = 0;
  int32_t lanes = 0; ///< that have done something
  double share = 0;  ///< of the time in which the cores were at work
};

struct Gain {
  std::string what;         ///< `if mte2 of the cube cores cost nothing`
  Cycles end = 0;           ///< of the run then
  uint32_t gap = kNoRecord; ///< the number of the group of gaps that it is about
  uint32_t task = kNoTask;  ///< that did not wait where memory alone makes it
};

/// A stretch in which a core of a kind that the program uses had no task.
struct CoreGap {
  uint32_t core = 0;
  Cycles start = 0, end = 0;
  TaskCause cause = TaskCause::End;
  uint32_t next = kNoTask;    ///< the task that it ran then, or the next one that anybody began
  uint32_t blocker = kNoTask; ///< of a dependence: the task that was waited for
};

/// Gaps with the same cause before the same task, of all cores.
struct CoreGapGroup {
  TaskCause cause = TaskCause::End;
  uint32_t next = kNoTask, blocker = kNoTask;
  uint32_t cores = 0;
  Cycles total = 0;
};

/// What a core did: blocks of tasks that had work.
struct CoreUse {
  uint32_t core = 0;
  std::vector<uint32_t> blocks; ///< numbers of their spans
  Cycles busy = 0;
};

/// The bytes of a program's intermediate arrays. Each is live from when the first task that uses it
/// begins to when the last one ends.
struct StorageUse {
  int64_t peak = 0;     ///< live at once, as the tasks ran
  int64_t inOrder = 0;  ///< if one had run after another
  int64_t unshared = 0; ///< of all
};

/// The program as tasks on cores.
struct TaskAnalysis {
  std::vector<CoreUse> cores;       ///< those of the kinds that the program uses
  std::vector<CoreGap> gaps;        ///< by core, then time
  std::vector<CoreGapGroup> groups; ///< the longest first
  std::vector<uint32_t> path;       ///< tasks on the critical path, from the first to the last
  std::vector<uint32_t> coresOf;    ///< by task: cores that had work in it
  int32_t kernels = 0;              ///< tasks that are launches
  int32_t atOnce = 0;               ///< most of them that ran at the same time
  Cycles busy = 0, whole = 0;       ///< of all those cores
  StorageUse storage;
};

struct Analysis {
  std::vector<PipeUse> pipes;   ///< the busiest first
  std::vector<LaneUse> lanes;   ///< those that did something
  std::vector<Gap> gaps;        ///< by lane, then time
  std::vector<GapGroup> groups; ///< the longest first
  std::vector<PathPiece>
      path; ///< from the start to the end; then those of tasks like which others ran
  std::map<std::string, Cycles> pathByPart; ///< `aic m`, `aiv v latency`, `launch`
  std::vector<Gain> gains;                  ///< the largest first
  TaskAnalysis tasks;
  Cycles atWork = 0;    ///< some core had a task
  Cycles uneven = 0;    ///< of that, saved if all cores had always something to do
  uint64_t signals = 0; ///< between cores
  double signalUse = 0; ///< of the time in which cores were at work, that the hub was taken
  /// The part of the critical path in which results were awaited of instructions that had left
  /// their pipe.
  Cycles latency = 0;
  int32_t idleGroups = 0, groupsAtWork = 0; ///< core groups
};

Analysis analyse(const Timeline &timeline, int64_t groupsOfChip);
/// Analyses the tasks on cores; `path` is left empty, since the caller finds it.
TaskAnalysis analyseTasks(const Timeline &timeline);
/// How many core groups the chip has for kernels like those that ran.
int64_t groupsOfChip(const Timeline &timeline);

/// The life of a buffer of the first core group: from its first write to its last read.
struct BufferLife {
  Place place = Place::Vec;
  bool cube = false;
  Cycles start = 0, end = 0;
  int64_t bytes = 0;
};
std::vector<BufferLife> buffersInUse(const Timeline &timeline);

/// Runs again with something at no cost, and returns how long that takes.
using Rerun = std::function<Cycles(const WhatIf &)>;
/// The share of latency in the critical path from which on a hint mentions it.
inline constexpr double kMuchLatency = 0.15;
/// Finds what would be gained if a pipe or a resource on which the run spends time cost nothing,
/// and likewise the most expensive waits; with `forHints` only what hints are about.
void addGains(const Timeline &timeline, Analysis &analysis, const Rerun &rerun,
              bool forHints = false);

/// `` `tload` (k.ptl:7:30) ``
std::string describeSite(const Site &site);
/// Why a lane was idle: `` `textract` (7:20) waits for `tload` (7:30) on mte2 of aic ``.
std::string describeGap(const Timeline &timeline, const GapGroup &group);
/// `` `act`, which writes `h` (f.ptl:7) ``
std::string describeTask(const Timeline &timeline, uint32_t task);
/// The tasks that a task waits for without reading their results: both only use the same array.
std::vector<TaskEdge> sharedMemoryEdges(const LaunchSpan &launch);
/// Why a task did not begin earlier: `` #3 waits for #1: read after write of `h` ``.
std::string describeWait(const Timeline &timeline, uint32_t task);
/// Why cores were idle: what `describeWait` says of the task that they had next.
std::string describeGap(const Timeline &timeline, const CoreGapGroup &group);
/// `cube-bound 87 %`: the pipe that is busiest.
std::string describeBound(const Analysis &analysis);

} // namespace ptl::rt::sim
