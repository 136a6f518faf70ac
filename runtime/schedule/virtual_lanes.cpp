#include "runtime/schedule/virtual_lanes.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace ptl::rt {

struct VirtualLanes::State {
  State(const Topology &topology, const SchedulePolicy &policy);
  void addAll(const TaskGraph &graph);

  struct Group {
    LaneId cube = 0;
    std::vector<LaneId> lanes; ///< the cube core, then the vector cores
    bool isReserved = false;
  };
  struct Task {
    TaskKind kind = TaskKind::Host;
    int level = 0;
    int64_t points = 1, grain = 1;
    int64_t next = 0; ///< first point that is not handed out
    int64_t open = 0; ///< points that have not ended
    uint32_t waiting = 0;
    std::vector<TaskId> successors;
  };
  /// Ready tasks of a kind: how many of each level wait in queues, and the one that is begun.
  struct Kind {
    std::vector<TaskId> queued;
    TaskId begun = kNoTask;
    LaneId nextLane = 0;
  };

  Kind &kindOf(TaskId task) { return kinds[static_cast<size_t>(tasks[task].kind)]; }
  void push(LaneId lane, TaskId task);
  void deal(TaskId task, bool inTurn);
  TaskId take(LaneId lane, TaskKind kind);
  Dispatch start(TaskId task, LaneId lane, std::vector<LaneId> lanes);
  std::optional<Dispatch> startMixed();
  void reserveGroups();
  bool isFree(const Group &group) const;

  Topology topology;
  SchedulePolicy policy;
  ReadyQueues queues;
  std::vector<Task> tasks;
  Kind kinds[kTaskKinds];
  std::vector<bool> idle;
  std::vector<Group> groups;
  std::vector<uint32_t> groupOf; ///< by lane; ~0 without a cube core
  std::vector<TaskId> newlyReady;
  TaskId ready = 0, mixedReady = 0, completed = 0;
};

VirtualLanes::State::State(const Topology &topology, const SchedulePolicy &policy)
    : topology(topology), policy(policy), queues(topology, policy),
      idle(topology.lanes.size(), true), groupOf(topology.lanes.size(), ~0u) {
  auto lanes = static_cast<LaneId>(topology.lanes.size());
  for (Kind &kind : kinds)
    kind.queued.resize(static_cast<size_t>(queues.levels()));
  for (LaneId lane = 0; lane < lanes; ++lane) {
    if (topology.lanes[lane].kind != LaneKind::Aic)
      continue;
    Group group{lane, {lane}};
    for (LaneId vector : topology.vectorLanesOf(lane))
      group.lanes.push_back(vector);
    for (LaneId member : group.lanes)
      groupOf[member] = static_cast<uint32_t>(groups.size());
    groups.push_back(std::move(group));
  }
}

void VirtualLanes::State::addAll(const TaskGraph &graph) {
  int64_t longest = graph.criticalPath();
  for (TaskId id = 0; id < graph.size(); ++id) {
    const TaskGraph::Task &task = graph.task(id);
    auto successors = graph.successors(id);
    tasks.push_back({task.kind,
                     levelOf(task.costToEnd, longest, queues.levels()),
                     task.points,
                     task.grain,
                     0,
                     task.points,
                     task.predecessors,
                     {successors.begin(), successors.end()}});
  }
  // The longest ways last because the newest goes first.
  auto roots = graph.roots();
  for (size_t i = roots.size(); i-- > 0;)
    deal(roots[i], true);
}

/// To one of the lanes that take it: each in turn, or always the first.
void VirtualLanes::State::deal(TaskId task, bool inTurn) {
  auto lanes = static_cast<LaneId>(topology.lanes.size());
  LaneId &next = kindOf(task).nextLane;
  for (LaneId tries = 0; tries < lanes && !topology.accepts(next, tasks[task].kind); ++tries)
    next = (next + 1) % lanes;
  push(next, task);
  if (inTurn)
    next = (next + 1) % lanes;
}

void VirtualLanes::State::push(LaneId lane, TaskId task) {
  const Task &what = tasks[task];
  queues.push(lane, task, what.kind, what.level);
  ++kindOf(task).queued[static_cast<size_t>(what.level)];
  ++ready;
  mixedReady += what.kind == TaskKind::Mixed;
}

TaskId VirtualLanes::State::take(LaneId lane, TaskKind wanted) {
  Kind &kind = kinds[static_cast<size_t>(wanted)];
  // A begun task goes on unless a task of a higher level waits, because its successors wait for its
  // last point.
  bool goesOn = kind.begun != kNoTask;
  bool isAny = goesOn;
  for (size_t level = kind.queued.size(); level-- > 0;) {
    isAny |= kind.queued[level] > 0;
    goesOn =
        goesOn && (kind.queued[level] == 0 || tasks[kind.begun].level >= static_cast<int>(level));
  }
  if (!isAny)
    return kNoTask;
  TaskId task = goesOn ? std::exchange(kind.begun, kNoTask) : queues.take(lane, wanted);
  if (task == kNoTask)
    return kNoTask;
  if (!goesOn)
    --kind.queued[static_cast<size_t>(tasks[task].level)];
  --ready;
  mixedReady -= wanted == TaskKind::Mixed;
  return task;
}

Dispatch VirtualLanes::State::start(TaskId task, LaneId lane, std::vector<LaneId> lanes) {
  Task &what = tasks[task];
  Dispatch dispatch{task, what.next, std::min(what.points, what.next + what.grain), lane,
                    std::move(lanes)};
  what.next = dispatch.end;
  if (what.next < what.points) {
    if (TaskId &begun = kindOf(task).begun; begun == kNoTask) {
      begun = task;
      ++ready;
      mixedReady += what.kind == TaskKind::Mixed;
    } else {
      push(lane, task);
    }
  }
  for (LaneId used : dispatch.lanes)
    idle[used] = false;
  return dispatch;
}

bool VirtualLanes::State::isFree(const Group &group) const {
  return std::all_of(group.lanes.begin(), group.lanes.end(),
                     [this](LaneId lane) { return idle[lane]; });
}

/// Mixed tasks need a whole group at once. Where none is free, as many groups as there are such
/// tasks take nothing else until they are: those with the most idle lanes.
void VirtualLanes::State::reserveGroups() {
  for (Group &group : groups)
    group.isReserved = false;
  for (TaskId wanted = mixedReady; wanted > 0; --wanted) {
    Group *best = nullptr;
    ptrdiff_t most = -1;
    for (Group &group : groups) {
      ptrdiff_t free = std::count_if(group.lanes.begin(), group.lanes.end(),
                                     [this](LaneId lane) { return idle[lane]; });
      if (!group.isReserved && free > most) {
        best = &group;
        most = free;
      }
    }
    if (!best)
      return;
    best->isReserved = true;
  }
}

std::optional<Dispatch> VirtualLanes::State::startMixed() {
  if (mixedReady == 0)
    return std::nullopt;
  for (Group &group : groups) {
    if (!isFree(group))
      continue;
    TaskId task = take(group.cube, TaskKind::Mixed);
    if (task != kNoTask)
      return start(task, group.cube, group.lanes);
  }
  return std::nullopt;
}

VirtualLanes::VirtualLanes(const TaskGraph &graph, const Topology &topology,
                           const SchedulePolicy &policy)
    : state_(std::make_unique<State>(topology, policy)) {
  state_->addAll(graph);
}

VirtualLanes::VirtualLanes(const Topology &topology, const SchedulePolicy &policy)
    : state_(std::make_unique<State>(topology, policy)) {}

VirtualLanes::~VirtualLanes() = default;

TaskId VirtualLanes::add(TaskKind kind, int64_t points, int64_t grain, int level) {
  auto id = static_cast<TaskId>(state_->tasks.size());
  state_->tasks.push_back({kind, level, points, grain, 0, points, 0, {}});
  state_->deal(id, !state_->policy.oldestFirst);
  return id;
}

std::optional<Dispatch> VirtualLanes::next() {
  State &state = *state_;
  // Mixed tasks come first: they need a whole group, and single tasks would take its cores one by
  // one.
  if (auto mixed = state.startMixed())
    return mixed;
  state.reserveGroups();
  auto lanes = static_cast<LaneId>(state.idle.size());
  for (LaneId lane = 0; lane < lanes && state.ready > 0; ++lane) {
    if (!state.idle[lane] ||
        (state.groupOf[lane] != ~0u && state.groups[state.groupOf[lane]].isReserved))
      continue;
    for (int kind = kTaskKinds; kind-- > 0;) {
      auto wanted = static_cast<TaskKind>(kind);
      // Mixed tasks are started on whole groups above.
      bool takesIt = state.topology.accepts(lane, wanted) &&
                     !(wanted == TaskKind::Mixed && state.groupOf[lane] != ~0u);
      if (!takesIt)
        continue;
      if (TaskId task = state.take(lane, wanted); task != kNoTask)
        return state.start(task, lane, {lane});
    }
  }
  return std::nullopt;
}

std::span<const TaskId> VirtualLanes::finish(const Dispatch &dispatch) {
  State &state = *state_;
  state.newlyReady.clear();
  for (LaneId lane : dispatch.lanes)
    state.idle[lane] = true;
  State::Task &task = state.tasks[dispatch.task];
  // Pieces of a task may end in any order.
  task.open -= dispatch.end - dispatch.begin;
  if (task.open != 0)
    return {};
  ++state.completed;
  for (TaskId successor : task.successors) {
    if (--state.tasks[successor].waiting != 0)
      continue;
    state.push(dispatch.lane, successor);
    state.newlyReady.push_back(successor);
  }
  return state.newlyReady;
}

bool VirtualLanes::isDone() const { return state_->completed == state_->tasks.size(); }
TaskId VirtualLanes::readyCount() const { return state_->ready; }
bool VirtualLanes::isIdle(LaneId lane) const { return state_->idle[lane]; }

// --- a driver -------------------------------------------------------------------------------

namespace {

struct End {
  VirtualTime time;
  size_t event; ///< breaks ties, so that the order is always the same
  bool isSeen;  ///< by a scheduler, which then releases the lanes

  bool operator>(const End &other) const {
    return time != other.time ? time > other.time : event > other.event;
  }
};

} // namespace

LaneTrace simulateLanes(const TaskGraph &graph, const Topology &topology, const PieceTime &timeOf,
                        const DispatchCosts &costs, const SchedulePolicy &policy) {
  VirtualLanes lanes(graph, topology, policy);
  LaneTrace trace;
  std::vector<VirtualTime> readyAt(graph.size(), 0);
  std::vector<VirtualTime> free(static_cast<size_t>(std::max(1, costs.schedulers)), 0);
  std::priority_queue<End, std::vector<End>, std::greater<>> ends;
  auto occupy = [&](VirtualTime now, VirtualTime cost) {
    // The scheduler that is free first takes it.
    auto scheduler = std::min_element(free.begin(), free.end());
    VirtualTime begin = std::max(now, *scheduler);
    *scheduler = begin + cost;
    return begin;
  };
  VirtualTime now = 0;
  while (true) {
    while (auto dispatch = lanes.next()) {
      LaneEvent event{*dispatch, readyAt[dispatch->task]};
      event.dispatched = occupy(now, costs.dispatch);
      event.begin = event.dispatched + costs.dispatch + costs.start;
      event.end = event.begin + timeOf(event.dispatch, event.begin);
      trace.makespan = std::max(trace.makespan, event.end);
      ends.push({event.end, trace.events.size(), false});
      trace.events.push_back(std::move(event));
    }
    if (ends.empty())
      break;
    End end = ends.top();
    ends.pop();
    now = end.time;
    // A lane is idle again only when a scheduler has had time to notice that its piece has ended.
    if (!end.isSeen) {
      ends.push({occupy(now, costs.complete) + costs.complete, end.event, true});
      continue;
    }
    for (TaskId task : lanes.finish(trace.events[end.event].dispatch))
      readyAt[task] = now;
  }
  std::stable_sort(trace.events.begin(), trace.events.end(),
                   [](const LaneEvent &a, const LaneEvent &b) { return a.begin < b.begin; });
  return trace;
}

} // namespace ptl::rt
