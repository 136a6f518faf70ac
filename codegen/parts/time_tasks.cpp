// What a program on parts computes and moves, as tasks of its chips.
#include "codegen/parts/parts_timer.h"

#include "codegen/parts/disk_times.h"
#include "codegen/parts/move_rows.h"
#include "frontend/base/elem_type.h"
#include "frontend/sema/placement/distribution.h"

#include <algorithm>

namespace ptl::parts {

using movement::TimedMove;
using Kind = TaskOrigin::Kind;

/// Per part, the tasks that make a value.
const std::vector<std::vector<uint32_t>> &PartsTimer::ready(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  if (auto stretch = home_.find(id); stretch != home_.end())
    compute(stretch->second);
  else if (value.kind != PlacedKind::Move && value.kind != PlacedKind::Carried &&
           value.kind != PlacedKind::Chosen && !value.operands.empty())
    ready_[id] = ready(*value.operands[0]);
  return ready_[id];
}

/// The seconds that a part takes for a stretch; without a text it has nothing to compute.
double PartsTimer::secondsOf(const Stretch &stretch, uint32_t part, std::string &source) {
  // Parts with equal extents have the same text, so each text is timed once.
  source = sourceOf(
      placed_, stretch, [&](ValueId id) { return extents(id, part); },
      [&](Dim dim) { return this->number(dim); });
  if (source.empty())
    return 0;
  auto known = seconds_.find(source);
  if (known == seconds_.end())
    known = seconds_.emplace(source, question_.seconds(source)).first;
  return known->second;
}

/// The pair whose product a stretch computes, if its movement goes by chunks: one that it waits for (`isOperand`), or one that waits for it.
const ChunkedPair *PartsTimer::pairIn(const Stretch &stretch, bool isOperand) {
  for (const ChunkedPair &pair : pairs_)
    if (pair.operand.has_value() == isOperand &&
        std::ranges::find(stretch.own, pair.product) != stretch.own.end() &&
        (!isOperand || chunks_.contains(pair.move)) && chunkCount(pair) > 0)
      return &pair;
  return nullptr;
}

/// In how many chunks the movement of a pair goes now.
size_t PartsTimer::chunkCount(const ChunkedPair &pair) {
  if (pair.operand)
    return chunks_.at(pair.move).size();
  std::string why;
  const MoveSteps *steps = steps_.of(pair.move, variables_, why);
  size_t count = steps ? steps->chunks.size() : 0;
  if (count > 0)
    chunks_[pair.product].resize(count, std::vector<std::vector<uint32_t>>(grid_.count()));
  return count;
}

/// What a product takes by itself.
double PartsTimer::productSeconds(const ChunkedPair &pair, uint32_t part) {
  const PlacedValue &value = placed_.values[pair.product];
  Stretch alone{std::nullopt, {pair.product}, {pair.product}, {}, {pair.product}};
  for (std::optional<ValueId> operand : value.operands)
    if (operand && std::ranges::find(alone.inputs, *operand) == alone.inputs.end())
      alone.inputs.push_back(*operand);
  std::string source;
  return secondsOf(alone, part, source);
}

double PartsTimer::productSeconds(const ChunkedPair &pair) {
  double most = 0;
  for (uint32_t part = 0; part < grid_.count(); ++part)
    if (grid_.holds(placed_.values[pair.product].placement, part))
      most = std::max(most, productSeconds(pair, part));
  return most;
}

/// Adds the task of a stretch behind the tasks of its inputs. Stretches never use each other in a
/// cycle.
void PartsTimer::compute(size_t number) {
  const Stretch &stretch = stretches_[number];
  if (isComputed_[number])
    return;
  isComputed_[number] = true;
  // No other stretch uses it, or only conditions that are known from sizes use it.
  if (stretch.outputs.empty())
    return;
  for (ValueId input : stretch.inputs)
    ready(input);
  if (!stretchTimes_[number]) {
    stretchTimes_[number] = time_.stretches.size();
    time_.stretches.emplace_back().first = stretch.own.front();
    timesOfStretches_.push_back(0);
  }
  size_t place = *stretchTimes_[number];
  timesOfStretches_[place] += stands_;
  StretchTime &time = time_.stretches[place];
  const ChunkedPair *behind = pairIn(stretch, true), *before = pairIn(stretch, false);
  for (uint32_t part = 0; part < grid_.count(); ++part) {
    if (!grid_.holds(computedAt(placed_, stretch.own.back()), part)) {
      // What only a stage stores stays as it was on the other parts.
      for (ValueId id : stretch.own)
        if (storingStage(placed_, placed_.values[id]))
          ready_[id][part] = ready_[*placed_.values[id].operands[0]][part];
      continue;
    }
    std::string source;
    double seconds = secondsOf(stretch, part, source);
    if (source.empty())
      continue;
    if (seconds > time.seconds || time.source.empty()) {
      time.seconds = seconds;
      time.source = source;
    }
    std::vector<uint32_t> after;
    for (ValueId input : stretch.inputs)
      // Of what comes by chunks the first one is waited for, then each.
      if (!behind || input != behind->move)
        after.insert(after.end(), ready_[input][part].begin(), ready_[input][part].end());
    TaskOrigin origin{Kind::Stretch, place, part};
    auto add = [&](double length) {
      after = {tasks_.compute(origin, length, after)};
      return after[0];
    };
    double first = behind ? std::min(productSeconds(*behind, part), seconds) : 0;
    double last = before ? std::min(productSeconds(*before, part), seconds - first) : 0;
    size_t count = behind ? chunkCount(*behind) : 0;
    for (size_t chunk = 0; chunk < count; ++chunk) {
      const std::vector<uint32_t> &came = chunks_[behind->move][chunk][part];
      after.insert(after.end(), came.begin(), came.end());
      add(first / static_cast<double>(count));
    }
    // What the second product multiplies is there before it.
    count = before ? chunkCount(*before) : 0;
    if (count == 0 || seconds > first + last)
      add(std::max(seconds - first - last, 0.0));
    for (size_t chunk = 0; chunk < count; ++chunk)
      chunks_[before->product][chunk][part] = {add(last / static_cast<double>(count))};
    for (ValueId id : stretch.own)
      ready_[id][part] = after;
  }
}

/// Where a page lies whose pool has the memory of several parts; true if that has no room for it, so that nothing moves.
bool PartsTimer::settleHome(ValueId id) {
  PlacedValue &value = asked_.values[id];
  if (value.kind != PlacedKind::Page && value.kind != PlacedKind::Move)
    return false;
  const PlacedChoice *choice = placed_.pageAt(id);
  if (!choice || !choice->page->fetched)
    return false;
  std::optional<uint32_t> home = homeOfPage(question_, *choice, variables_);
  if (home && id != *choice->page->fetched)
    value.placement[*placed_.pools[choice->page->pool].over].part = *home;
  return !home;
}

/// A page of another run lies on the disk, if its pool has room there, or in the memory of several parts, as far as there is room.
void PartsTimer::readPage(ValueId page) {
  const PlacedChoice &choice = *placed_.pageAt(page);
  if (choice.page->fetched && homeOfPage(question_, choice, variables_))
    return;
  ValueId id = choice.page->fetched.value_or(page);
  std::optional<double> seconds;
  if (placed_.pools[choice.page->pool].disk > 0)
    seconds = readSeconds(question_, id, variables_);
  for (uint32_t part = 0; seconds && part < grid_.count(); ++part)
    ready_[id][part] = {tasks_.pass({Kind::Page, id, part}, *seconds, {})};
}

bool PartsTimer::move(ValueId id) {
  const PlacedValue &value = placed_.values[id];
  const MoveSteps *steps = steps_.of(id, variables_, why_);
  if (!steps)
    return false;
  auto [known, isNew] = moveTimes_.emplace(id, time_.moves.size());
  if (isNew)
    time_.moves.push_back(steps->time);
  MoveTime &time = time_.moves[known->second];
  // A movement in a loop may have other steps each round; its report shows the slowest.
  if (steps->time.alone > time.alone)
    time = steps->time;
  timesOfMoves_[known->second] += stands_;
  messages_ += stands_ * static_cast<double>(steps->messages);
  for (std::optional<ValueId> operand : value.operands)
    for (uint32_t part = 0; part < grid_.count(); ++part) {
      const std::vector<uint32_t> &tasks = ready(*operand)[part];
      for (uint32_t task : tasks)
        if (std::ranges::find(ready_[id][part], task) == ready_[id][part].end())
          ready_[id][part].push_back(task);
    }
  carryOut(id, steps->counts, kRowCountBytes, steps->start, known->second);
  if (steps->chunks.empty())
    chunks_.erase(id); // It may have gone by chunks in another round.
  for (size_t chunk = 0; chunk < steps->chunks.size(); ++chunk) {
    // Those of a product's result begin when its rows are there, those of its operand one behind the other.
    auto made = chunks_.find(*value.operands[0]);
    for (uint32_t part = 0; part < grid_.count() && made != chunks_.end(); ++part) {
      std::vector<uint32_t> &tasks = ready_[id][part];
      if (chunk == 0)
        tasks.clear();
      tasks.insert(tasks.end(), made->second[chunk][part].begin(), made->second[chunk][part].end());
    }
    carryOut(id, steps->chunks[chunk], elemInfo(value.elem).storageBytes, steps->start,
             known->second);
    if (made == chunks_.end()) {
      auto &all = chunks_[id];
      all.resize(steps->chunks.size());
      all[chunk] = ready_[id];
    }
  }
  carryOut(id, steps->groups, elemInfo(value.elem).storageBytes, steps->start, known->second);
  return true;
}

/// Adds the steps of groups, behind everything that the movement waits for.
void PartsTimer::carryOut(ValueId id, const std::vector<MoveGroup> &groups, int64_t bytes,
                          double start, size_t number) {
  for (const MoveGroup &group : groups) {
    TimedMove timed{group.list, {}, bytes, start};
    for (uint32_t rank = 0; rank < group.parts.size(); ++rank) {
      uint32_t part = group.parts[rank];
      timed.chips.push_back(question_.chips[part]);
      ready_[id][part] = {
          tasks_.move({Kind::Move, number, part}, moves_.size(), rank, ready_[id][part])};
    }
    moves_.push_back(std::move(timed));
    moveOf_.push_back(number);
  }
}

} // namespace ptl::parts
