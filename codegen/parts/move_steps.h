// The steps of the movements of a program, for its time: of the algorithm that takes the least time alone on the fabric.
#pragma once

#include "codegen/parts/time_parts.h"

#include <deque>

namespace ptl::parts {

/// The value of a dimension; `loops` are the variables of the loops around it.
int64_t numberOf(const TimeQuestion &question, const LoopNumbers &loops, Dim dim);
std::vector<int64_t> shapeOf(const TimeQuestion &question, const LoopNumbers &loops, ValueId id);

/// Steps of some parts.
struct MoveGroup {
  std::vector<uint32_t> parts;
  const movement::StepList *list = nullptr;
};

/// A movement of given shapes, all groups together: first, of rows, the steps that tell how many there are.
struct MoveSteps {
  std::vector<MoveGroup> counts, groups;
  MoveTime time; ///< alone
  double start = 0;
  uint64_t messages = 0;
};

/// Makes the steps of each movement once for its shapes.
class StepsOfMoves {
public:
  explicit StepsOfMoves(const TimeQuestion &question, uint64_t mostMessages)
      : question_(question), mostMessages_(mostMessages) {}

  /// Null, and the reason, where it has too many messages. The variables of loops have the numbers of `loops`.
  const MoveSteps *of(ValueId move, const LoopNumbers &loops, std::string &why);

private:
  std::vector<MoveGroup> kept(std::vector<GroupMove> groups, MoveSteps &steps);
  void make(ValueId move, const LoopNumbers &loops, MoveSteps &steps);

  const TimeQuestion &question_;
  uint64_t mostMessages_;
  std::map<std::pair<ValueId, std::vector<std::vector<int64_t>>>, MoveSteps> made_;
  std::deque<movement::StepList> lists_;
};

} // namespace ptl::parts
