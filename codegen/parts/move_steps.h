// The steps of a program's movements, for estimates of its time: those of the algorithm that is
// fastest when it has the fabric for itself.
#pragma once

#include "codegen/parts/time_parts.h"
#include "frontend/sema/placement/chunked_pairs.h"

#include <deque>
#include <functional>

namespace ptl::parts {

/// The value of a dimension; `loops` has the variables of enclosing loops.
int64_t numberOf(const TimeQuestion &question, const LoopNumbers &loops, Dim dim);
std::vector<int64_t> shapeOf(const TimeQuestion &question, const LoopNumbers &loops, ValueId id);

/// The steps of one group of parts.
struct MoveGroup {
  std::vector<uint32_t> parts;
  const movement::StepList *list = nullptr;
};

/// A movement of given shapes, all groups together. For movements of rows, the steps that exchange
/// the counts come first.
struct MoveSteps {
  std::vector<MoveGroup> counts, groups;
  /// Of a movement that goes by chunks beside a product: the groups of each chunk, one after the other, instead of `groups`.
  std::vector<std::vector<MoveGroup>> chunks;
  MoveTime time; ///< with the fabric for itself
  double start = 0;
  uint64_t messages = 0;
};

/// The seconds that the product of a pair takes on the part that takes longest.
using ProductSeconds = std::function<double(const ChunkedPair &pair)>;

/// Makes the steps of each movement once per set of shapes.
class StepsOfMoves {
public:
  /// With `product` a movement beside a product goes in as many chunks as both then take least, if no schedule says how many; without it as a whole.
  explicit StepsOfMoves(const TimeQuestion &question, uint64_t mostMessages,
                        ProductSeconds product = {})
      : question_(question), mostMessages_(mostMessages), product_(std::move(product)),
        pairs_(chunkedPairsOf(question.placed)) {}

  /// The steps of a movement. Null, with the reason in `why`, if it has too many messages. `loops`
  /// has the values of loop variables.
  const MoveSteps *of(ValueId move, const LoopNumbers &loops, std::string &why);

private:
  std::vector<MoveGroup> kept(std::vector<GroupMove> groups, MoveSteps &steps);
  void make(ValueId move, const LoopNumbers &loops, MoveSteps &steps);
  using ChunkGroups = std::vector<std::vector<GroupMove>>;
  ChunkGroups chunksOfGroups(const PlacedValue &value, const std::vector<GroupMove> &groups,
                             size_t axis, int64_t wanted, double &seconds);
  void cut(const ChunkedPair &pair, const std::vector<GroupMove> &groups, MoveSteps &steps);

  const TimeQuestion &question_;
  uint64_t mostMessages_;
  ProductSeconds product_;
  std::vector<ChunkedPair> pairs_;
  std::map<std::pair<ValueId, std::vector<std::vector<int64_t>>>, MoveSteps> made_;
  std::deque<movement::StepList> lists_;
};

} // namespace ptl::parts
