#include "codegen/parts/builtin_call.h"
#include "codegen/parts/elements.h"
#include "codegen/parts/parts_run.h"

#include <algorithm>
#include <utility>

namespace ptl::parts {

using reference::RunStatus;
using reference::Value;

// ---- Loops -------------------------------------------------------------------------------------

void PartsRun::makeAll(ValueId begin, ValueId end, const std::vector<Value> &args) {
  const EarlyMoves &early = earlyMoves(begin, end);
  for (ValueId id = begin; id < end;) {
    if (auto moves = early.before.find(id); moves != early.before.end())
      for (ValueId move : moves->second)
        this->begin(move);
    const PlacedLoop *loop = placed_.loopAt(id);
    const PlacedChoice *choice = placed_.choiceAt(id);
    const PlacedParts *parts = placed_.partsAt(id);
    // There, other parts may be at work, and numbers may change.
    if (loop || choice || parts)
      computeComplete();
    if (loop) {
      beginLoop(*loop);
      loop->stmt ? repeat(*loop, args) : repeatWhile(*loop, args);
      id = loop->end;
    } else if (choice) {
      choose(*choice, args);
      id = choice->end;
    } else if (parts) {
      makeOnEach(*parts, args);
      id = parts->end;
    } else {
      make(id++, args);
    }
  }
  computeComplete();
}

/// Sets the carried variables to the values that the next iteration begins with.
void PartsRun::goOn(const PlacedLoop &loop, std::vector<std::vector<Value>> carried) {
  for (size_t i = 0; i < carried.size(); ++i)
    values_[loop.first + i] = std::move(carried[i]);
}

void PartsRun::beginLoop(const PlacedLoop &loop) {
  // In a further round of an outer loop the stages still have the parts of the last round.
  settle(loop.first, loop.end);
  std::vector<std::vector<Value>> carried;
  for (ValueId id = loop.first; id < loop.body(); ++id) {
    catchUpAll(*placed_.values[id].operands[0]);
    carried.push_back(values_[*placed_.values[id].operands[0]]);
  }
  goOn(loop, std::move(carried));
}

/// Ends an iteration; whether the loop is left there.
bool PartsRun::endRound(const PlacedLoop &loop) {
  // All next values are read before any carried variable is written, since one may be another's
  // next value.
  std::vector<std::vector<Value>> carried;
  for (const PlacedCarried &each : loop.carried) {
    catchUpAll(each.next);
    carried.push_back(values_[each.next]);
  }
  goOn(loop, std::move(carried));
  return isLeft(loop);
}

/// Whether the round that ended last has left the loop.
bool PartsRun::isLeft(const PlacedLoop &loop) {
  return loop.leaves && holds(loop.first + static_cast<ValueId>(*loop.leaves),
                              loop.stmt ? *loop.stmt->head.iterable : *loop.condition);
}

void PartsRun::repeatWhile(const PlacedLoop &loop, const std::vector<Value> &args) {
  for (;;) {
    makeAll(loop.body(), loop.inside, args);
    if (!holds(loop.holds, *loop.condition))
      return;
    makeAll(loop.inside, loop.end, args);
    if (endRound(loop))
      return;
  }
}

void PartsRun::repeat(const PlacedLoop &loop, const std::vector<Value> &args) {
  const PlacedValue &first = placed_.values[loop.first];
  int64_t at = number(loop.lo, first), step = number(loop.step, first), hi = number(loop.hi, first);
  if (step < 1)
    stopAt(RunStatus::Arithmetic,
           loop.stmt->head.range ? "the size of a tile is " + std::to_string(step)
                                 : "the loop counts by " + std::to_string(step) + ", not forwards",
           loop.stmt->head.iterable->span);
  int64_t left = at < hi ? (hi - at - 1) / step + 1 : 0;
  std::unique_ptr<SavedLoop> saved = loop.every ? resume(loop) : nullptr;
  if (saved && saved->next) {
    saved->done = (*saved->next - at) / step;
    // A checkpoint of the round that has left the loop says so, and nothing goes on from it.
    left = isLeft(loop) ? 0 : std::max<int64_t>(left - saved->done, 0);
    at = *saved->next;
  }
  for (; left > 0; --left) {
    sizes_[loop.variable] = at;
    settle(loop.first, loop.end);
    makeAll(loop.body(), loop.end, args);
    bool isLast = endRound(loop);
    // After the last iteration the next number may not be representable.
    at = static_cast<int64_t>(static_cast<uint64_t>(at) + static_cast<uint64_t>(step));
    if (saved)
      save(loop, *saved, at);
    if (isLast)
      break;
  }
  waitForMoves();
  if (std::string why = saved ? saved->checkpoints.finish() : std::string(); !why.empty())
    stopAt(RunStatus::Silent, "a checkpoint could not be saved: " + why,
           loop.stmt->checkpoint->span);
}

/// The checkpoints of a loop, after its carried variables have been read from the checkpoint to
/// continue from; null if none are saved.
std::unique_ptr<PartsRun::SavedLoop> PartsRun::resume(const PlacedLoop &loop) {
  waitForMoves();
  Span span = loop.stmt->checkpoint->span;
  int64_t every = number(loop.every, placed_.values[loop.first]);
  if (every < 1)
    stopAt(RunStatus::Arithmetic,
           "the distance of checkpoints is " + std::to_string(every) + ", not at least 1", span);
  if (!options_.checkpoints.saves)
    return nullptr;
  auto saved = std::make_unique<SavedLoop>(SavedLoop{
      {placed_, loop, grid_, sizes_, options_.checkpoints, options_.own}, every, 0, std::nullopt});
  std::string why;
  bool isShared = false;
  saved->next = saved->checkpoints.begin(why, isShared);
  if (!why.empty())
    stopAt(isShared ? RunStatus::Arguments : RunStatus::Silent, why, span);
  for (size_t i = 0; i < loop.carried.size() && saved->next; ++i)
    for (uint32_t part : here_) {
      if (!grid_.holds(placed_.values[loop.first + i].placement, part))
        continue;
      values_[loop.first + i][part] = saved->checkpoints.read(i, part, why);
      if (!why.empty())
        stopAt(RunStatus::Silent, why, span);
    }
  return saved;
}

void PartsRun::save(const PlacedLoop &loop, SavedLoop &saved, int64_t next) {
  waitForMoves();
  std::string why = saved.checkpoints.failure();
  if (why.empty() && ++saved.done % saved.every == 0)
    saved.checkpoints.save(
        next,
        [&](size_t variable, uint32_t part) -> const Value & {
          return values_[loop.first + variable][part];
        },
        why);
  if (!why.empty())
    stopAt(RunStatus::Silent, "a checkpoint could not be saved: " + why,
           loop.stmt->checkpoint->span);
}

// ---- Parts for themselves ----------------------------------------------------------------------

/// The body of a `parallel` over parts. Of parts in one process all those with one coordinate do it at a time, because its lengths,
/// rounds and choices are theirs; the others of its level do not take part in its movements.
void PartsRun::makeOnEach(const PlacedParts &parts, const std::vector<Value> &args) {
  const PlacedValue &first = placed_.values[parts.first];
  int64_t base = number(parts.base, first), length = number(parts.length, first);
  uint32_t count = grid_.count(parts.level);
  std::vector<uint32_t> all = std::exchange(here_, {});
  for (ValueId id = parts.first; id < parts.end; ++id) {
    values_[id].resize(grid_.count());
    // In another round a part may have had a range where it has none now.
    for (uint32_t part : all)
      values_[id][part] = Value();
  }
  auto isElsewhere = [&](uint32_t part) {
    return parts.section &&
           grid_.coordinate(part, parts.section->first) != parts.section->second.part;
  };
  for (uint32_t coordinate = 0; coordinate < count; ++coordinate) {
    here_ = all;
    std::erase_if(here_, [&](uint32_t part) {
      return grid_.coordinate(part, parts.level) != coordinate || isElsewhere(part);
    });
    movement::Interval block = movement::blockOf(length, count, coordinate);
    // A range that is empty has no round, as in a loop over all of them.
    if (here_.empty() || block.length() == 0)
      continue;
    sizes_[parts.start] = base + block.begin;
    sizes_[parts.extent] = block.length();
    sizes_[parts.number] = coordinate;
    only_.emplace_back(parts.level, coordinate);
    makeAll(parts.body(), parts.end, args);
    for (ValueId id = parts.body(); id < parts.end; ++id)
      land(id);
    only_.pop_back();
  }
  here_ = std::move(all);
}

// ---- Choices -----------------------------------------------------------------------------------

/// Every part computes the condition itself, so that none has to ask another one for it.
bool PartsRun::holds(ValueId id, const Expr &condition) {
  std::optional<bool> all;
  for (uint32_t part : here_) {
    bool mine = isTrue(at(id, part));
    if (all && *all != mine)
      stopAt(RunStatus::Fault,
             grid_.name(part) + " goes on otherwise than " + grid_.name(here_.front()),
             condition.span);
    all = mine;
  }
  return all.value_or(false);
}

void PartsRun::choose(const PlacedChoice &choice, const std::vector<Value> &args) {
  bool isFirst = holds(choice.holds, *choice.condition);
  auto [begin, end] = choice.arm(isFirst);
  if (choice.page)
    waitForMoves();
  if (choice.page && choice.page->fetched && !isFirst && !pools_.liesInMemory(choice))
    takeFromDisk(choice);
  else
    makeAll(begin, end, args);
  if (choice.page)
    usePool(choice, isFirst, args);
  settle(choice.chosen, choice.end);
  for (ValueId id = choice.chosen; id < choice.end; ++id) {
    const PlacedValue &value = placed_.values[id];
    ValueId from = *value.operands[isFirst ? 0 : 1];
    // An arm may have the value in another placement, of which each part then takes its box.
    catchUpAll(from);
    values_[id] = values_[from];
    for (uint32_t part : here_)
      if (placed_.values[from].placement != value.placement && grid_.holds(value.placement, part))
        values_[id][part] =
            sliceOf(at(from, part), boxAt(placed_.values[from], part), boxAt(value, part));
  }
}

/// Where a page of a pool lies whose memory is that of several parts.
void PartsRun::settleHome(ValueId id) {
  PlacedValue &value = placed_.values[id];
  if (value.kind != PlacedKind::Page && value.kind != PlacedKind::Move)
    return;
  const PlacedChoice *choice = placed_.pageAt(id);
  bool isThere = choice && choice->page->fetched && id != *choice->page->fetched;
  if (isThere)
    value.placement[*placed_.pools[choice->page->pool].over].part = pools_.home(*choice);
}

/// What lies on the disk is there on all parts that need it, and goes into the memory that they have together.
void PartsRun::takeFromDisk(const PlacedChoice &choice) {
  const PlacedPage &page = *choice.page;
  std::vector<Value> found(grid_.count());
  settle(choice.first, choice.chosen);
  for (uint32_t part : here_)
    if (grid_.holds(placed_.values[*page.fetched].placement, part))
      found[part] = pools_.page(choice, part);
  values_[*page.fetched] = values_[page.kept] = std::move(found);
  if (page.stored)
    make(*page.stored, {});
  pools_.keepInMemory(choice);
}

/// Keeps a page that was missing; compares one that was found, if that is wanted.
void PartsRun::usePool(const PlacedChoice &choice, bool isMissing, const std::vector<Value> &args) {
  waitForMoves();
  if (isMissing)
    return pools_.keep(choice);
  if (!options_.pools.checks)
    return;
  if (choice.page->fetched)
    pools_.took(choice);
  auto [begin, end] = choice.arm(true);
  makeAll(begin, end, args);
  if (std::string why = pools_.difference(choice); !why.empty())
    stopAt(RunStatus::Assert, why, choice.page->keep->span);
}

} // namespace ptl::parts
