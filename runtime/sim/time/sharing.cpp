#include "runtime/sim/time/sharing.h"

#include <algorithm>

namespace ptl::rt::sim {

Sharing::Sharing(const Kernel &kernel, const Chip &chip, std::span<const GlobalArray> pointers,
                 std::span<const Scalar> scalars, int64_t blocks, int64_t most) {
  Options options;
  options.values = false;
  options.glance = true;
  options.maxSteps = 1'000'000;
  options.trace = [&](const TraceEvent &event) {
    const Step *step = event.issued->step;
    for (size_t i = 0; i < step->operands.size(); ++i)
      if (const View *view = std::get_if<View>(&event.issued->operands[i]);
          view && view->array >= 0) {
        Visits &visits = visits_[{event.cube, step}];
        auto &places = event.issued->ordinal > 0 ? visits.later : visits.first;
        places.try_emplace(event.block, Place{view->array, view->offset});
        working_.insert(event.block);
      }
  };
  Result result = runKernel(kernel, chip, pointers, scalars, blocks, options);
  if (!result.ok || working_.size() <= static_cast<size_t>(most))
    return;
  std::vector<int64_t> working(working_.begin(), working_.end());
  for (int64_t i = 0; i < most; ++i)
    chosen_.push_back(working[static_cast<size_t>(i) * (working.size() - 1) /
                              static_cast<size_t>(std::max<int64_t>(most - 1, 1))]);
  // The one with the most to do ends last.
  auto hasMore = [&](int64_t block, int64_t than) {
    return result.rounds[block] > result.rounds[than];
  };
  int64_t busiest = chosen_[chosen_.size() / 2];
  for (int64_t block : working)
    busiest = hasMore(block, busiest) ? block : busiest;
  if (std::none_of(chosen_.begin(), chosen_.end(),
                   [&](int64_t block) { return !hasMore(busiest, block); }))
    chosen_[chosen_.size() / 2] = busiest;
  std::sort(chosen_.begin(), chosen_.end());
  for (const auto &[step, visits] : visits_)
    parts_[step] = {partOf(visits, false), partOf(visits, true)};
  known_ = true;
}

/// How many different places a set of blocks comes to for each that comes there, all over chosen.
double Sharing::partOf(const Visits &visits, bool later) const {
  const std::map<int64_t, Place> &places = later ? visits.later : visits.first;
  auto share = [&](auto isMember) {
    std::set<Place> known, fresh;
    if (later)
      for (const auto &[block, place] : visits.first)
        if (isMember(block))
          known.insert(place);
    double count = 0;
    for (const auto &[block, place] : places)
      if (isMember(block)) {
        ++count;
        if (!known.count(place))
          fresh.insert(place);
      }
    return count > 0 ? static_cast<double>(fresh.size()) / count : 0.0;
  };
  double all = share([](int64_t) { return true; });
  double chosen = share([&](int64_t block) {
    return std::find(chosen_.begin(), chosen_.end(), block) != chosen_.end();
  });
  return chosen > 0 ? std::min(all / chosen, 1.0) : 1.0;
}

double Sharing::missing(bool cube, const Step *step, int64_t round) const {
  auto found = parts_.find({cube, step});
  if (found == parts_.end())
    return 1;
  return round > 0 ? found->second.second : found->second.first;
}

} // namespace ptl::rt::sim
