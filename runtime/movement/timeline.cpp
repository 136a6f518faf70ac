#include "runtime/movement/timeline.h"
#include "runtime/movement/predict.h"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <set>

namespace ptl::movement {

std::optional<uint32_t> FabricTimeline::busiest() const {
  auto most = std::max_element(busy.begin(), busy.end());
  if (most == busy.end() || *most <= 0)
    return std::nullopt;
  return static_cast<uint32_t>(most - busy.begin());
}

namespace {

/// A message on its way: the rank pair, the hop it is at, and the time at which its last byte
/// has passed the previous carrier.
struct Message {
  uint32_t move = 0, from = 0, to = 0; ///< ranks
  uint32_t sender = 0;                 ///< the chip
  const std::vector<Hop> *way = nullptr;
  size_t hop = 0;
  double bytes = 0;
  double tail = 0;
};

/// One rank of a movement, which executes its step list in order.
struct Walker {
  size_t task = 0, next = 0;
  double now = 0;
  double joined = 0; ///< bytes of the message whose first pieces have been done
  bool waits = false;
};

class FabricClock {
public:
  FabricClock(const Fabric &fabric, const std::vector<TimedMove> &moves,
              const std::vector<ChipTask> &tasks, const TimelineOptions &options)
      : fabric_(fabric), moves_(moves), tasks_(tasks), options_(options), ways_(fabric),
        missing_(tasks.size()), users_(tasks.size()), chips_(fabric.chips()) {
    out_.tasks.resize(tasks.size());
    for (size_t move = 0; move < moves.size(); ++move)
      firstChannel_.push_back(move ? firstChannel_.back() + square(moves[move - 1]) : 0);
    for (uint32_t task = 0; task < tasks.size(); ++task) {
      missing_[task] = static_cast<uint32_t>(tasks[task].after.size());
      for (uint32_t before : tasks[task].after)
        users_[before].push_back(task);
    }
  }

  FabricTimeline run() {
    for (uint32_t task = 0; task < tasks_.size(); ++task)
      if (missing_[task] == 0)
        ready(task, 0);
    while (!events_.empty()) {
      Event event = events_.top();
      events_.pop();
      if (event.kind == Event::Hop)
        hop(event.what, event.time);
      else if (event.kind == Event::Arrive)
        arrive(event.what, event.time);
      else if (isEnd(event))
        ended(event.what, event.time);
    }
    out_.carriers = ways_.carriers();
    out_.busy.resize(out_.carriers.size());
    return std::move(out_);
  }

private:
  struct Event {
    enum Kind : uint8_t { Hop, Arrive, Ended };
    double time = 0;
    uint64_t order = 0;
    Kind kind = Hop;
    uint32_t what = 0;
    bool operator<(const Event &other) const {
      // Events at one time are handled in the order in which they were made, so that a timeline
      // does not depend on how the heap orders equal keys.
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  /// A chip computes one task at a time: of the tasks that are ready the one with the lowest
  /// number. While none is ready it continues the first of its yielding tasks.
  struct Chip {
    bool isBusy = false;
    std::set<uint32_t> ready, yielding;
    std::optional<uint32_t> yields; ///< the one that is computed
  };
  struct Yielding {
    double left = 0, since = 0; ///< seconds that are left, and since when they are computed
    uint64_t end = 0; ///< the order of the event at which it ends if nothing comes between
  };
  struct CarrierState {
    double free = 0;
    uint32_t lastSender = ~0u;
  };

  /// The channels of a move, one for each pair of its ranks, which `channel` numbers.
  static uint64_t square(const TimedMove &move) {
    return static_cast<uint64_t>(move.chips.size()) * move.chips.size();
  }
  void at(double time, Event::Kind kind, uint32_t what) {
    events_.push({time, order_++, kind, what});
  }

  // ---- Tasks ---------------------------------------------------------------------------------------

  void ready(uint32_t task, double now) {
    const ChipTask &what = tasks_[task];
    if (what.pause) {
      out_.tasks[task].begin = now;
      // Rounds that were not simulated take as long as the one between two tasks that were.
      double between = out_.tasks[what.pause->to].end - out_.tasks[what.pause->from].end;
      return at(now + what.pause->times * std::max(0.0, between), Event::Ended, task);
    }
    if (what.isAside) {
      out_.tasks[task].begin = now;
      return at(now + what.seconds, Event::Ended, task);
    }
    if (what.isComputing()) {
      Chip &here = chips_[what.chip];
      // Saving and the like give way to work that others wait for.
      (what.yields ? here.yielding : here.ready).insert(task);
      if (what.yields)
        yielding_[task].left = what.seconds;
      out_.tasks[task].begin = now;
      compute(what.chip, now);
      return;
    }
    out_.tasks[task].begin = now;
    Walker &walker = walkers_[{*what.move, what.rank}];
    walker.task = task;
    walker.now = now + moves_[*what.move].start;
    walk(static_cast<uint32_t>(*what.move), what.rank, walker);
  }

  void compute(uint32_t chip, double now) {
    Chip &here = chips_[chip];
    if (here.isBusy)
      return;
    if (here.ready.empty())
      return goOn(here, now);
    if (here.yields) {
      Yielding &stopped = yielding_[*here.yields];
      // What has yielded keeps what it has done, and its end is no longer the one that was
      // foreseen.
      stopped.left -= now - stopped.since;
      stopped.end = 0;
      here.yields.reset();
    }
    uint32_t task = *here.ready.begin();
    here.ready.erase(here.ready.begin());
    here.isBusy = true;
    out_.tasks[task].begin = now;
    at(now + tasks_[task].seconds, Event::Ended, task);
  }

  void goOn(Chip &here, double now) {
    if (here.yields || here.yielding.empty())
      return;
    here.yields = *here.yielding.begin();
    Yielding &goesOn = yielding_[*here.yields];
    goesOn.since = now;
    goesOn.end = order_;
    at(now + goesOn.left, Event::Ended, *here.yields);
  }

  /// Whether an event is the end of a task that has not been interrupted since the event was made.
  /// Events are never taken out of the queue; one that an interruption outdated is recognized by
  /// its order and dropped.
  bool isEnd(const Event &event) {
    if (!tasks_[event.what].yields)
      return true;
    Chip &here = chips_[tasks_[event.what].chip];
    if (here.yields != event.what || yielding_[event.what].end != event.order)
      return false;
    here.yields.reset();
    here.yielding.erase(event.what);
    return true;
  }

  void ended(uint32_t task, double now) {
    out_.tasks[task].end = now;
    out_.end = std::max(out_.end, now);
    // A yielding task did not set `isBusy`: it never keeps a ready task from starting.
    if (tasks_[task].isComputing() && !tasks_[task].yields)
      chips_[tasks_[task].chip].isBusy = false;
    for (uint32_t user : users_[task])
      if (--missing_[user] == 0)
        ready(user, now);
    compute(tasks_[task].chip, now);
  }

  // ---- Steps ---------------------------------------------------------------------------------------

  uint64_t channel(uint32_t move, uint32_t from, uint32_t to) const {
    return firstChannel_[move] + from * moves_[move].chips.size() + to;
  }

  double bytesOf(uint32_t move, const Step &step) const {
    return static_cast<double>(elementCount(step.box) * moves_[move].elementBytes);
  }

  /// Executes the steps of a rank up to the first receive whose message has not arrived.
  void walk(uint32_t move, uint32_t rank, Walker &walker) {
    const std::vector<Step> &steps = moves_[move].list->ranks[rank].steps;
    walker.waits = false;
    for (; walker.next < steps.size(); ++walker.next) {
      const Step &step = steps[walker.next];
      if (step.isJoined) {
        if (step.kind == StepKind::Send)
          walker.joined += bytesOf(move, step);
      } else if (step.kind == StepKind::Send) {
        // The pieces joined before this one count into its message, which costs `perMessage` once.
        walker.now += fabric_.perMessage;
        send(move, rank, step.peer, bytesOf(move, step) + walker.joined, walker.now);
        walker.joined = 0;
      } else if (step.kind == StepKind::Receive) {
        auto come = arrived_.find(channel(move, step.peer, rank));
        if (come == arrived_.end()) {
          walker.waits = true;
          return;
        }
        // The message may have come earlier, and waited; if it comes later, the rank waits.
        walker.now = std::max(walker.now, come->second.front());
        come->second.pop_front();
        if (come->second.empty())
          arrived_.erase(come); // Else a map entry per pair of ranks would remain.
      } else if (step.kind == StepKind::Combine && fabric_.combineRate > 0) {
        walker.now += bytesOf(move, step) / fabric_.combineRate;
      }
    }
    at(walker.now, Event::Ended, static_cast<uint32_t>(walker.task));
  }

  void send(uint32_t move, uint32_t rank, uint32_t peer, double bytes, double now) {
    const std::vector<uint32_t> &chips = moves_[move].chips;
    uint32_t number;
    // Slots of messages that have arrived are reused: a long run has far more messages than are on
    // their way at once.
    if (freeMessages_.empty()) {
      number = static_cast<uint32_t>(messages_.size());
      messages_.emplace_back();
    } else {
      number = freeMessages_.back();
      freeMessages_.pop_back();
    }
    messages_[number] = {move, rank,  peer, chips[rank], &ways_.between(chips[rank], chips[peer]),
                         0,    bytes, now};
    ++out_.messages;
    next(number, now);
  }

  /// Schedules a message at its next carrier, or its arrival at the end of its route.
  void next(uint32_t number, double head) {
    Message &message = messages_[number];
    if (message.hop == message.way->size())
      at(std::max(message.tail, head), Event::Arrive, number);
    else
      at(head + (*message.way)[message.hop].latency, Event::Hop, number);
  }

  /// The first byte of a message is at a carrier, which carries one message after the other. The
  /// last byte cannot pass it before it has passed the previous carrier.
  void hop(uint32_t number, double now) {
    Message &message = messages_[number];
    const Hop &hop = (*message.way)[message.hop];
    const Carrier &carrier = ways_.carriers()[hop.carrier];
    if (carriers_.size() <= hop.carrier) {
      carriers_.resize(ways_.carriers().size());
      out_.busy.resize(carriers_.size());
    }
    CarrierState &state = carriers_[hop.carrier];
    double begin = std::max(now, state.free), seconds = message.bytes / carrier.rate;
    // Messages of several senders that meet at one port disturb each other, by a factor of the
    // machine's file.
    if (carrier.isInward && begin > now && state.lastSender != message.sender)
      seconds /= fabric_.contended;
    message.tail = std::max(begin + seconds, message.tail + hop.latency);
    state = {begin + seconds, message.sender};
    out_.busy[hop.carrier] += seconds;
    if (options_.keepsCarried)
      out_.carried.push_back({hop.carrier, message.move, begin, begin + seconds});
    ++message.hop;
    next(number, begin);
  }

  void arrive(uint32_t number, double now) {
    // A copy, because the walk below may send messages and reuse the slot.
    Message message = messages_[number];
    freeMessages_.push_back(number);
    arrived_[channel(message.move, message.from, message.to)].push_back(now);
    auto found = walkers_.find({message.move, message.to});
    if (found == walkers_.end() || !found->second.waits)
      return;
    // A receive names its sender: a message of another rank waits in `arrived_`.
    const Walker &walker = found->second;
    const Step &step = moves_[message.move].list->ranks[message.to].steps[walker.next];
    if (step.peer == message.from)
      walk(message.move, message.to, found->second);
  }

  struct PairHash {
    size_t operator()(const std::pair<size_t, uint32_t> &pair) const {
      return pair.first * 0x9e3779b97f4a7c15 + pair.second;
    }
  };

  const Fabric &fabric_;
  const std::vector<TimedMove> &moves_;
  const std::vector<ChipTask> &tasks_;
  const TimelineOptions &options_;
  Ways ways_;
  FabricTimeline out_;
  std::priority_queue<Event> events_;
  uint64_t order_ = 0;
  std::vector<uint32_t> missing_;
  std::vector<std::vector<uint32_t>> users_;
  std::vector<Chip> chips_;
  std::map<uint32_t, Yielding> yielding_;
  std::vector<CarrierState> carriers_;
  std::vector<uint64_t> firstChannel_;
  std::vector<Message> messages_;
  std::vector<uint32_t> freeMessages_;
  std::unordered_map<std::pair<size_t, uint32_t>, Walker, PairHash> walkers_;
  std::unordered_map<uint64_t, std::deque<double>> arrived_;
};

} // namespace

FabricTimeline timelineOn(const Fabric &fabric, const std::vector<TimedMove> &moves,
                          const std::vector<ChipTask> &tasks, const TimelineOptions &options) {
  return FabricClock(fabric, moves, tasks, options).run();
}

FabricTimeline timelineOf(const Fabric &fabric, const TimedMove &move) {
  std::vector<ChipTask> tasks;
  for (uint32_t rank = 0; rank < move.chips.size(); ++rank)
    tasks.push_back({move.chips[rank], 0, size_t(0), rank, {}});
  return timelineOn(fabric, {move}, tasks);
}

/// The size of the runs into which the chips fall, in their order, such that neighbours inside a
/// run are nearer (their level is further in) than neighbours across a border of runs. The smallest
/// size is taken, since it belongs to the innermost level. 0 if no size divides the chips so.
static uint32_t togetherOn(const Fabric &fabric, const std::vector<uint32_t> &chips) {
  for (uint32_t run = 2; run < chips.size(); ++run) {
    if (chips.size() % run != 0)
      continue;
    size_t inside = 0, outside = fabric.levels.size();
    for (size_t i = 0; i + 1 < chips.size(); ++i) {
      size_t level = fabric.levelBetween(chips[i], chips[i + 1]);
      if ((i + 1) % run == 0)
        outside = std::min(outside, level);
      else
        inside = std::max(inside, level);
    }
    if (inside < outside)
      return run;
  }
  return 0;
}

ChosenSteps chooseSteps(const Request &request, int64_t elementBytes, const Fabric &fabric,
                        const std::vector<uint32_t> &chips, double start) {
  ChosenSteps best;
  Request here = request;
  if (uint32_t together = togetherOn(fabric, chips))
    here.together = together;
  for (Algorithm algorithm : algorithmsFor(here))
    for (StepList &list : variantsOf(here, algorithm)) {
      FabricTimeline timeline = timelineOf(fabric, {&list, chips, elementBytes, start});
      // Of equally fast algorithms the first one of the table is taken, so that the choice does not
      // depend on rounding.
      if (timeline.end >= best.seconds)
        continue;
      best.seconds = timeline.end;
      best.limit.clear();
      best.limitShare = 0;
      if (std::optional<uint32_t> busiest = timeline.busiest()) {
        best.limit = timeline.carriers[*busiest].name;
        best.limitShare = timeline.busy[*busiest] / timeline.end;
      }
      best.list = std::move(list);
    }
  return best;
}

} // namespace ptl::movement
