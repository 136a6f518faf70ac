#include "runtime/sim/time/repeats.h"

#include <cmath>

namespace ptl::rt::sim {

/// The relative difference of two launches in a row up to which later ones are assumed to be like
/// them; and the difference up to which that is still assumed when it is checked later.
static constexpr double kAlike = 0.01, kStillAlike = 0.02;
/// After that many times as many launches it is looked again. Of the two that are run then the
/// first finds in the second-level cache what nobody brought there, and does not count.
static constexpr int64_t kLater = 3;

Cycles LaunchResult::sum() const {
  Cycles sum = 0;
  for (const Block &block : blocks)
    if (block.works)
      sum += block.took;
  return sum;
}

ByteRange LaunchResult::touchedAt(size_t array, int64_t turn) const {
  int64_t way = steps.empty() ? 0 : steps[array] * (turn - number);
  return {touched[array].begin + way, touched[array].end + way};
}

/// Notes how far what a launch touched is from what another did before.
static void noteSteps(LaunchResult &result, const LaunchResult &before) {
  if (result.touched.size() != before.touched.size())
    return;
  for (size_t i = 0; i < result.touched.size(); ++i)
    result.steps.push_back((result.touched[i].begin - before.touched[i].begin) /
                           (result.number - before.number));
}

static bool areAlike(const LaunchResult &a, const LaunchResult &b, double within) {
  return a.blocks.size() == b.blocks.size() &&
         std::abs(a.sum() - b.sum()) <= within * std::max(a.sum(), b.sum());
}

Repeats::Turn Repeats::next() {
  int64_t number = begun_++;
  if (!isSteady_)
    return {number};
  if (number == look_)
    return {number, false};
  if (number == look_ + 1)
    return {number};
  return {number, false, last_};
}

void Repeats::note(const Turn &turn, LaunchResult result) {
  if (!turn.counts)
    return;
  isSteady_ = last_ && areAlike(*last_, result, isSteady_ ? kStillAlike : kAlike);
  if (isSteady_)
    look_ = std::max(kLater * turn.number, begun_);
  result.number = turn.number;
  if (last_)
    noteSteps(result, *last_);
  last_ = std::make_shared<const LaunchResult>(std::move(result));
}

} // namespace ptl::rt::sim
