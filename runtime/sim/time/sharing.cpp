#include "runtime/sim/time/sharing.h"

#include <algorithm>

namespace ptl::rt::sim {

Sharing::Sharing(const Kernel &kernel, const Chip &chip, std::span<const GlobalArray> pointers,
                 std::span<const Scalar> scalars, int64_t blocks, int64_t most,
                 const CostModel &model, SecondLevel second) {
  Options options;
  options.values = false;
  options.glance = true;
  options.maxSteps = 1'000'000;
  // Of each pipe, what it does in the rounds of the outermost loop that are glanced at.
  struct PipeWork {
    Cycles busy = 0;
    int64_t rounds = 0;
  };
  std::map<int64_t, std::map<std::pair<int32_t, Pipe>, PipeWork>> work;
  options.trace = [&](const TraceEvent &event) {
    const Step *step = event.issued->step;
    if (step->kind == StepKind::Instruction || step->queue >= 0) {
      PipeWork &pipe = work[event.block][{event.core, event.pipe}];
      const Queue *queue =
          step->queue < 0 ? nullptr : &kernel.queues[static_cast<size_t>(step->queue)];
      if (step->kind != StepKind::Free)
        pipe.busy += event.issued->times * model.costOf(*event.issued, queue).busy;
      pipe.rounds = std::max(pipe.rounds, event.issued->ordinal + 1);
    }
    for (size_t i = 0; i < step->operands.size(); ++i)
      if (const View *view = std::get_if<View>(&event.issued->operands[i]);
          view && view->array >= 0) {
        views_[event.issued->ordinal > 0][{event.cube, step}].try_emplace(event.block, *view);
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
  std::map<int64_t, Cycles> longest;
  for (const auto &[block, pipes] : work)
    for (const auto &[pipe, does] : pipes)
      if (does.rounds > 0) {
        auto rounds = static_cast<double>(result.rounds[block]);
        longest[block] = std::max(
            longest[block], does.busy * std::max(1.0, rounds / static_cast<double>(does.rounds)));
      }
  auto hasMore = [&](int64_t block, int64_t than) { return longest[block] > longest[than]; };
  int64_t busiest = chosen_[chosen_.size() / 2];
  for (int64_t block : working)
    busiest = hasMore(block, busiest) ? block : busiest;
  if (std::none_of(chosen_.begin(), chosen_.end(),
                   [&](int64_t block) { return !hasMore(busiest, block); }))
    chosen_[chosen_.size() / 2] = busiest;
  std::sort(chosen_.begin(), chosen_.end());
  for (const GlobalArray &pointer : pointers)
    second.add(pointer.bytes, false);
  compare(second, second);
  known_ = true;
}

void Sharing::compare(SecondLevel ofAll, SecondLevel ofChosen) {
  std::set<int64_t> chosen(chosen_.begin(), chosen_.end());
  for (size_t later : {0, 1})
    for (const auto &[site, views] : views_[later]) {
      double all = 0, alone = 0, count = 0;
      for (const auto &[block, view] : views) {
        auto array = static_cast<uint32_t>(view.array);
        all += static_cast<double>(ofAll.touch(array, view));
        if (!chosen.count(block))
          continue;
        ++count;
        alone += static_cast<double>(ofChosen.touch(array, view));
      }
      if (alone > 0)
        parts_[later][site] =
            std::min(all / static_cast<double>(views.size()) / (alone / count), 1.0);
    }
}

double Sharing::missing(bool cube, const Step *step, int64_t round) const {
  const std::map<Site, double> &parts = parts_[round > 0];
  auto found = parts.find({cube, step});
  return found == parts.end() ? 1 : found->second;
}

} // namespace ptl::rt::sim
