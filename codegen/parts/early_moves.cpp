#include "codegen/parts/early_moves.h"

#include <algorithm>
#include <optional>

namespace ptl::parts {

namespace {

/// One value, or all values of a loop, a choice or the body of a `parallel` over parts.
struct Step {
  ValueId begin = 0, end = 0;
};

class Search {
public:
  Search(const PlacedProgram &placed, ValueId begin, ValueId end) : placed_(placed) {
    for (ValueId id = begin; id < end; id = steps_.back().end) {
      const PlacedLoop *loop = placed.loopAt(id);
      const PlacedChoice *choice = placed.choiceAt(id);
      const PlacedParts *parts = placed.partsAt(id);
      steps_.push_back({id, loop ? loop->end : choice ? choice->end : parts ? parts->end : id + 1});
    }
  }

  EarlyMoves run() {
    EarlyMoves moves;
    for (size_t i = 0; i < steps_.size(); ++i)
      if (std::optional<size_t> first = canBegin(i))
        moves.before[steps_[*first].begin].push_back(steps_[i].begin);
    return moves;
  }

private:
  bool isValue(const Step &step) const {
    return step.end == step.begin + 1 && !placed_.loopAt(step.begin) &&
           !placed_.choiceAt(step.begin) && !placed_.partsAt(step.begin);
  }

  /// The first step before which a movement may begin; nothing if no computing would go on beside it.
  std::optional<size_t> canBegin(size_t number) const {
    const Step &step = steps_[number];
    const PlacedValue &move = placed_.values[step.begin];
    // Where rows and pages go is known only when they are moved.
    if (!isValue(step) || move.kind != PlacedKind::Move ||
        move.movement->takes == MovementTakes::Rows || placed_.pageAt(step.begin))
      return std::nullopt;
    size_t first = 0;
    for (std::optional<ValueId> operand : move.operands)
      if (operand && *operand >= steps_.front().begin)
        first = std::max(first, stepOf(*operand) + 1);
    // What another movement brings may not be there yet when its step is over.
    if (first > 0 && placed_.values[steps_[first - 1].begin].kind == PlacedKind::Move)
      first = number;
    size_t use = number + 1;
    while (use < steps_.size() && !uses(steps_[use], step.begin))
      ++use;
    for (size_t between = first; between < use; ++between)
      if (between != number && computes(steps_[between]))
        return first;
    return std::nullopt;
  }

  size_t stepOf(ValueId id) const {
    auto after = std::ranges::upper_bound(steps_, id, {}, &Step::begin);
    return static_cast<size_t>(after - steps_.begin()) - 1;
  }
  bool computes(const Step &step) const {
    const PlacedValue &value = placed_.values[step.begin];
    return !isValue(step) || value.kind == PlacedKind::Call ||
           (value.kind == PlacedKind::Apply && !value.shape.empty());
  }
  bool uses(const Step &step, ValueId id) const {
    for (ValueId user = step.begin; user < step.end; ++user)
      if (std::ranges::find(placed_.values[user].operands, std::optional(id)) !=
          placed_.values[user].operands.end())
        return true;
    return std::ranges::any_of(placed_.loops, [&](const PlacedLoop &loop) {
      return loop.first >= step.begin && loop.end <= step.end &&
             std::ranges::find(loop.carried, id, &PlacedCarried::next) != loop.carried.end();
    });
  }

  const PlacedProgram &placed_;
  std::vector<Step> steps_;
};

} // namespace

EarlyMoves earlyMovesOf(const PlacedProgram &placed, ValueId begin, ValueId end) {
  return Search(placed, begin, end).run();
}

} // namespace ptl::parts
