#include "codegen/parts/part_tasks.h"

namespace ptl::parts {

using movement::ChipTask;
using Kind = TaskOrigin::Kind;

uint32_t PartTasks::compute(TaskOrigin origin, double seconds, const std::vector<uint32_t> &after) {
  return add(origin, {chips_[origin.part], seconds, std::nullopt, 0, {}}, after);
}

uint32_t PartTasks::pass(TaskOrigin origin, double seconds, const std::vector<uint32_t> &after) {
  ChipTask task{chips_[origin.part], seconds, std::nullopt, 0, {}};
  task.isAside = true;
  return add(origin, std::move(task), after);
}

uint32_t PartTasks::move(TaskOrigin origin, size_t movement, uint32_t rank,
                         const std::vector<uint32_t> &after) {
  return add(origin, {chips_[origin.part], 0, movement, rank, {}}, after);
}

uint32_t PartTasks::push(TaskOrigin origin, ChipTask task) {
  tasks_.push_back(std::move(task));
  origins_.push_back(origin);
  return static_cast<uint32_t>(tasks_.size() - 1);
}

uint32_t PartTasks::add(TaskOrigin origin, ChipTask task, const std::vector<uint32_t> &after) {
  auto addOnce = [&](uint32_t before) {
    before = behindGaps(before);
    if (std::ranges::find(task.after, before) == task.after.end())
      task.after.push_back(before);
  };
  for (uint32_t before : after)
    addOnce(before);
  if (!active_.empty()) {
    // In a loop a task also waits for the same task of the previous round: the rounds of one value
    // follow each other.
    if (auto known = latest_.find(origin); known != latest_.end())
      addOnce(known->second);
    // A task that waits for nothing of this round waits for the ends of the round before the
    // previous one, so that at most two rounds of a loop are in flight.
    for (size_t number : active_) {
      const Loop &loop = loops_[number];
      bool isBehind =
          std::ranges::any_of(after, [&](uint32_t before) { return before >= loop.begin; });
      if (isBehind || loop.rounds.size() < 2)
        continue;
      for (uint32_t last : loop.rounds[loop.rounds.size() - 2].last[origin.part])
        addOnce(last);
    }
    // Behind a gap a part computes only after its share of the rounds that were left out.
    for (size_t number : active_)
      if (const std::optional<Gap> &gap = loops_[number].gap; gap && task.isComputing())
        if (auto before = gap->computing.find(origin.part); before != gap->computing.end())
          addOnce(before->second);
  }
  uint32_t made = push(origin, std::move(task));
  if (!active_.empty())
    latest_[origin] = made;
  return made;
}

void PartTasks::beginRound() {
  loops_[active_.back()].begin = static_cast<uint32_t>(tasks_.size());
}

void PartTasks::endRound() {
  Loop &loop = loops_[active_.back()];
  Round round{loop.begin, static_cast<uint32_t>(tasks_.size())};
  round.last.resize(chips_.size());
  std::vector<bool> hasLater(round.end - round.begin);
  for (uint32_t task = round.end; task-- > round.begin;) {
    for (uint32_t before : tasks_[task].after)
      if (before >= round.begin)
        hasLater[before - round.begin] = true;
    // Only tasks that no other task of the round waits for are its ends; waiting for them is
    // waiting for the whole round.
    if (!hasLater[task - round.begin])
      round.last[origins_[task].part].push_back(task);
  }
  if (loop.gap)
    loop.gap->computing.clear();
  loop.rounds.push_back(std::move(round));
  // At most two rounds are in flight, so the ends of earlier ones are not needed any more.
  if (loop.rounds.size() > 2)
    loop.rounds[loop.rounds.size() - 3].last.clear();
}

void PartTasks::leaveOut(int64_t rounds, size_t pace, size_t turn) {
  size_t number = active_.back();
  Loop &loop = loops_[number];
  auto first = loop.rounds.end() - static_cast<ptrdiff_t>(pace + 2);
  loop.gap = Gap{{first, loop.rounds.end()}, static_cast<double>(rounds), pace};
  std::vector<ChipTask> computing(chips_.size());
  double times = static_cast<double>(rounds) / static_cast<double>(turn);
  for (auto round = loop.rounds.end() - static_cast<ptrdiff_t>(turn); round != loop.rounds.end();
       ++round)
    for (uint32_t task = round->begin; task < round->end; ++task)
      if (tasks_[task].isComputing()) {
        ChipTask &sum = computing[origins_[task].part];
        // What chips compute in the rounds that are left out is one task that yields, so that other
        // work goes on beside it as it would.
        sum.seconds += tasks_[task].seconds * times;
        sum.after.push_back(task);
      }
  for (uint32_t part = 0; part < chips_.size(); ++part)
    if (computing[part].seconds > 0) {
      computing[part].chip = chips_[part];
      computing[part].yields = true;
      loop.gap->computing[part] = push({Kind::LeftOut, number, part}, std::move(computing[part]));
    }
}

// ---- Pauses --------------------------------------------------------------------------------------

/// The task itself, or the end of the pause behind it if it belongs to the last rounds before a
/// gap.
uint32_t PartTasks::behindGaps(uint32_t task) {
  uint32_t current = task;
  for (auto &[number, loop] : loops_)
    if (loop.gap)
      current = pause(*loop.gap, task, current);
  return current;
}

uint32_t PartTasks::pause(Gap &gap, uint32_t task, uint32_t current) {
  // Older tasks are needed behind the gap only together with tasks of the last two rounds.
  for (size_t i = gap.pace; i < gap.pace + 2; ++i) {
    const Round &round = gap.rounds[i];
    if (task < round.begin || task >= round.end)
      continue;
    if (auto known = gap.pauses.find(task); known != gap.pauses.end())
      return known->second;
    std::optional<uint32_t> like = likeIn(gap.rounds[i - gap.pace], round, task);
    if (!like)
      return current;
    // These two tasks are `pace` rounds apart: the rounds left out take that time as often as they
    // fill such a distance.
    ChipTask made{tasks_[task].chip, 0, std::nullopt, 0, {current}};
    made.pause = movement::Pause{*like, task, gap.count / static_cast<double>(gap.pace)};
    uint32_t number = push({Kind::Pause, 0, origins_[task].part}, std::move(made));
    gap.pauses[task] = number;
    return number;
  }
  return current;
}

/// The task of an earlier round that corresponds to one of a later round, counted from the ends of
/// both because an inner loop may have simulated more rounds in one of them. Else the last task of
/// the same part.
std::optional<uint32_t> PartTasks::likeIn(const Round &round, const Round &of,
                                          uint32_t task) const {
  uint32_t fromEnd = of.end - task;
  if (fromEnd <= round.end - round.begin && origins_[round.end - fromEnd] == origins_[task])
    return round.end - fromEnd;
  std::optional<uint32_t> ofPart;
  for (uint32_t other = round.end; other-- > round.begin;) {
    if (origins_[other] == origins_[task])
      return other;
    if (!ofPart && origins_[other].part == origins_[task].part &&
        origins_[other].kind != Kind::Pause)
      ofPart = other;
  }
  return ofPart;
}

} // namespace ptl::parts
