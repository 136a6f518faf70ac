#include "codegen/parts/time_parts.h"

#include "codegen/parts/move_rows.h"
#include "frontend/base/elem_type.h"

#include <algorithm>
#include <deque>
#include <map>

namespace ptl::parts {

using movement::ChipTask;
using movement::StepList;
using movement::TimedMove;

std::vector<uint32_t> chipsOf(const std::vector<PlacedLevel> &levels, const Grid &grid,
                              const movement::Fabric &fabric, std::string &why) {
  std::vector<uint32_t> chips(grid.count());
  uint32_t stride = 1;
  size_t known = 0;
  for (const movement::FabricLevel &level : fabric.levels) {
    uint32_t count = 1;
    for (size_t i = 0; i < levels.size(); ++i)
      if (levels[i].machineLevel == level.name) {
        count *= grid.count(i);
        ++known;
      }
    if (count > level.count)
      why = "there are " + std::to_string(level.count) + " " + level.name +
            "s in each part of the next level, not " + std::to_string(count);
    for (uint32_t part = 0; part < grid.count(); ++part) {
      uint32_t number = 0; // Of the axes of a mesh, the last one counts fastest.
      for (size_t i = 0; i < levels.size(); ++i)
        if (levels[i].machineLevel == level.name)
          number = number * grid.count(i) + grid.coordinate(part, i);
      chips[part] += number * stride;
    }
    stride *= level.count;
  }
  if (known < levels.size())
    why = "its levels are others than those that the arrays lie over";
  return chips;
}

namespace {

/// The steps of movements, made once for each request and place of its chips on the fabric.
class StepsMaker {
public:
  StepsMaker(const TimeQuestion &question, int64_t elementBytes, double start, MoveTime &time)
      : question_(question), elementBytes_(elementBytes), start_(start), time_(time) {}

  StepList operator()(const movement::Request &request, const std::vector<uint32_t> &parts) {
    for (const auto &[known, list] : made_)
      if (isSame(known, request))
        return list;
    std::vector<uint32_t> chips;
    for (uint32_t part : parts)
      chips.push_back(question_.chips[part]);
    movement::ChosenSteps chosen =
        movement::chooseSteps(request, elementBytes_, question_.fabric, chips, start_);
    if (chosen.seconds > time_.alone || made_.empty()) {
      time_.alone = chosen.seconds;
      time_.algorithm = chosen.list.algorithm;
      time_.limit = chosen.limit;
      time_.limitShare = chosen.limitShare;
    }
    time_.sentBytes =
        std::max(time_.sentBytes, movement::mostElementsSent(chosen.list) * elementBytes_);
    made_.emplace_back(request, chosen.list);
    return std::move(chosen.list);
  }

private:
  /// Groups of one movement have chips at like places.
  static bool isSame(const movement::Request &a, const movement::Request &b) {
    return a.kind == b.kind && a.shape == b.shape && a.ranks == b.ranks &&
           a.fromAxis == b.fromAxis && a.toAxis == b.toAxis && a.root == b.root &&
           a.sources == b.sources && a.results == b.results && a.counts == b.counts;
  }

  const TimeQuestion &question_;
  int64_t elementBytes_;
  double start_;
  MoveTime &time_;
  std::vector<std::pair<movement::Request, StepList>> made_;
};

/// Seconds before a movement of the program begins.
double startOf(const TimeQuestion &question, const PlacedValue &value) {
  double start = 0;
  const std::vector<PlacedLevel> &levels = question.placed.levels;
  for (size_t i = 0; i < levels.size(); ++i)
    for (const movement::FabricLevel &level : question.fabric.levels)
      if (level.name == levels[i].machineLevel &&
          (i == value.level || value.movement->takes == MovementTakes::Axes ||
           std::ranges::find(value.over, i) != value.over.end()))
        start = std::max(start, level.start);
  return start;
}

std::vector<int64_t> shapeOf(const TimeQuestion &question, const PlacedValue &value) {
  std::vector<int64_t> shape;
  for (Dim dim : value.shape)
    shape.push_back(question.number(dim));
  return shape;
}
std::vector<int64_t> shapeOf(const TimeQuestion &question, ValueId id) {
  return shapeOf(question, question.placed.values[id]);
}

/// The steps of a movement, and those before them that tell how many rows there are.
struct TimedGroups {
  std::vector<GroupMove> before, groups;
};

/// The parts that move something with each other.
uint64_t ranksOf(const TimeQuestion &question, const PlacedValue &value) {
  if (value.movement->takes == MovementTakes::Axes)
    return question.grid.count();
  if (value.movement->takes != MovementTakes::Rows)
    return question.grid.count(value.level);
  uint64_t ranks = 1;
  for (size_t level : value.over)
    ranks *= question.grid.count(level);
  return ranks;
}

/// The groups of a movement, with the steps of the least time; what that is goes into `time`.
std::optional<TimedGroups> timedGroups(const TimeQuestion &question, ValueId id,
                                       uint64_t mostMessages, MoveTime &time, std::string &why) {
  const PlacedValue &value = question.placed.values[id];
  time.value = id;
  uint64_t ranks = ranksOf(question, value);
  if (ranks * question.grid.count() > mostMessages) {
    why = "`" + std::string(value.movement->name) + "` among " + std::to_string(ranks) +
          " parts has more than " + std::to_string(mostMessages) + " messages";
    return std::nullopt;
  }
  double start = startOf(question, value);
  StepsMaker maker(question, elemInfo(value.elem).storageBytes, start, time);
  StepsFor stepsFor = [&](const movement::Request &request, const std::vector<uint32_t> &group) {
    return maker(request, group);
  };
  if (value.movement->takes != MovementTakes::Rows)
    return TimedGroups{{},
                       groupsOf(question.grid, value,
                                question.placed.values[*value.operands[0]].placement,
                                shapeOf(question, id), stepsFor)};
  MoveTime counting;
  StepsMaker countsMaker(question, kRowCountBytes, start, counting);
  EvenRows even = evenRowsOf(
      question.grid, question.placed, id,
      [&](const PlacedValue &of) { return shapeOf(question, of); },
      [&](const movement::Request &request, const std::vector<uint32_t> &group) {
        return countsMaker(request, group);
      },
      stepsFor);
  time.alone += counting.alone;
  time.sentBytes += counting.sentBytes;
  return TimedGroups{std::move(even.counts), std::move(even.rows)};
}

class PartsTimer {
public:
  PartsTimer(const TimeQuestion &question, std::string &why)
      : question_(question), placed_(question.placed), grid_(question.grid), why_(why),
        ready_(placed_.values.size(), std::vector<std::vector<uint32_t>>(grid_.count())) {}

  std::optional<PartsTime> run() {
    if (!placed_.loops.empty()) {
      why_ =
          "the time of loops of programs on parts is not simulated; give it the body as a program";
      return std::nullopt;
    }
    stretches_ = stretchesOf(placed_);
    for (size_t i = 0; i < stretches_.size(); ++i)
      for (ValueId id : stretches_[i].values)
        home_[id] = i;
    isComputed_.resize(stretches_.size());
    for (ValueId id = 0; id < placed_.values.size(); ++id) {
      countBytes(id);
      if (placed_.values[id].kind == PlacedKind::Move && !move(id))
        return std::nullopt;
    }
    for (size_t stretch = 0; stretch < stretches_.size(); ++stretch)
      compute(stretch);
    finish();
    return std::move(time_);
  }

private:
  std::vector<int64_t> extents(ValueId id, uint32_t part) const {
    std::vector<int64_t> extents;
    for (const movement::Interval &axis :
         grid_.boxOf(placed_.values[id].placement, shapeOf(question_, id), part))
      extents.push_back(axis.length());
    return extents;
  }

  /// What part 0 has: blocks get shorter from there.
  void countBytes(ValueId id) {
    const PlacedValue &value = placed_.values[id];
    if (value.kind == PlacedKind::Slice || value.kind == PlacedKind::Reshape)
      return;
    int64_t bytes = value.shape.empty() ? 0 : elemInfo(value.elem).storageBytes;
    for (int64_t extent : extents(id, 0))
      bytes *= extent;
    time_.bytes += bytes;
  }

  /// Per part: the tasks that make a value.
  const std::vector<std::vector<uint32_t>> &ready(ValueId id) {
    const PlacedValue &value = placed_.values[id];
    if (auto stretch = home_.find(id); stretch != home_.end())
      compute(stretch->second);
    else if (value.kind != PlacedKind::Move && !value.operands.empty())
      ready_[id] = ready(*value.operands[0]);
    return ready_[id];
  }

  /// Stretches that it uses come first; none uses what it makes.
  void compute(size_t number) {
    const Stretch &stretch = stretches_[number];
    if (isComputed_[number])
      return;
    isComputed_[number] = true;
    for (ValueId input : stretch.inputs)
      ready(input);
    StretchTime &time = time_.stretches.emplace_back();
    time.first = stretch.values.front();
    for (uint32_t part = 0; part < grid_.count(); ++part) {
      if (!grid_.holds(placed_.values[stretch.values.back()].placement, part))
        continue;
      std::string source = sourceOf(
          placed_, stretch, [&](ValueId id) { return extents(id, part); }, question_.number);
      if (source.empty())
        continue;
      auto known = seconds_.find(source);
      if (known == seconds_.end())
        known = seconds_.emplace(source, question_.seconds(source)).first;
      if (known->second > time.seconds || time.source.empty()) {
        time.seconds = known->second;
        time.source = source;
      }
      ChipTask task{question_.chips[part], known->second, std::nullopt, 0, {}};
      for (ValueId input : stretch.inputs)
        task.after.insert(task.after.end(), ready_[input][part].begin(), ready_[input][part].end());
      add(std::move(task), false, time_.stretches.size() - 1);
      for (ValueId id : stretch.values)
        ready_[id][part] = {static_cast<uint32_t>(time_.tasks.size() - 1)};
    }
  }

  void add(ChipTask task, bool isMove, size_t number) {
    time_.tasks.push_back(std::move(task));
    kinds_.push_back({isMove, number});
  }

  bool move(ValueId id) {
    const PlacedValue &value = placed_.values[id];
    MoveTime &time = time_.moves.emplace_back();
    std::optional<TimedGroups> groups = timedGroups(question_, id, kMostMessages, time, why_);
    if (!groups)
      return false;
    for (std::optional<ValueId> operand : value.operands)
      for (uint32_t part = 0; part < grid_.count(); ++part) {
        const std::vector<uint32_t> &tasks = ready(*operand)[part];
        for (uint32_t task : tasks)
          if (std::ranges::find(ready_[id][part], task) == ready_[id][part].end())
            ready_[id][part].push_back(task);
      }
    carryOut(id, std::move(groups->before), kRowCountBytes);
    carryOut(id, std::move(groups->groups), elemInfo(value.elem).storageBytes);
    return true;
  }

  /// Adds the steps of groups behind all that a movement waits for.
  void carryOut(ValueId id, std::vector<GroupMove> groups, int64_t bytes) {
    double start = startOf(question_, placed_.values[id]);
    for (GroupMove &group : groups) {
      TimedMove timed{&lists_.emplace_back(std::move(group.list)), {}, bytes, start};
      for (uint32_t rank = 0; rank < group.parts.size(); ++rank) {
        uint32_t part = group.parts[rank];
        timed.chips.push_back(question_.chips[part]);
        add({question_.chips[part], 0, moves_.size(), rank, ready_[id][part]}, true,
            time_.moves.size() - 1);
        ready_[id][part] = {static_cast<uint32_t>(time_.tasks.size() - 1)};
      }
      moves_.push_back(std::move(timed));
      moveOf_.push_back(time_.moves.size() - 1);
    }
  }

  /// The whole in time, and again without each movement.
  void finish() {
    movement::TimelineOptions options{question_.keepsCarried};
    time_.timeline = movement::timelineOn(question_.fabric, moves_, time_.tasks, options);
    time_.seconds = time_.timeline.end;
    for (const auto &[isMove, number] : kinds_)
      time_.what.push_back(isMove ? time_.stretches.size() + number : number);
    std::map<uint32_t, double> computing;
    for (size_t task = 0; task < time_.tasks.size(); ++task) {
      const auto &stretch = time_.timeline.tasks[task];
      if (!kinds_[task].first) {
        double &sum = computing[time_.tasks[task].chip];
        sum += time_.tasks[task].seconds;
        time_.computing = std::max(time_.computing, sum);
        continue;
      }
      MoveTime &move = time_.moves[kinds_[task].second];
      move.begin = move.end == 0 ? stretch.begin : std::min(move.begin, stretch.begin);
      move.end = std::max(move.end, stretch.end);
    }
    for (size_t i = 0; i < time_.moves.size(); ++i)
      time_.moves[i].adds = time_.seconds - secondsWithout(i);
  }

  double secondsWithout(size_t move) const {
    std::vector<TimedMove> moves = moves_;
    std::vector<StepList> nothing;
    nothing.reserve(moves.size());
    for (size_t i = 0; i < moves.size(); ++i)
      if (moveOf_[i] == move) {
        StepList &empty = nothing.emplace_back();
        empty.ranks.resize(moves[i].chips.size());
        moves[i].list = &empty;
        moves[i].start = 0;
      }
    return movement::timelineOn(question_.fabric, moves, time_.tasks).end;
  }

  const TimeQuestion &question_;
  const PlacedProgram &placed_;
  const Grid &grid_;
  std::string &why_;
  PartsTime time_;
  std::vector<Stretch> stretches_;
  std::map<ValueId, size_t> home_;
  std::vector<bool> isComputed_;
  std::vector<std::vector<std::vector<uint32_t>>> ready_; ///< per value, per part: the tasks before
  std::map<std::string, double> seconds_;                 ///< by source
  std::deque<StepList> lists_;
  std::vector<TimedMove> moves_;
  std::vector<size_t> moveOf_;                 ///< per group
  std::vector<std::pair<bool, size_t>> kinds_; ///< per task
};

} // namespace

std::optional<PartsTime> timeOfParts(const TimeQuestion &question, std::string &why) {
  return PartsTimer(question, why).run();
}

std::optional<MoveTime> timeOfMove(const TimeQuestion &question, ValueId move,
                                   uint64_t mostMessages, std::string &why) {
  MoveTime time;
  bool isKnown = timedGroups(question, move, mostMessages, time, why).has_value();
  return isKnown ? std::optional(time) : std::nullopt;
}

} // namespace ptl::parts
