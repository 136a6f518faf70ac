#include "codegen/parts/move_steps.h"
#include "runtime/movement/predict.h"

#include "codegen/parts/chunks.h"
#include "codegen/parts/known_value.h"
#include "codegen/parts/move_rows.h"
#include "codegen/parts/settle.h"
#include "frontend/base/elem_type.h"

#include <algorithm>

namespace ptl::parts {

using movement::StepList;

/// Below this a movement is not cut, and no more chunks are tried than these (`codegen/parts/run_parts.h` has what ranks do).
constexpr int64_t kLeastChunkBytes = 64 << 10;
constexpr int64_t kMostChunks = 16;
/// Chunks that are predicted to gain less are not worth their messages.
constexpr double kSurelyLess = 0.98;

/// A number of the range that a part has in the body of a `parallel` over parts: the first part, which no other exceeds, stands for all.
static std::optional<int64_t> ofFirstRange(const TimeQuestion &question, const LoopNumbers &loops,
                                           SymbolId symbol) {
  for (const PlacedParts &parts : question.placed.parts) {
    if (symbol == parts.start || symbol == parts.number)
      return 0;
    if (symbol == parts.extent)
      return movement::blockOf(numberOf(question, loops, parts.length),
                               question.grid.count(parts.level), 0)
          .length();
  }
  return std::nullopt;
}

int64_t numberOf(const TimeQuestion &question, const LoopNumbers &loops, Dim dim) {
  auto found = evaluate(dim, [&](SymbolId symbol) -> std::optional<int64_t> {
    if (auto number = loops.find(symbol); number != loops.end())
      return number->second;
    std::optional<int64_t> own = ofFirstRange(question, loops, symbol);
    return own ? own : question.size(symbol);
  });
  return found.value_or(0);
}

static std::vector<int64_t> shapeOf(const TimeQuestion &question, const LoopNumbers &loops,
                                    const PlacedValue &value) {
  std::vector<int64_t> shape;
  for (Dim dim : value.shape)
    shape.push_back(numberOf(question, loops, dim));
  return shape;
}
std::vector<int64_t> shapeOf(const TimeQuestion &question, const LoopNumbers &loops, ValueId id) {
  return shapeOf(question, loops, question.placed.values[id]);
}

namespace {

/// Chooses the steps of one movement, once for each distinct request.
class StepsMaker {
public:
  StepsMaker(const TimeQuestion &question, int64_t elementBytes, double start, MoveTime &time)
      : question_(question), elementBytes_(elementBytes), start_(start), time_(time) {}

  StepList operator()(const movement::Request &request, const std::vector<uint32_t> &parts) {
    // Groups of parts with equal requests share their steps, which are costly to choose.
    for (const auto &[known, list] : made_)
      if (isSame(known, request))
        return list;
    std::vector<uint32_t> chips;
    for (uint32_t part : parts)
      chips.push_back(question_.chips[part]);
    movement::ChosenSteps chosen =
        movement::chooseSteps(request, elementBytes_, question_.fabric, chips, start_);
    // The movement takes as long as its slowest group.
    if (chosen.seconds > time_.alone || made_.empty()) {
      time_.alone = chosen.seconds;
      time_.algorithm = chosen.list.algorithm;
      time_.limit = chosen.limit;
      time_.limitShare = chosen.limitShare;
    }
    time_.sentBytes =
        std::max(time_.sentBytes, movement::mostElementsSent(chosen.list) * elementBytes_);
    made_.emplace_back(request, chosen.list);
    return std::move(chosen.list);
  }

private:
  /// Compares requests only: the groups of one movement have chips in the same relative places.
  static bool isSame(const movement::Request &a, const movement::Request &b) {
    return a.kind == b.kind && a.shape == b.shape && a.ranks == b.ranks &&
           a.fromAxis == b.fromAxis && a.toAxis == b.toAxis && a.root == b.root &&
           a.sources == b.sources && a.results == b.results && a.counts == b.counts;
  }

  const TimeQuestion &question_;
  int64_t elementBytes_;
  double start_;
  MoveTime &time_;
  std::vector<std::pair<movement::Request, StepList>> made_;
};

/// Seconds that pass before a movement of the program begins: those of the slowest level it
/// crosses.
double startOf(const TimeQuestion &question, const PlacedValue &value) {
  double start = 0;
  const std::vector<PlacedLevel> &levels = question.placed.levels;
  for (size_t i = 0; i < levels.size(); ++i)
    for (const movement::FabricLevel &level : question.fabric.levels)
      if (level.name == levels[i].machineLevel &&
          (i == value.level || value.movement->takes == MovementTakes::Axes ||
           std::ranges::find(value.over, i) != value.over.end()))
        start = std::max(start, level.start);
  return start;
}

/// The number of parts that exchange data with each other.
uint64_t ranksOf(const TimeQuestion &question, const PlacedValue &value) {
  if (value.movement->takes == MovementTakes::Axes)
    return question.grid.count();
  if (value.over.empty())
    return question.grid.count(value.level);
  uint64_t ranks = 1;
  for (size_t level : value.over)
    ranks *= question.grid.count(level);
  return ranks;
}

/// By how many positions a shift moves. If data give it, it counts as the length of a block: then each part sends all that it has.
int64_t distanceOf(const TimeQuestion &question, const LoopNumbers &loops,
                   const PlacedValue &value) {
  LoopNumbers known = loops;
  for (size_t i = 1; i < value.operands.size(); ++i) {
    const PlacedValue &number = question.placed.values[*value.operands[i]];
    std::optional<int64_t> found = knownNumber(question, loops, *value.operands[i]);
    if (!found) {
      movement::Box block =
          question.grid.boxOf(value.placement, shapeOf(question, loops, value), 0);
      return block[block.size() - static_cast<size_t>(-value.placement[value.level].axis)].length();
    }
    forEachSymbol(number.dim, [&](SymbolId symbol) { known[symbol] = *found; });
  }
  return numberOf(question, known, value.dim);
}

} // namespace

const MoveSteps *StepsOfMoves::of(ValueId id, const LoopNumbers &loops, std::string &why) {
  const PlacedValue &value = question_.placed.values[id];
  uint64_t ranks = ranksOf(question_, value);
  // Every rank may send to every other one, so this bounds the number of messages before any
  // steps are made.
  if (ranks * question_.grid.count() > mostMessages_) {
    why = "`" + std::string(value.movement->name) + "` among " + std::to_string(ranks) +
          " parts has more than " + std::to_string(mostMessages_) + " messages";
    return nullptr;
  }
  std::vector<std::vector<int64_t>> shapes = {shapeOf(question_, loops, id)};
  for (std::optional<ValueId> operand : value.operands)
    shapes.push_back(operand ? shapeOf(question_, loops, *operand) : std::vector<int64_t>());
  if (value.movement->takes == MovementTakes::Distance)
    shapes.push_back({distanceOf(question_, loops, value)});
  // Data that goes from stage to stage goes between other parts in each round.
  shapes.push_back({value.placement[value.level].part,
                    question_.placed.values[*value.operands[0]].placement[value.level].part});
  auto [found, isNew] = made_.emplace(std::pair(id, std::move(shapes)), MoveSteps());
  if (isNew)
    make(id, loops, found->second);
  return &found->second;
}

std::vector<MoveGroup> StepsOfMoves::kept(std::vector<GroupMove> groups, MoveSteps &steps) {
  std::vector<MoveGroup> kept;
  for (GroupMove &group : groups) {
    steps.messages += static_cast<uint64_t>(movement::messagesOf(group.list));
    kept.push_back({std::move(group.parts), &lists_.emplace_back(std::move(group.list))});
  }
  return kept;
}

/// The steps of each chunk, and what the one takes that takes longest; none if the movement cannot be cut so.
StepsOfMoves::ChunkGroups StepsOfMoves::chunksOfGroups(const PlacedValue &value,
                                                       const std::vector<GroupMove> &groups,
                                                       size_t axis, int64_t wanted,
                                                       double &seconds) {
  int64_t bytes = elemInfo(value.elem).storageBytes;
  MoveTime ofChunk;
  StepsMaker maker(question_, bytes, startOf(question_, value), ofChunk);
  ChunkGroups chunks;
  for (const GroupMove &group : groups) {
    // Units of blocks are an axis of their own in the list.
    if (group.list.request.shape.size() != value.shape.size())
      return {};
    std::vector<Chunk> pieces =
        chunksOf(group.list.request, axis, static_cast<size_t>(bytes), 1, wanted);
    chunks.resize(std::max(chunks.size(), pieces.size()));
    for (size_t i = 0; i < pieces.size(); ++i) {
      movement::Request request = group.list.request;
      request.shape[axis] = lengthOf(pieces[i]);
      chunks[i].push_back({group.parts, maker(request, group.parts)});
    }
  }
  seconds = ofChunk.alone;
  return chunks;
}

/// What a product takes together with a movement that goes in so many chunks of so many seconds, one of them beside the other.
static double together(double product, double chunk, int64_t count) {
  double piece = product / static_cast<double>(count);
  return static_cast<double>(count - 1) * std::max(piece, chunk) + piece + chunk;
}

/// Cuts a movement beside a product into as many chunks as the schedule says, or as take least.
void StepsOfMoves::cut(const ChunkedPair &pair, const std::vector<GroupMove> &groups,
                       MoveSteps &steps) {
  const PlacedValue &value = question_.placed.values[pair.move];
  size_t axis = value.shape.size() - static_cast<size_t>(-pair.axis);
  ChunkGroups best;
  if (value.chunks > 1) {
    double seconds = 0;
    best = chunksOfGroups(value, groups, axis, value.chunks, seconds);
  } else if (value.chunks == 0 && product_ && steps.time.sentBytes >= kLeastChunkBytes) {
    double product = product_(pair);
    double least = together(product, steps.time.alone, 1) * kSurelyLess;
    for (int64_t count = 2; count <= kMostChunks && product > 0; count *= 2) {
      double seconds = 0;
      ChunkGroups chunks = chunksOfGroups(value, groups, axis, count, seconds);
      double now = together(product, seconds, std::ssize(chunks));
      if (!chunks.empty() && now < least) {
        least = now;
        best = std::move(chunks);
      }
    }
  }
  for (std::vector<GroupMove> &chunk : best)
    steps.chunks.push_back(kept(std::move(chunk), steps));
  steps.time.chunks = std::max<int64_t>(std::ssize(steps.chunks), 1);
}

void StepsOfMoves::make(ValueId id, const LoopNumbers &loops, MoveSteps &steps) {
  const PlacedValue &value = question_.placed.values[id];
  steps.time.value = id;
  steps.start = startOf(question_, value);
  StepsMaker maker(question_, elemInfo(value.elem).storageBytes, steps.start, steps.time);
  StepsFor stepsFor = [&](const movement::Request &request, const std::vector<uint32_t> &group) {
    return maker(request, group);
  };
  // The steps of all movements but those of rows follow from the shapes. How many rows go where
  // depends on data, for which an even distribution stands in.
  if (value.movement->takes != MovementTakes::Rows) {
    std::vector<GroupMove> groups =
        groupsOf(question_.grid, value, question_.placed.values[*value.operands[0]].placement,
                 shapeOf(question_, loops, id), stepsFor,
                 value.dim ? distanceOf(question_, loops, value) : 0);
    if (auto pair = std::ranges::find(pairs_, id, &ChunkedPair::move); pair != pairs_.end())
      cut(*pair, groups, steps);
    if (steps.chunks.empty())
      steps.groups = kept(std::move(groups), steps);
    // Nothing is sent if the next stage runs on the same part.
    if (value.movement->id == MovementId::Send && steps.messages == 0)
      steps.start = steps.time.alone = 0;
    return;
  }
  MoveTime counting;
  StepsMaker countsMaker(question_, kRowCountBytes, steps.start, counting);
  EvenRows even = evenRowsOf(
      question_.grid, question_.placed, id,
      [&](const PlacedValue &of) { return shapeOf(question_, loops, of); },
      [&](const movement::Request &request, const std::vector<uint32_t> &group) {
        return countsMaker(request, group);
      },
      stepsFor);
  steps.time.alone += counting.alone;
  steps.time.sentBytes += counting.sentBytes;
  steps.counts = kept(std::move(even.counts), steps);
  steps.groups = kept(std::move(even.rows), steps);
}

std::optional<MoveTime> timeOfMove(const TimeQuestion &question, ValueId move,
                                   uint64_t mostMessages, std::string &why) {
  LoopNumbers first;
  // Bounds of inner loops may use variables of outer ones, which come later in the list.
  for (auto loop = question.placed.loops.rbegin(); loop != question.placed.loops.rend(); ++loop)
    if (move >= loop->first && move < loop->end && loop->stmt)
      first[loop->variable] = numberOf(question, first, loop->lo);
  PlacedProgram placed = question.placed;
  settle(placed, 0, static_cast<ValueId>(placed.values.size()), question.grid,
         [&](SymbolId symbol) -> std::optional<int64_t> {
           if (auto known = first.find(symbol); known != first.end())
             return known->second;
           // Behind a loop over stages the part of its last stage holds the value.
           for (const PlacedLoop &loop : placed.loops)
             if (loop.stmt && loop.variable == symbol && loop.end <= move)
               return numberOf(question, first, loop.hi) - 1;
           return question.size(symbol);
         });
  TimeQuestion settled = question.about(placed);
  const MoveSteps *steps = StepsOfMoves(settled, mostMessages).of(move, first, why);
  return steps ? std::optional(steps->time) : std::nullopt;
}

} // namespace ptl::parts
