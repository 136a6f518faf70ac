// Builds the tasks of a program on parts for its time: loops and choices (`time_parts.cpp`), and what is computed and moved in them
// (`time_tasks.cpp`).
#pragma once

#include "codegen/parts/move_steps.h"
#include "codegen/parts/settle.h"

namespace ptl::parts {

class PartsTimer {
public:
  PartsTimer(const TimeQuestion &question, int64_t mostInLoops, std::string &why)
      : asked_(question.placed), question_(question.about(asked_)), placed_(asked_),
        grid_(question.grid), mostInLoops_(mostInLoops), why_(why),
        steps_(question_, kMostMessages,
               [this](const ChunkedPair &pair) { return productSeconds(pair); }),
        tasks_(question_.chips),
        ready_(placed_.values.size(), std::vector<std::vector<uint32_t>>(grid_.count())),
        bytes_(placed_.values.size()), timesOfMoves_(placed_.values.size()),
        goesRound_(placed_.loops.size()) {}

  std::optional<PartsTime> run() {
    settle(0, static_cast<ValueId>(placed_.values.size()));
    stretches_ = stretchesOf(placed_);
    isUsed_ = usedValues(placed_);
    for (size_t i = 0; i < stretches_.size(); ++i)
      for (ValueId id : stretches_[i].own)
        home_[id] = i;
    isComputed_.resize(stretches_.size());
    stretchTimes_.resize(stretches_.size());
    if (!walk(0, static_cast<ValueId>(placed_.values.size()), std::nullopt))
      return std::nullopt;
    finish();
    return std::move(time_);
  }

private:
  /// Sets the parts of stages, as far as the variables of the loops around are known.
  void settle(ValueId begin, ValueId end) {
    parts::settle(asked_, begin, end, grid_, [this](SymbolId symbol) {
      auto variable = variables_.find(symbol);
      return variable == variables_.end() ? question_.size(symbol)
                                          : std::optional(variable->second);
    });
  }
  // Loops and choices.
  bool walk(ValueId begin, ValueId end, std::optional<ValueId> region);
  void forget(ValueId begin, ValueId end, ValueId region);
  bool choose(const PlacedChoice &choice);
  bool repeat(const PlacedLoop &loop);
  bool goRound(const PlacedLoop &loop);
  std::optional<int64_t> roundsOf(const PlacedLoop &loop);
  std::optional<int64_t> untilLeft(const PlacedLoop &loop, int64_t rounds);
  std::optional<int64_t> mostRounds(const PlacedLoop &loop, int64_t rounds);
  std::optional<int64_t> effortOf(const PlacedLoop &loop, const LoopNumbers &around);
  // Tasks.
  bool hasItsPart(ValueId id);
  const std::vector<std::vector<uint32_t>> &ready(ValueId id);
  void compute(size_t number);
  const ChunkedPair *pairIn(const Stretch &stretch, bool isOperand);
  double secondsOf(const Stretch &stretch, uint32_t part, std::string &source);
  size_t chunkCount(const ChunkedPair &pair);
  double productSeconds(const ChunkedPair &pair);
  double productSeconds(const ChunkedPair &pair, uint32_t part);
  bool move(ValueId id);
  void readPage(ValueId id);
  bool settleHome(ValueId id);
  void carryOut(ValueId id, const std::vector<MoveGroup> &groups, int64_t bytes, double start,
                size_t number);
  // The answer.
  void countBytes(ValueId id);
  void finish();
  void findSaving();
  double secondsWithout(size_t move) const;

  int64_t number(Dim dim) const { return numberOf(question_, variables_, dim); }
  std::vector<int64_t> extents(ValueId id, uint32_t part) const {
    std::vector<int64_t> extents;
    for (const movement::Interval &axis :
         grid_.boxOf(placed_.values[id].placement, shapeOf(question_, variables_, id), part))
      extents.push_back(axis.length());
    return extents;
  }
  size_t numberOfLoop(const PlacedLoop &loop) const {
    return static_cast<size_t>(&loop - placed_.loops.data());
  }

  PlacedProgram asked_; ///< with the parts of the stages in this round
  TimeQuestion question_;
  const PlacedProgram &placed_;
  const Grid &grid_;
  int64_t mostInLoops_;
  std::string &why_;
  StepsOfMoves steps_;
  PartTasks tasks_;
  PartsTime time_;
  std::vector<Stretch> stretches_;
  std::map<ValueId, size_t> home_;
  std::vector<bool> isComputed_;                          ///< per stretch, in this round
  std::vector<std::vector<std::vector<uint32_t>>> ready_; ///< per value, per part: the tasks before
  std::map<std::string, double> seconds_;                 ///< by source
  std::vector<ChunkedPair> pairs_ = chunkedPairsOf(placed_);
  /// Of movements that go by chunks, and of products whose results do: per chunk and part, the tasks before what needs that chunk.
  std::map<ValueId, std::vector<std::vector<std::vector<uint32_t>>>> chunks_;
  std::vector<movement::TimedMove> moves_;
  std::vector<size_t> moveOf_; ///< per group
  // Where the walk is.
  LoopNumbers variables_;
  double stands_ = 1; ///< how many simulated or left-out rounds a task stands for
  size_t depth_ = 0;  ///< of loops
  // What has been seen.
  std::vector<bool> isUsed_;   ///< per value
  std::vector<int64_t> bytes_; ///< per value
  std::map<ValueId, size_t> moveTimes_;
  std::vector<std::optional<size_t>> stretchTimes_;
  std::vector<double> timesOfMoves_, timesOfStretches_, roundsOfLoops_;
  std::map<const PlacedLoop *, size_t> loopTimes_;
  std::map<const PlacedLoop *, int64_t> mostRounds_;
  std::vector<bool> goesRound_; ///< per loop: more than once
  /// The loop with checkpoints, and its tasks.
  struct {
    const PlacedLoop *loop = nullptr;
    int64_t rounds = 0;
    size_t begin = 0, end = 0;
  } saved_;
  double messages_ = 0;
};

} // namespace ptl::parts
