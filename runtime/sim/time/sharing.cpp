#include "runtime/sim/time/sharing.h"

#include <algorithm>
#include <cmath>

namespace ptl::rt::sim {

Sharing::Sharing(const Kernel &kernel, const Chip &chip, std::span<const GlobalArray> pointers,
                 std::span<const Scalar> scalars, int64_t blocks, int64_t most,
                 const CostModel &model, SecondLevel second) {
  Options options;
  // A glance runs the first rounds of each loop without values, which suffices to tell what blocks
  // access.
  options.values = false;
  options.glance = true;
  // The limit bounds the time for kernels with huge grids.
  options.maxSteps = 1'000'000;
  // The work of a pipe in the rounds of the outermost loop that the glance runs.
  struct PipeWork {
    Cycles busy = 0;
    int64_t rounds = 0;
  };
  std::map<int64_t, std::map<std::pair<int32_t, Pipe>, PipeWork>> work;
  options.trace = [&](const TraceEvent &event) {
    const Step *step = event.issued->step;
    // Operations and transfers between cores take time on pipes; control does not.
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
        // The first round and later ones are kept apart, because the first one fills the cache.
        views_[event.issued->ordinal > 0][{event.cube, step}].try_emplace(event.block, *view);
        working_.insert(event.block);
        isSomewhere_ |= view->isSomewhere;
      }
  };
  Result result = runKernel(kernel, chip, pointers, scalars, blocks, options);
  if (result.ok)
    numWorking_ = static_cast<int64_t>(working_.size());
  // If there are few blocks, all of them run.
  if (!result.ok || working_.size() <= static_cast<size_t>(most))
    return;
  std::map<int64_t, Cycles> longest;
  for (const auto &[block, pipes] : work)
    for (const auto &[pipe, does] : pipes)
      if (does.rounds > 0) {
        auto rounds = static_cast<double>(result.rounds[block]);
        // The rounds that the glance ran stand for all rounds.
        longest[block] = std::max(
            longest[block], does.busy * std::max(1.0, rounds / static_cast<double>(does.rounds)));
      }
  choose(most, longest, result.rounds);
  for (const GlobalArray &pointer : pointers)
    second.add(pointer.bytes, false);
  compare(second, second);
  known_ = true;
}

/// Assigns each block to the chosen block most like it. A block at an edge of the grid, which has
/// less to do and ends early, must not represent blocks that continue.
void Sharing::weigh(const std::map<int64_t, Cycles> &longest) {
  for (int64_t block : working_) {
    // Differences of less than a tenth are ignored; then the blocks share the load.
    auto unlike = [&](int64_t chosen) {
      double own = longest.at(block), other = longest.at(chosen);
      return std::pair(std::floor(10 * std::abs(own - other) / std::max(own, 1.0)),
                       weights_[chosen]);
    };
    ++weights_[*std::min_element(chosen_.begin(), chosen_.end(),
                                 [&](int64_t a, int64_t b) { return unlike(a) < unlike(b); })];
  }
}

/// Chooses blocks at even distances; the one with the most work, which ends last; and of those with
/// the most rounds the last one, which has the last point of the grid, where edges may take longer.
void Sharing::choose(int64_t most, std::map<int64_t, Cycles> &longest,
                     std::map<int64_t, int64_t> &rounds) {
  std::vector<int64_t> working(working_.begin(), working_.end());
  int64_t busiest = working.front(), last = working.front();
  for (int64_t block : working) {
    busiest = longest[block] > longest[busiest] ? block : busiest;
    last = rounds[block] >= rounds[last] ? block : last;
  }
  std::set<int64_t> chosen;
  std::vector<int64_t> spread = working;
  // A last block that ends early represents only itself, beside as many of the others.
  if (longest[last] < 0.9 * longest[busiest])
    std::erase(spread, last);
  for (int64_t i = 0; i < most; ++i)
    // Even distances spread the chosen blocks over the grid.
    chosen.insert(spread[static_cast<size_t>(i) * (spread.size() - 1) /
                         static_cast<size_t>(std::max<int64_t>(most - 1, 1))]);
  bool isThere = std::any_of(chosen.begin(), chosen.end(),
                             [&](int64_t block) { return longest[block] >= longest[busiest]; });
  int64_t middle = *std::next(chosen.begin(), static_cast<ptrdiff_t>(chosen.size() / 2));
  // A block in the middle is replaced, since its neighbours are like it.
  if (!isThere || (!chosen.count(last) && spread.size() == working.size()))
    chosen.erase(middle);
  if (!isThere)
    chosen.insert(busiest);
  chosen.insert(last);
  chosen_.assign(chosen.begin(), chosen.end());
  Cycles all = 0, ofChosen = 0;
  for (int64_t block : working)
    all += longest[block];
  for (int64_t block : chosen_)
    ofChosen += longest[block];
  // The weight is how much more work all blocks have than the chosen ones.
  workWeight_ = ofChosen > 0
                    ? all / ofChosen
                    : static_cast<double>(working.size()) / static_cast<double>(chosen_.size());
  weigh(longest);
  for (int64_t block : working) {
    int64_t own = std::max<int64_t>(1, rounds[block]);
    turns_[block] = {own, longest[block] / static_cast<double>(own)};
  }
}

double Sharing::groupsInTurn(int64_t block, int64_t round) const {
  const Turns &own = turns_.at(block);
  double groups = 0, work = 0;
  for (const auto &[other, turns] : turns_)
    if (turns.rounds > round) {
      ++groups;
      work += turns.each;
    }
  // Groups with less work in a round are silent for a part of it.
  return std::max(1.0, own.each > 0 ? std::min(groups, work / own.each) : groups);
}

void Sharing::compare(SecondLevel ofAll, SecondLevel ofChosen) {
  std::set<int64_t> chosen(chosen_.begin(), chosen_.end());
  // One cache counts the misses of all blocks, another those of the chosen ones alone.
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
