// The machinery of `Timer`. Inside this folder only.
#pragma once

#include "runtime/graph/access_history.h"
#include "runtime/schedule/virtual_lanes.h"
#include "runtime/sim/group.h"
#include "runtime/sim/time/repeats.h"
#include "runtime/sim/time/shared.h"
#include "runtime/sim/time/sharing.h"
#include "runtime/sim/time/timer.h"

#include <map>

namespace ptl::rt::sim {

/// When a pipe of a core does what.
struct PipeClock {
  Cycles free = 0;    ///< the last operation ended
  Cycles settled = 0; ///< and what waits for it may begin
  bool busy = false;
  bool filled = false; ///< the last operation was an instruction
  bool works = false;  ///< it has had one
  Cycles ownEnd = 0;   ///< of the operation that runs, if nothing is in its way
  Cycles tail = 0;
  int pending = 0; ///< transfers that it waits for
  uint32_t site = 0;
  Cycles started = 0;
  Cycles wakeAt = -1; ///< an event will look at it then
  uint32_t record = noRecord, last = noRecord;
  int64_t bytes = 0, missed = 0; ///< that the operation which runs moves

  /// When the rounds of the loops that run began, and what was done since the outermost did.
  struct Round {
    Cycles time;
    size_t first;
  };
  struct Done {
    uint32_t site;
    SiteTotal total;
    int64_t bytes, missed;
  };
  std::vector<std::vector<Round>> loops;
  std::vector<Done> done;
};

struct GroupClock;

struct CoreClock {
  Core *core = nullptr;
  GroupClock *group = nullptr;
  uint32_t number = 0;    ///< in the list of the engine
  uint32_t firstLane = 0; ///< of its pipes
  uint32_t firstSite = 0; ///< of its function
  PipeClock pipes[numPipes];
  Cycles scalar = 0;
  bool begun = false;
  bool scalarWaits = false;
  uint32_t scalarRecord = noRecord;
  Cycles scalarBusy = 0;                        ///< of its time, that it did not wait
  std::vector<std::vector<Cycles>> scalarLoops; ///< of it, before each round
  /// Pipes that have come to where rounds are left out, while others have not.
  struct Standing {
    uint32_t open = 0;   ///< bits of those
    Cycles window = 0;   ///< the longest
    Cycles at[numPipes]; ///< they came
    bool isLate[numPipes];
  };
  std::map<int64_t, Standing> standing; ///< by run of a loop
  Cycles flagTime[numPipes][numPipes][16] = {};
  uint32_t flagRecord[numPipes][numPipes][16];
};

/// A task, from when it is submitted.
struct LaunchClock {
  TaskRequest request;
  uint32_t number = 0; ///< of its span
  std::vector<uint32_t> successors;
  int64_t cost = 0, costToEnd = 0; ///< elements that it touches; on the longest way to the end
  uint32_t waiting = 0;            ///< tasks, and for having been submitted itself
  bool done = false;
  Cycles dispatched = 0; ///< a scheduler had handed it out

  // of a kernel that has been handed out
  Options options;
  std::optional<LaunchState> state;
  std::optional<Sharing> sharing; ///< where some core groups stand for all
  std::vector<std::unique_ptr<uint8_t[]>> storage;
  bool begun = false;     ///< it has cores
  int64_t open = 0;       ///< blocks that have not ended
  uint32_t firstSite = 0; ///< of its functions
  std::vector<SiteTotal> totals;
  std::vector<bool> used; ///< by lane, where launches may be repeated
  int64_t bytes = 0, missed = 0;
  Repeats::Turn turn;
  std::vector<LaunchResult::Block> ran; ///< by block, where launches may be repeated
  /// The spans of blocks that do not run themselves, by the block that runs in their place, and how
  /// long that took.
  std::map<int64_t, std::vector<uint32_t>> behind;
  std::map<int64_t, Cycles> took;

  double weight() const { return sharing ? sharing->weight() : 1; }
  SiteTotal &totalOf(uint32_t site) { return totals[site - firstSite]; }
};

struct GroupClock {
  LaunchClock *launch = nullptr;
  std::unique_ptr<Group> group;
  std::vector<std::unique_ptr<CoreClock>> cores;
  uint32_t span = 0;                                    ///< of its block
  int32_t signals = 0;                                  ///< on their way
  std::map<std::pair<int32_t, int32_t>, int64_t> freed; ///< slots, by queue and core, not yet told
  struct Arrival {
    Cycles time = 0;
    Cycles queued = 0; ///< before it was handed on
    uint32_t record = noRecord;
  };
  std::vector<Arrival> tiles, slots; ///< the last of each queue
  std::vector<Arrival> events;       ///< the last signal of each event between cores
  SignalHub hub;                     ///< as it sees it, where rounds are left out
};

class Timer::Engine {
public:
  Engine(const Machine &machine, const MachineCosts &costs, TimeOptions options);

  uint32_t addArray(int64_t bytes, size_t rank, std::string name, bool isIntermediate);
  bool submit(TaskRequest request);
  bool await(const ArrayAccess &access);
  bool finish();
  int64_t groupsFor(const Kernel &kernel) const;

  SecondLevel second;
  Timeline timeline;
  TimeOptions options;

private:
  enum class EventKind : uint8_t { Begin, End, Wake, Signal, Submitted, Dispatched, Released };
  struct Event {
    Cycles time;
    uint64_t order;
    EventKind kind;
    uint8_t pipe = 0;
    QueueSignal signal{};
    uint32_t core = 0; ///< or the task, or the span of a block
    int32_t queue = 0;
    uint32_t record = noRecord;
    Cycles queued = 0; ///< of a signal, before it was handed on
    int64_t times = 1; ///< slots that a signal is about
    bool operator>(const Event &other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  // tasks (engine_tasks.cpp)
  void makeLanes();
  std::span<const Access> accessesOf(std::span<const ArrayAccess> from);
  void findEdges(LaunchClock &launch, std::span<const Access> accesses);
  void findWays();
  bool mayBegin(uint32_t task, Cycles time);
  bool handOut(LaunchClock &launch);
  void take(LaunchClock &launch);
  void takeWorkspaces(LaunchClock &launch);
  bool complete(LaunchClock &launch);
  bool beginBlocks();
  void releaseBlock(uint32_t span, Cycles end);
  bool blockReleased(uint32_t span);
  bool taskEvent(const Event &event);
  bool runUntil(const std::function<bool()> &isDone);

  // tasks like others (engine_repeat.cpp)
  bool mayRepeat(const LaunchClock &launch) const;
  void takeTurn(LaunchClock &launch);
  void repeat(LaunchClock &launch);
  void noteUse(const CoreClock &clock, Pipe pipe);
  LaunchResult resultOf(LaunchClock &launch);
  void addUp(uint32_t firstSite, const LaunchResult &result);
  void count(LaunchClock &launch);

  // blocks (engine.cpp)
  void addSites(const Kernel &kernel);
  std::string describe(const LaunchClock &launch) const;
  void share(LaunchClock &launch);
  bool standsBack(LaunchClock &launch, uint32_t span);
  double groupsInTurn(const LaunchClock &launch, uint32_t span) const;
  void beginBlock(LaunchClock &launch, uint32_t span);
  void send(GroupClock &clock, QueueSignal signal, int32_t queue, int32_t core);
  void makeCore(GroupClock &clock, Core &core);
  bool stepOnce();
  bool step();
  bool endGroup(GroupClock &clock);
  bool fail(std::string message);
  bool fail(const GroupClock &clock);
  void push(Event event) {
    event.order = order_++;
    events_.push(event);
  }
  void leaveShared(SharedRate &rate);
  SharedRate &nextShared();

  // cores (engine_core.cpp)
  bool progress(CoreClock &clock);
  bool progressScalar(CoreClock &clock);
  bool progressPipe(CoreClock &clock, Pipe pipe);
  Record scalarWait(const CoreClock &clock, const Step &step) const;
  bool takeScalarStep(CoreClock &clock);
  void awaitResults(CoreClock &clock, uint32_t site);
  bool ready(CoreClock &clock, Pipe pipe, const Issued &head);
  bool isLeftOut(uint32_t site) const { return site < left_.size() && left_[site]; }
  bool synchronise(CoreClock &clock, Pipe pipe);
  bool begin(CoreClock &clock, Pipe pipe);
  void noteBuffers(const CoreClock &clock, const Issued &head, Cycles end);
  void transfer(CoreClock &clock, Pipe pipe, const OperationCost &cost, const Issued &head);
  bool end(CoreClock &clock, Pipe pipe);

  // rounds that stand for others (engine_sample.cpp)
  void noteDone(PipeClock &state, uint32_t site, const SiteTotal &total);
  bool takeMark(CoreClock &clock, Pipe pipe);
  bool stand(CoreClock &clock, Pipe pipe);
  void standFor(CoreClock &clock, Pipe pipe, const SampleAction &mark, Cycles at, Cycles window);
  bool passMark(CoreClock &clock, Pipe pipe, Cycles passed, bool isLate);
  void takeScalarMarks(CoreClock &clock);
  void wake(CoreClock &clock, PipeClock &pipe, Cycles time);
  uint32_t siteOf(const CoreClock &clock, const Step &step) const {
    return clock.firstSite + static_cast<uint32_t>(&step - clock.core->function().steps.data());
  }
  void explain(const CoreClock &clock, Pipe pipe, const Issued &head, Record &record) const;
  uint32_t add(const CoreClock &clock, const Record &record);
  OperationCost costOf(const CoreClock &clock, Pipe pipe, const Issued &head) const;

  Machine machine_;
  Chip chip_;
  CostModel model_;
  SharedRate l2_, memory_;
  SignalHub hub_;
  std::vector<bool> left_; ///< sites that are left out
  std::map<std::pair<const Kernel *, bool>, uint32_t> firstSite_;

  // tasks, by number
  std::vector<std::unique_ptr<LaunchClock>> launches_;
  std::map<const void *, Repeats> repeats_; ///< by place of the program
  size_t done_ = 0;
  size_t known_ = 0;     ///< tasks whose ways to the end are known
  size_t firstOpen_ = 0; ///< those before it have ended
  int64_t longest_ = 0;  ///< way of a task to the end
  AccessHistory history_;
  std::vector<Access> accesses_;
  std::vector<Axis> axes_;
  Cycles orchestrator_ = 0;
  uint32_t awaited_ = noTask;
  Cycles awaitedAt_ = 0;
  std::vector<Cycles> schedulers_; ///< when each is free
  std::optional<VirtualLanes> lanes_;
  std::vector<std::vector<uint32_t>> coresOfLane_; ///< one each; by lane
  std::vector<uint32_t> launchOfLanes_;            ///< by the lanes' number of a task
  std::vector<Dispatch> dispatches_;               ///< by span of a block
  std::vector<uint32_t> lastOnCore_;               ///< span of a block
  struct Workspace {
    uint32_t array = 0;
    std::unique_ptr<uint8_t[]> data;
  };
  std::map<std::pair<const Kernel *, size_t>, std::vector<Workspace>> workspaces_;

  Cycles now_ = 0;
  bool failed_ = false;
  std::map<uint32_t, std::unique_ptr<GroupClock>> groups_; ///< by span of its block
  std::vector<CoreClock *> cores_;                         ///< by number; null: has ended
  uint32_t actor_ = noRecord;                              ///< the record of who signals at present
  uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

} // namespace ptl::rt::sim
