#include "runtime/schedule/virtual_lanes.h"

#include <algorithm>
#include <queue>

namespace ptl::rt {

struct VirtualLanes::State {
  State(const TaskGraph &graph, const Topology &topology, const SchedulePolicy &policy);

  struct Group {
    LaneId cube = 0;
    std::vector<LaneId> lanes; ///< the cube core, then the vector cores
    bool isReserved = false;
  };
  struct Progress {
    int64_t next = 0; ///< first point that is not handed out
    int64_t open = 0; ///< points that have not ended
    uint32_t waiting = 0;
  };

  void push(LaneId lane, TaskId task);
  Dispatch start(TaskId task, LaneId lane, std::vector<LaneId> lanes);
  std::optional<Dispatch> startMixed();
  void reserveGroups();
  bool isFree(const Group &group) const;

  const TaskGraph &graph;
  Topology topology;
  ReadyQueues queues;
  int64_t longest;
  std::vector<Progress> progress;
  std::vector<bool> idle;
  std::vector<Group> groups;
  std::vector<uint32_t> groupOf; ///< by lane; ~0 without a cube core
  std::vector<TaskId> newlyReady;
  TaskId ready = 0, mixedReady = 0, completed = 0;
};

VirtualLanes::State::State(const TaskGraph &graph, const Topology &topology,
                           const SchedulePolicy &policy)
    : graph(graph), topology(topology), queues(topology, policy), longest(graph.criticalPath()),
      progress(graph.size()), idle(topology.lanes.size(), true),
      groupOf(topology.lanes.size(), ~0u) {
  auto lanes = static_cast<LaneId>(topology.lanes.size());
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
  for (TaskId task = 0; task < graph.size(); ++task)
    progress[task] = {0, graph.task(task).points, graph.task(task).predecessors};
  // Dealt to the lanes that take them, the longest ways last because the newest goes first.
  LaneId next[taskKinds] = {};
  auto roots = graph.roots();
  for (size_t i = roots.size(); i-- > 0;) {
    TaskKind kind = graph.task(roots[i]).kind;
    LaneId &lane = next[static_cast<size_t>(kind)];
    for (LaneId tries = 0; tries < lanes && !topology.accepts(lane, kind); ++tries)
      lane = (lane + 1) % lanes;
    push(lane, roots[i]);
    lane = (lane + 1) % lanes;
  }
}

void VirtualLanes::State::push(LaneId lane, TaskId task) {
  const TaskGraph::Task &what = graph.task(task);
  queues.push(lane, task, what.kind, levelOf(what.costToEnd, longest, queues.levels()));
  ++ready;
  mixedReady += what.kind == TaskKind::Mixed;
}

Dispatch VirtualLanes::State::start(TaskId task, LaneId lane, std::vector<LaneId> lanes) {
  const TaskGraph::Task &what = graph.task(task);
  Progress &state = progress[task];
  --ready;
  mixedReady -= what.kind == TaskKind::Mixed;
  Dispatch dispatch{task, state.next, std::min(what.points, state.next + what.grain), lane,
                    std::move(lanes)};
  state.next = dispatch.end;
  if (state.next < what.points)
    push(lane, task);
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
    TaskId task = queues.take(group.cube, TaskKind::Mixed);
    if (task != noTask)
      return start(task, group.cube, group.lanes);
  }
  return std::nullopt;
}

VirtualLanes::VirtualLanes(const TaskGraph &graph, const Topology &topology,
                           const SchedulePolicy &policy)
    : state_(std::make_unique<State>(graph, topology, policy)) {}

VirtualLanes::~VirtualLanes() = default;

std::optional<Dispatch> VirtualLanes::next() {
  State &state = *state_;
  if (auto mixed = state.startMixed())
    return mixed;
  state.reserveGroups();
  auto lanes = static_cast<LaneId>(state.idle.size());
  for (LaneId lane = 0; lane < lanes && state.ready > 0; ++lane) {
    if (!state.idle[lane] ||
        (state.groupOf[lane] != ~0u && state.groups[state.groupOf[lane]].isReserved))
      continue;
    for (int kind = taskKinds; kind-- > 0;) {
      auto wanted = static_cast<TaskKind>(kind);
      bool takesIt = state.topology.accepts(lane, wanted) &&
                     !(wanted == TaskKind::Mixed && state.groupOf[lane] != ~0u);
      if (!takesIt)
        continue;
      if (TaskId task = state.queues.take(lane, wanted); task != noTask)
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
  State::Progress &progress = state.progress[dispatch.task];
  progress.open -= dispatch.end - dispatch.begin;
  if (progress.open != 0)
    return {};
  ++state.completed;
  for (TaskId successor : state.graph.successors(dispatch.task)) {
    if (--state.progress[successor].waiting != 0)
      continue;
    state.push(dispatch.lane, successor);
    state.newlyReady.push_back(successor);
  }
  return state.newlyReady;
}

bool VirtualLanes::isDone() const { return state_->completed == state_->graph.size(); }
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
