// The machinery of `Timer`. Inside this folder only.
#pragma once

#include "runtime/sim/group.h"
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
  Cycles ownEnd = 0;   ///< of the operation that runs, if nothing is in its way
  Cycles tail = 0;
  int pending = 0; ///< transfers that it waits for
  uint32_t site = 0;
  Cycles started = 0;
  Cycles wakeAt = -1; ///< an event will look at it then
  uint32_t record = noRecord, last = noRecord;
  int64_t bytes = 0, missed = 0; ///< that the operation which runs moves

  /// Windows of rounds that are being measured, and what was done since the outermost began.
  struct Window {
    Cycles time;
    size_t first;
  };
  struct Done {
    uint32_t site;
    SiteTotal total;
    int64_t bytes, missed;
  };
  std::vector<Window> windows;
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
  bool scalarWaits = false;
  uint32_t scalarRecord = noRecord;
  Cycles scalarBusy = 0; ///< of its time, that it did not wait
  std::vector<Cycles> scalarWindows;
  Cycles flagTime[numPipes][numPipes][16] = {};
  uint32_t flagRecord[numPipes][numPipes][16];
};

struct GroupClock {
  std::unique_ptr<Group> group;
  std::vector<std::unique_ptr<CoreClock>> cores;
  int64_t slot = 0;
  int32_t signals = 0; ///< on their way
  struct Arrival {
    Cycles time = 0;
    uint32_t record = noRecord;
  };
  std::vector<Arrival> tiles, slots; ///< the last of each queue
};

class Timer::Engine {
public:
  Engine(const Machine &machine, const MachineCosts &costs, TimeOptions options);

  bool run(const Kernel &kernel, std::span<const GlobalArray> pointers,
           std::span<const uint32_t> arrays, std::span<const Scalar> scalars, int64_t blocks);
  int64_t groupsFor(const Kernel &kernel) const;

  SecondLevel second;
  Timeline timeline;
  TimeOptions options;

private:
  enum class EventKind : uint8_t { Begin, End, Wake, Signal };
  struct Event {
    Cycles time;
    uint64_t order;
    EventKind kind;
    uint8_t pipe = 0;
    QueueSignal signal{};
    uint32_t core = 0;
    int32_t queue = 0;
    uint32_t record = noRecord;
    bool operator>(const Event &other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  // launches (engine.cpp)
  void addSites(const Kernel &kernel);
  std::vector<int64_t> blocksToRun(const Kernel &kernel, std::span<const GlobalArray> pointers,
                                   std::span<const Scalar> scalars, int64_t slots, int64_t blocks);
  void standForAll(LaunchSpan &span, const std::vector<SiteTotal> &before, int64_t bytes,
                   int64_t missed);
  void beginBlock(int64_t slot, int64_t block, Cycles time);
  void makeCore(GroupClock &clock, Core &core);
  bool loop();
  bool step();
  bool endGroup(GroupClock &clock);
  bool fail(std::string message);
  void push(Event event) {
    event.order = order_++;
    events_.push(event);
  }
  void leaveShared(SharedRate &rate);

  // cores (engine_core.cpp)
  bool progress(CoreClock &clock);
  bool progressScalar(CoreClock &clock);
  bool progressPipe(CoreClock &clock, Pipe pipe);
  bool takeScalarStep(CoreClock &clock);
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
  void standFor(CoreClock &clock, Pipe pipe, const PipeClock::Window &window, int64_t factor);
  void takeScalarMarks(CoreClock &clock);
  void wake(CoreClock &clock, PipeClock &pipe, Cycles time);
  uint32_t siteOf(const CoreClock &clock, const Step &step) const {
    return clock.firstSite + static_cast<uint32_t>(&step - clock.core->function().steps.data());
  }
  void explain(const CoreClock &clock, Pipe pipe, const Issued &head, Record &record) const;
  uint32_t add(const Record &record);
  OperationCost costOf(const CoreClock &clock, Pipe pipe, const Issued &head) const;

  Machine machine_;
  Chip chip_;
  CostModel model_;
  SharedRate l2_, memory_;
  std::vector<bool> left_; ///< sites that are left out
  std::map<std::pair<const Kernel *, bool>, uint32_t> firstSite_;

  // of the launch that runs
  std::optional<LaunchState> launch_;
  Options runOptions_;
  std::optional<Sharing> sharing_; ///< of the launch, where some core groups stand for all
  std::span<const uint32_t> arrays_;
  int64_t nextBlock_ = 0, skipped_ = 0;
  Cycles now_ = 0, launchEnd_ = 0;
  bool failed_ = false;
  std::vector<std::unique_ptr<GroupClock>> groups_;
  std::vector<CoreClock *> cores_; ///< by number
  uint32_t actor_ = noRecord;      ///< the record of who signals at present
  uint64_t order_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

} // namespace ptl::rt::sim
