// Simulates one core: a scalar unit that runs ahead, and the queues of its pipes.
#pragma once

#include "runtime/sim/execution.h"
#include "runtime/sim/held_writes.h"
#include "runtime/sim/issue_queue.h"
#include "runtime/sim/run.h"
#include "runtime/sim/sampling.h"

#include <deque>
#include <optional>
#include <random>
#include <utility>

namespace ptl::rt::sim {

class Group;

/// The number of events between cores that can be named.
inline constexpr size_t kMaxCrossFlags = 32;

/// The counters of one queue, one of each kind for every core.
struct QueueState {
  static constexpr size_t maxCores = 4;
  int64_t pushed[maxCores] = {}, popped[maxCores] = {}, freed[maxCores] = {};
};

class Core {
public:
  Core(Group &group, const Function &function, int32_t index, int32_t subBlock);

  /// Runs to the first operation that a pipe or an event decides. False after an error.
  bool begin() { return runToIssue(); }

  enum class State : uint8_t { Idle, Ready, Waiting };
  State state(Pipe pipe) const;
  /// Lets a pipe that is ready take its next step. False after an error, which the group then
  /// reports.
  bool advance(Pipe pipe);

  // The next functions are for drivers that keep time (`time/`), which take operations from the
  // pipes themselves.

  /// The operation that a pipe takes next; null if its queue is empty.
  const Issued *head(Pipe pipe) const {
    const PipeState &state = pipes_[static_cast<size_t>(pipe)];
    return state.queue.empty() ? nullptr : &state.queue.front();
  }
  /// Whether the head of a pipe may begin as soon as its time has come.
  bool canStart(Pipe pipe) const {
    return headReady(pipes_[static_cast<size_t>(pipe)].queue.front());
  }
  /// `startHead` executes the head, and `endHead` removes it from the pipe. Both return false after
  /// an error.
  bool startHead(Pipe pipe) { return run(pipe, pipes_[static_cast<size_t>(pipe)].queue.front()); }
  bool endHead(Pipe pipe) { return complete(pipe); }
  /// The step that the scalar unit executes next.
  const Step &nextStep() const { return current(); }
  const Function &function() const { return function_; }
  /// The number of operations so far that take time on the scalar unit.
  uint64_t scalarWork() const { return scalarWork_; }
  /// The number of rounds of loops that were left out.
  int64_t skippedRounds() const { return sampler_ ? sampler_->skipped() : 0; }
  /// The number of rounds of outermost loops that the core has reached, whether they were executed
  /// or left out.
  int64_t outermostRounds() const { return sampler_ ? sampler_->outermost() : 0; }
  /// The round of its outermost loop in which it is, counted from 0.
  int64_t outermostRound() const { return sampler_ ? sampler_->outermostRound() : 0; }
  /// What a round of each loop takes, by the loop's step; null if loops are not sampled.
  const std::map<size_t, double> *rounds() const {
    return sampler_ ? &sampler_->rounds() : nullptr;
  }
  /// Takes the marks of rounds that the scalar unit has put into its pipes since the last call.
  std::vector<SampleAction> takeMarks() { return std::exchange(marks_, {}); }
  /// The pipes, as bits, that get marks of a loop.
  uint32_t markedPipes(const Step &loop) const { return sampler_->shapeOf(loop, function_).pipes; }
  /// Notes that a pipe has reached its head, which is a mark.
  void passMark(Pipe pipe, LoopRun::Passage passage) {
    sampler_->pass(head(pipe)->mark, pipe, passage);
  }
  /// Sets the time and the note that operations carry which are issued from now on.
  void setClock(double time, uint32_t note) {
    clock_ = time;
    note_ = note;
  }

  bool isFinished() const;
  /// Checks the conditions that hold at the end of a kernel.
  bool finish();
  bool isCube() const { return function_.cube; }
  /// The event of a step, whose number may be in a register.
  Flag flagOf(const Step &step) const;
  int32_t index() const { return index_; }
  int32_t subBlock() const { return subBlock_; }
  CoreMemory &memory() { return memory_; }
  /// Whether the core will never take part in a queue: it is done and has not used it.
  bool neverTakesPart(size_t queue) const;
  /// How often the core has waited for an event between cores.
  int64_t awaited(int32_t event) const { return awaited_[static_cast<size_t>(event)]; }
  /// One sentence for each pipe that waits.
  std::string describeWaits() const;
  std::string name() const;

private:
  struct PipeState {
    IssueQueue queue;
    std::optional<HeldWrites> inFlight;
    uint64_t issued = 0, done = 0;
    size_t marks = 0; ///< in the queue: they take no room
  };
  /// What an instruction of the vector pipe wrote. It is held back until a barrier, because later
  /// vector instructions need not see it before; other pipes see it once an event has been set.
  struct VectorWrites {
    HeldWrites writes;
    uint64_t number;
    bool published;
  };
  struct QueueEnd {
    int64_t localAddress = 0;
    View global;
    int64_t pushes = 0, pops = 0, frees = 0;
  };

  // The scalar unit (core_scalar.cpp)
  const Step &current() const { return function_.steps[static_cast<size_t>(position_)]; }
  bool runToIssue();
  bool runPlain(const Step &step);
  bool runCompute(const Step &step);
  void sample(const Step &step);
  void mark(const Step &step, const SampleAction &action);
  void goOn(const Step &step, const SampleAction &action);
  bool makeView(const Step &step);
  bool partitionView(const Step &step);
  bool makeTile(const Step &step);
  bool window(const Step &step, Tile &tile);
  bool alias(const Step &step, Tile &tile);
  void setValid(const Step &step, Tile &tile);
  bool isCheckOfUnknown(const Step &step) const;
  bool accessScalar(const Step &step);
  bool getValue(const Step &step);
  Scalar &scalar(Register r) { return scalars_[static_cast<size_t>(r.index)]; }
  const Scalar &scalar(Register r) const { return scalars_[static_cast<size_t>(r.index)]; }
  Tile &tile(Register r) { return tiles_[static_cast<size_t>(r.index)]; }
  View &view(Register r) { return views_[static_cast<size_t>(r.index)]; }
  /// An address, a length or a position. A value that is not known stops the core, because what it
  /// does next depends on it.
  int64_t integer(const Step &step, size_t operand) const {
    const Scalar &value = scalar(step.operands[operand]);
    if (!value.isKnown)
      needed_ = &value;
    return value.i;
  }
  /// A position in global memory. A position that depends on data that is not there counts as 0,
  /// and the view notes that it lies somewhere.
  int64_t position(const Step &step, size_t operand, View &view) const {
    const Scalar &value = scalar(step.operands[operand]);
    view.isSomewhere |= !value.isKnown;
    return value.isKnown ? value.i : 0;
  }
  /// Whether all values that the step has used are known; if one is not, the core fails.
  bool wasKnown(const Step &step);

  // The pipes (core_pipe.cpp)
  State scalarState() const;
  bool isGlance() const;
  bool headReady(const Issued &head) const;
  bool advanceScalar();
  bool issue(const Step &step);
  bool issueQueue(const Step &step, Issued &issued);
  void fill(Issued &issued, const Step &step);
  Issued makeIssued(const Step &step) {
    Issued issued;
    fill(issued, step);
    return issued;
  }
  bool run(Pipe pipe, Issued &issued);
  bool complete(Pipe pipe);
  bool setFlag(Pipe pipe, const Issued &issued);
  void takeFlag(Pipe pipe, const Issued &issued);
  bool runInstruction(Issued &issued, HeldWrites *held);
  bool holds(Pipe pipe, const Issued &issued) const;
  bool delaysVector() const;
  void reorderVector();
  void publish();
  void settle();
  void settleUpTo(uint64_t number);
  void settleFrees();
  bool drained() const;
  uint8_t &flag(const Flag &flag) {
    return flags_[static_cast<size_t>(flag.source)][static_cast<size_t>(flag.target)]
                 [static_cast<size_t>(flag.id)];
  }
  bool isSet(const Flag &flag) const { return const_cast<Core *>(this)->flag(flag) > 0; }
  bool checkFlag(const Issued &issued);
  bool crossReady(int32_t event, int64_t number) const;
  bool signalCores(Pipe pipe, const Issued &issued);
  void takeSignal(Pipe pipe, const Issued &issued);
  void report(Pipe pipe, const Issued &issued);
  bool fail(const Issued &issued, const std::string &message);
  bool failAt(const Step &step, const std::string &message);
  bool failAt(const Step &step, const std::string &what, const std::string &message);
  bool stop(const Step &step);

  // The queues between cores (core_queue.cpp)
  bool pushReady(const Issued &issued) const;
  bool popReady(const Issued &issued) const;
  bool runPush(Execution &x, const Issued &issued, HeldWrites *held);
  bool pushThroughGlobal(Execution &x, const Issued &issued, const Plane &from, HeldWrites *held);
  bool pushToTile(Execution &x, const Plane &from, Tile to, int64_t row, int64_t col,
                  HeldWrites *held);
  bool pushDirect(Execution &x, const Issued &issued, const Plane &from, HeldWrites *held);
  bool runPop(Execution &x, const Issued &issued, HeldWrites *held);
  bool slotView(const Issued &issued, const Tile &tile, View &slot) const;
  int64_t slotDistance(const Queue &queue) const;
  const Queue &queueOf(const Step &step) const;

  Group &group_;
  const Function &function_;
  int32_t index_, subBlock_;
  CoreMemory memory_;
  std::vector<Scalar> scalars_;
  std::vector<Tile> tiles_;
  std::vector<View> views_;
  int32_t position_ = 0;
  PipeState pipes_[kNumPipes];
  uint8_t flags_[kNumPipes][kNumPipes][16] = {}; ///< how often set: once, unless events are counted
  std::vector<VectorWrites> unsettled_;
  uint64_t vectorWrites_ = 0;
  uint64_t known_[kNumPipes] = {}; ///< vector instructions that a pipe comes after
  uint64_t knownAtFlag_[kNumPipes][kNumPipes][16] = {}; ///< the same of who set an event
  /// For each event between cores: the waits that were issued, the waits that are over, and the
  /// signals.
  int64_t crossIssued_[kMaxCrossFlags] = {}, awaited_[kMaxCrossFlags] = {},
          sent_[kMaxCrossFlags] = {};
  std::vector<QueueEnd> ends_;
  std::deque<Issued> frees_; ///< that wait for pipes
  uint64_t sequence_ = 0;
  uint64_t scalarWork_ = 0;
  mutable const Scalar *needed_ = nullptr; ///< but not known
  std::optional<LoopSampler> sampler_;
  std::map<size_t, std::vector<std::vector<int64_t>>> carried_; ///< by loop and round
  std::vector<SampleAction> marks_;
  double clock_ = 0;
  uint32_t note_ = 0;
};

} // namespace ptl::rt::sim
