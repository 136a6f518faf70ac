#include "codegen/parts/round_plan.h"

#include <numeric>

namespace ptl::parts {

/// Up to this many rounds all are simulated: for rounds that are alike, and for others.
static constexpr int64_t kFewLike = 24, kFewOther = 32;
/// Of more rounds this many are simulated; `kFewest` if the effort allows fewer than `kSome`.
static constexpr int64_t kUsual = 14, kFewest = 8, kSome = 4;
/// Further rounds would not change the estimate of the rounds left out.
static constexpr int64_t kMostRounds = 64;
/// The last rounds of a loop whose rounds are alike: no round follows that could overlap with them.
static constexpr int64_t kLastRounds = 2;
/// Parts that wait for each other may alternate; after this many rounds they often are in the same
/// state.
static constexpr int64_t kPeriod = 6;
static constexpr int64_t kWindow = 4, kWindowPace = 2, kFewestWindows = 4;

/// Whether the computation of a value uses the round number of its loop.
static bool usesRound(const PlacedProgram &placed, const PlacedLoop &loop, ValueId of) {
  auto depends = [&](Dim dim) { return dim && dim.mentions(loop.variable); };
  std::vector<bool> isUsed(of + 1);
  isUsed[of] = true;
  // Operands have lower numbers than what uses them, so one pass backwards finds all of them.
  for (ValueId id = of + 1; id-- > loop.body();) {
    if (!isUsed[id])
      continue;
    const PlacedValue &value = placed.values[id];
    if (depends(value.dim) || std::ranges::any_of(value.lengths, depends) ||
        std::ranges::any_of(value.positions, [&](auto &each) { return depends(each.second); }) ||
        std::ranges::any_of(value.selected, [&](const PlacedSelection &each) {
          return depends(each.start) || depends(each.length) || depends(each.step);
        }))
      return true;
    for (std::optional<ValueId> operand : value.operands)
      if (operand)
        isUsed[*operand] = true;
  }
  return false;
}

bool choosesByRound(const PlacedProgram &placed, const PlacedLoop &loop) {
  return std::ranges::any_of(placed.choices, [&](const PlacedChoice &choice) {
    bool isInside = choice.first >= loop.body() && choice.end <= loop.end;
    return isInside && usesRound(placed, loop, choice.holds);
  });
}

bool hasChoices(const PlacedProgram &placed, const PlacedLoop &loop) {
  return std::ranges::any_of(placed.choices, [&](const PlacedChoice &choice) {
    return choice.first >= loop.body() && choice.end <= loop.end;
  });
}

/// Whether a number follows from sizes and loop variables: estimates take one from data for the same in all rounds.
static bool isOfSizes(const PlacedProgram &placed, ValueId id) {
  const PlacedValue &value = placed.values[id];
  return value.shape.empty() && std::ranges::all_of(value.operands, [&](auto operand) {
           return !operand || isOfSizes(placed, *operand);
         });
}

bool shiftsByRound(const PlacedProgram &placed, const PlacedLoop &loop) {
  auto dependsOnRound = [&](const PlacedValue &value) {
    // The numbers in the distance are the operands behind the array.
    return value.dim.mentions(loop.variable) ||
           std::any_of(value.operands.begin() + 1, value.operands.end(), [&](auto number) {
             return isOfSizes(placed, *number) && usesRound(placed, loop, *number);
           });
  };
  return std::any_of(placed.values.begin() + loop.body(), placed.values.begin() + loop.end,
                     [&](const PlacedValue &value) {
                       return value.kind == PlacedKind::Move && value.dim && dependsOnRound(value);
                     });
}

bool hasLikeRounds(const PlacedProgram &placed, const PlacedLoop &loop) {
  auto depends = [&](Dim dim) { return dim && dim.mentions(loop.variable); };
  for (ValueId id = loop.first; id < loop.end; ++id)
    if (std::ranges::any_of(placed.values[id].shape, depends) ||
        std::ranges::any_of(placed.values[id].placement, [&](const LevelPlacement &at) {
          return at.stages && depends(at.stage);
        }))
      return false;
  if (choosesByRound(placed, loop) || shiftsByRound(placed, loop))
    return false;
  return std::ranges::none_of(placed.loops, [&](const PlacedLoop &inner) {
    bool isInside = inner.first > loop.first && inner.end <= loop.end;
    return isInside && (depends(inner.lo) || depends(inner.hi) || depends(inner.step));
  });
}

bool hasTasks(const PlacedProgram &placed, const PlacedLoop &loop) {
  if (!loop.stmt)
    return false;
  return std::any_of(placed.values.begin() + loop.first, placed.values.begin() + loop.end,
                     [&](const PlacedValue &value) {
                       return std::ranges::any_of(value.placement, [&](const LevelPlacement &at) {
                         return at.stage && !at.stages && at.stage.mentions(loop.variable);
                       });
                     });
}

/// The first rounds, those that are left out, and the last ones. A round that is left out is like the one `turn` rounds before it.
static std::vector<PlannedRound> firstAndLast(int64_t rounds, int64_t simulated, int64_t turn) {
  std::vector<PlannedRound> plan;
  int64_t period = std::lcm(kPeriod, turn);
  int64_t first = simulated - kLastRounds, leftOut = rounds - simulated;
  for (int64_t i = 0; i < first; ++i)
    plan.push_back({i});
  turn = std::min(turn, first);
  for (int64_t i = 0; i < turn; ++i)
    plan[static_cast<size_t>(first - turn + i)].stands +=
        static_cast<double>((leftOut - i + turn - 1) / turn);
  plan.back().leftOut = leftOut;
  plan.back().pace = static_cast<size_t>(first < 2 * period ? 2 : first / 2 / period * period);
  plan.back().turn = static_cast<size_t>(turn);
  for (int64_t i = 0; i < kLastRounds; ++i)
    plan.push_back({rounds - kLastRounds + i});
  return plan;
}

/// The loop is divided into `count` stretches of equal length, and a window of rounds in the middle
/// of each is simulated for all of its rounds.
static std::vector<PlannedRound> windows(int64_t rounds, int64_t count) {
  std::vector<PlannedRound> plan;
  for (int64_t i = 0; i < count; ++i) {
    // The longer stretches come first; they differ by one round.
    int64_t begin = rounds / count * i + std::min(i, rounds % count);
    int64_t length = rounds / count + (i < rounds % count);
    int64_t first = begin + (length - kWindow) / 2;
    // A window cannot lie half a round further, so its later rounds get more weight where it begins
    // half a round before the middle. Then a time that grows linearly with the round number is
    // summed exactly: the squares of the distances from the middle of four rounds add up to 5.
    double middle = static_cast<double>(length - kWindow) / 2 - static_cast<double>(first - begin);
    for (int64_t j = 0; j < kWindow; ++j) {
      double aside = static_cast<double>(j) - static_cast<double>(kWindow - 1) / 2;
      plan.push_back(
          {first + j, static_cast<double>(length) * (1.0 / kWindow + middle * aside / 5)});
    }
    plan.back().leftOut = length - kWindow;
    plan.back().pace = kWindowPace;
  }
  return plan;
}

std::vector<PlannedRound> planRounds(int64_t rounds, bool areAlike, int64_t most, int64_t turn) {
  // As many as it takes to see where all parts are where they were, if there may be so many.
  int64_t period = std::lcm(kPeriod, turn);
  int64_t few = areAlike ? std::max(kFewLike, std::min(4 * period, most)) : kFewOther;
  if (rounds <= std::max(most, few)) {
    std::vector<PlannedRound> all;
    for (int64_t i = 0; i < rounds; ++i)
      all.push_back({i});
    return all;
  }
  if (areAlike)
    return firstAndLast(
        rounds,
        most < kSome ? kFewest
                     : std::clamp(most, kUsual, std::max(kMostRounds, 4 * period + kLastRounds)),
        turn);
  return windows(rounds, std::clamp(most / kWindow, kFewestWindows, kMostRounds / kWindow));
}

} // namespace ptl::parts
