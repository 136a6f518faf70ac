#include "runtime/schedule/task_window.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace ptl::rt {
namespace {

// More than a task can have predecessors; keeps it from starting while edges are added.
constexpr int32_t kGuard = 1 << 30;

// The number of indirect predecessors that are examined.
constexpr size_t kPruneEffort = 32;
constexpr int kLooksBeforeAsking = 200;

// One of so many tasks is measured: where it is submitted, and where it was handed to.
constexpr uint64_t kMeasuredHere = 16, kMeasuredElsewhere = 256;

uint64_t nanosecondsNow() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

} // namespace

TaskWindow::TaskWindow(int threads, const WindowLimits &limits, const SchedulePolicy &policy)
    : limits_(limits), inOrder_(threads <= 1 && !limits.deferAlways),
      runsShort_(threads > 1 && !limits.deferAlways),
      slots_(inOrder_ ? nullptr : std::make_unique<Slot[]>(std::max(1u, limits.tasks))),
      edges_(inOrder_ ? nullptr : std::make_unique<Edge[]>(std::max(1u, limits.edges))),
      history_(slots_ ? Completed(&slots_[0].completed, sizeof(Slot)) : Completed()),
      lanes_(static_cast<size_t>(std::max(1, threads))),
      runner_(*this, Topology::threads(threads), policy) {
  limits_.tasks = std::max(1u, limits.tasks);
  limits_.edges = std::max(1u, limits.edges);
}

TaskWindow::~TaskWindow() = default;

// --- what lanes do --------------------------------------------------------------------------

void TaskWindow::run(TaskId task, int64_t begin, int64_t end) {
  runSlot(slots_[task], begin, end, kMeasuredElsewhere);
}

/// One of `every` tasks is measured, if that is of any use.
void TaskWindow::runSlot(Slot &slot, int64_t begin, int64_t end, uint64_t every) {
  // Reading the clock for every task would cost as much as a short task.
  if (!runsShort_ || slot.isWide() || !times_.isDue(slot.body, slot.sequence, every))
    return slot.body(arguments_, slot.closure.data(), begin, end);
  uint64_t started = nanosecondsNow();
  slot.body(arguments_, slot.closure.data(), begin, end);
  times_.add(slot.body, nanosecondsNow() - started);
}

template <class OnReady> void TaskWindow::release(LaneId lane, TaskId task, OnReady onReady) {
  Slot &slot = slots_[task];
  slot.completed.store(slot.sequence, std::memory_order_release);
  // Closing the list and taking it are one step: the program's thread either links a successor
  // before it, or finds the list closed and knows that the task is complete.
  Edge *first = slot.successors.exchange(closed(), std::memory_order_acq_rel);
  Edge *last = nullptr;
  for (Edge *edge = first; edge; edge = edge->next) {
    last = edge;
    if (slots_[edge->target].waiting.fetch_sub(1, std::memory_order_acq_rel) == 1)
      onReady(edge->target);
  }
  if (last) {
    // Only the program's thread takes edges and slots back, and always all of them at once, so a
    // plain stack is safe from reuse of its head.
    last->next = returnedEdges_.load(std::memory_order_relaxed);
    while (!returnedEdges_.compare_exchange_weak(last->next, first, std::memory_order_release,
                                                 std::memory_order_relaxed))
      ;
  }
  slot.nextFree = returnedSlots_.load(std::memory_order_relaxed);
  while (!returnedSlots_.compare_exchange_weak(slot.nextFree, task, std::memory_order_release,
                                               std::memory_order_relaxed))
    ;
  // Sequential consistency on both sides: either this sees that the program waits and wakes it, or
  // the program sees this completion before it sleeps.
  lanes_[lane].completed.fetch_add(1, std::memory_order_seq_cst);
  if (programWaits_.load(std::memory_order_seq_cst))
    runner_.gate().wakeAll();
}

void TaskWindow::runLanes(int64_t chunks) {
  for (; chunks > 0; --chunks) {
    // The program runs on the thread that has called, as it may use what belongs to that thread.
    if (std::this_thread::get_id() != program_.thread || program_.isStarted) {
      LaneId lane = nextLane_.fetch_add(1, std::memory_order_relaxed);
      runner_.runUntil(lane, [this] { return isClosed_.load(std::memory_order_acquire); });
      continue;
    }
    program_.isStarted = true;
    program_.call(program_.argument);
    // Arguments of tasks may lie in the memory of the caller, so none may outlive the call.
    awaitAll();
    isClosed_.store(true, std::memory_order_seq_cst);
    runner_.gate().wakeAll();
  }
}

void TaskWindow::run(ThreadPool &pool, void (*program)(void *), void *argument, void *arguments) {
  arguments_ = arguments;
  program_ = {program, argument, std::this_thread::get_id(), false};
  nextLane_.store(1, std::memory_order_relaxed);
  isClosed_.store(false, std::memory_order_relaxed);
  auto lanes = static_cast<int64_t>(lanes_.size());
  if (lanes == 1)
    return runLanes(1);
  auto body = [](void *self, int64_t begin, int64_t end) {
    static_cast<TaskWindow *>(self)->runLanes(end - begin);
  };
  pool.run(body, this, lanes, 1, nullptr);
}

// --- what the program does ------------------------------------------------------------------

uint64_t TaskWindow::completedCount() const {
  uint64_t sum = 0;
  for (const LaneCount &lane : lanes_)
    sum += lane.completed.load(std::memory_order_seq_cst);
  return sum;
}

template <class Condition> void TaskWindow::waitUntil(Condition condition) {
  for (int looks = 0; !condition(); ++looks) {
    // Waiting is time in which tasks can be run.
    if (runner_.runOne(0)) {
      looks = 0;
      continue;
    }
    // Asking to be woken costs every lane something at each completion.
    if (looks < kLooksBeforeAsking) {
      IdleGate::relax(looks);
      continue;
    }
    programWaits_.store(true, std::memory_order_seq_cst);
    runner_.gate().waitUntil([&] { return condition() || runner_.runOne(0); });
    programWaits_.store(false, std::memory_order_relaxed);
  }
}

TaskId TaskWindow::takeSlot() {
  if (freeSlots_ == kNoTask && slotsUsed_ < limits_.tasks)
    return slotsUsed_++;
  if (freeSlots_ == kNoTask) {
    // All slots are in use, so some task can run, and running tasks here frees a slot.
    auto isReturned = [this] { return returnedSlots_.load(std::memory_order_relaxed) != kNoTask; };
    waitUntil(isReturned);
    // All returned slots are taken at once, which needs no loop.
    freeSlots_ = returnedSlots_.exchange(kNoTask, std::memory_order_acquire);
  }
  TaskId slot = freeSlots_;
  freeSlots_ = slots_[slot].nextFree;
  return slot;
}

/// Null when there is none until tasks complete.
TaskWindow::Edge *TaskWindow::takeEdge() {
  if (!freeEdges_ && edgesUsed_ < limits_.edges)
    return &edges_[edgesUsed_++];
  if (!freeEdges_)
    freeEdges_ = returnedEdges_.exchange(nullptr, std::memory_order_acquire);
  if (!freeEdges_)
    return nullptr;
  return std::exchange(freeEdges_, freeEdges_->next);
}

/// Drops predecessors that predecessors wait for themselves.
void TaskWindow::prune() {
  if (predecessors_.size() < 2)
    return;
  // By slot, the task that such a predecessor was noted for, and its own number.
  implied_.resize(limits_.tasks);
  size_t looked = 0;
  for (TaskRef predecessor : predecessors_) {
    const Slot &slot = slots_[predecessor.slot];
    for (size_t i = 0; i < slot.predecessorCount; ++i)
      // The number of this task marks entries as its own, so the table need not be cleared.
      implied_[slot.predecessors[i].slot] = {submitted_, slot.predecessors[i].sequence};
    if ((looked += slot.predecessorCount) > kPruneEffort)
      break;
  }
  if (looked != 0)
    std::erase_if(predecessors_, [&](TaskRef task) {
      return implied_[task.slot] == std::pair(submitted_, task.sequence);
    });
}

/// Makes `target` wait for `predecessor`, unless that is complete.
bool TaskWindow::link(TaskRef predecessor, TaskId target) {
  Slot &slot = slots_[predecessor.slot];
  Edge *edge = takeEdge();
  if (!edge)
    // Either an edge becomes free, or none is needed any more.
    waitUntil([&] { return isComplete(predecessor) || edge || (edge = takeEdge()); });
  if (!edge)
    return false;
  edge->target = target;
  edge->next = slot.successors.load(std::memory_order_acquire);
  while (edge->next != closed())
    if (slot.successors.compare_exchange_weak(edge->next, edge, std::memory_order_release,
                                              std::memory_order_acquire))
      return true;
  // The predecessor completed meanwhile, so the edge is not needed.
  edge->next = freeEdges_;
  freeEdges_ = edge;
  return false;
}

void TaskWindow::runNow(const TaskSpec &spec) {
  ++submitted_;
  // In order, all that is submitted is complete.
  lanes_[0].completed.store(submitted_, std::memory_order_relaxed);
  spec.body(arguments_, closure_.data(), 0, spec.points);
}

char *TaskWindow::begin(size_t closureBytes) {
  if (inOrder_)
    return closure_.resize(closureBytes);
  begun_ = takeSlot();
  return slots_[begun_].closure.resize(closureBytes);
}

/// Gives the task that was begun its number and what it does.
TaskRef TaskWindow::enter(const TaskSpec &spec) {
  Slot &slot = slots_[begun_];
  slot.sequence = ++submitted_;
  slot.kind = spec.kind;
  slot.body = spec.body;
  slot.points = spec.points;
  slot.grain = std::max<int64_t>(1, spec.grain);
  // The guard keeps the task from starting while its predecessors are still being linked.
  slot.waiting.store(kGuard, std::memory_order_relaxed);
  // An open list takes successors.
  slot.successors.store(nullptr, std::memory_order_relaxed);
  return {submitted_, begun_};
}

/// Lets it run as soon as its predecessors have, of which any may be complete.
void TaskWindow::start(TaskId task, std::span<const TaskRef> predecessors) {
  Slot &slot = slots_[task];
  slot.predecessorCount = static_cast<uint8_t>(std::min(predecessors.size(), keptPredecessors));
  std::copy_n(predecessors.begin(), slot.predecessorCount, slot.predecessors);
  // Predecessors may complete while edges are added. The counter stays above zero until the last
  // line replaces its guard by the number of edges.
  int32_t edges = 0;
  for (TaskRef predecessor : predecessors)
    edges += link(predecessor, task);
  if (slot.waiting.fetch_sub(kGuard - edges, std::memory_order_acq_rel) == kGuard - edges)
    startReady(task);
}

void TaskWindow::startReady(TaskId task) {
  const Slot &slot = slots_[task];
  if (runsShort_ && !slot.isWide() && times_.isShort(slot.body))
    runHere(task);
  else
    runner_.push(0, task);
}

/// Right after it was submitted: nobody waits for it yet.
void TaskWindow::runHere(TaskId task) {
  Slot &slot = slots_[task];
  runSlot(slot, 0, slot.points, kMeasuredHere);
  slot.completed.store(slot.sequence, std::memory_order_release);
  // A later task finds the list closed and does not wait.
  slot.successors.store(closed(), std::memory_order_relaxed);
  slot.nextFree = std::exchange(freeSlots_, task);
  std::atomic<uint64_t> &completed = lanes_[0].completed; // this thread's own
  completed.store(completed.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

uint64_t TaskWindow::submitBegun(const TaskSpec &spec, std::span<const Access> accesses) {
  if (inOrder_) {
    runNow(spec);
    return submitted_;
  }
  TaskRef task = enter(spec);
  history_.record(task, accesses, predecessors_);
  prune();
  start(task.slot, predecessors_);
  return task.sequence;
}

TaskRef TaskWindow::submitBegunAfter(const TaskSpec &spec, std::span<const TaskRef> predecessors) {
  if (inOrder_) {
    runNow(spec);
    return {submitted_, 0};
  }
  TaskRef task = enter(spec);
  predecessors_.clear();
  for (TaskRef predecessor : predecessors)
    if (!isComplete(predecessor))
      predecessors_.push_back(predecessor);
  start(task.slot, predecessors_);
  return task;
}

void TaskWindow::remember(TaskRef task, std::span<const Access> accesses) {
  if (!isComplete(task))
    history_.record(task, accesses, predecessors_);
}

void TaskWindow::await(const Access &access) {
  if (inOrder_)
    return;
  // Running tasks while waiting does not change this list, because only the program submits tasks.
  // All tasks that touch what the program wants to read have to be over, and no others.
  history_.conflicts(access, predecessors_);
  for (TaskRef task : predecessors_)
    await(task);
}

void TaskWindow::await(TaskRef task) {
  waitUntil([&] { return isComplete(task); });
}

void TaskWindow::helpUntil(bool (*condition)(void *), void *argument) {
  waitUntil([&] { return condition(argument) || completedCount() == submitted_; });
}

void TaskWindow::awaitAll() {
  waitUntil([this] { return completedCount() == submitted_; });
}

} // namespace ptl::rt
