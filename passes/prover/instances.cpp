#include "passes/prover/instances.h"

#include "passes/prover/evaluator.h"

#include <algorithm>
#include <optional>
#include <set>

namespace ptl::prove {

static constexpr int64_t kLargestInput = int64_t(1) << 20;
/// What all inputs are at first: usual extents of tiles and lengths, tried one after the other until every loop can be made to run two
/// turns.
static constexpr int64_t kBases[] = {1, 128, 16, 4096};
static constexpr size_t kMostInstances = 256, kMostCombined = 1024;
static constexpr int64_t kFullTiles = 4096; ///< a length that no tile has
/// A core group gets so many points, or more as long as they have fewer operations than this.
static constexpr int64_t kFewestPoints = 2, kOperations = 3000;
/// Operations of one execution and of all of them, as far as they can be guessed; well inside of
/// what is run (`forEachExecution`).
static constexpr int64_t kEventsOfOne = 40000, kEventsInAll = 300000;

namespace {

/// The value of a decision as a function of one input.
class Along {
public:
  Along(const Decision &decision, uint32_t input, Inputs values)
      : decision_(decision), input_(input), values_(std::move(values)) {}

  int64_t measure(int64_t value) {
    // Evaluating a decision costs far more than searching the few known values.
    for (auto [known, turns] : known_)
      if (known == value)
        return turns;
    values_[input_] = value;
    return known_.emplace_back(value, decision_.measure(values_)).second;
  }
  /// The smallest value with which the loop runs `turns` turns or more; nothing if there is none.
  std::optional<int64_t> reaching(int64_t turns);

private:
  const Decision &decision_;
  uint32_t input_;
  Inputs values_;
  std::vector<std::pair<int64_t, int64_t>> known_;
};

struct Choice {
  int64_t value;
  bool core; ///< worth combining with the choices of other inputs
  bool operator<(const Choice &other) const { return value < other.value; }
};

class Chooser {
public:
  Chooser(const Kernel &kernel, bool thorough)
      : kernel_(kernel), thorough_(thorough), choices_(kernel.inputs.size()) {
    // Decisions point to evaluators, so the vector must not move them.
    evaluators_.reserve(kernel.functions.size());
    for (uint32_t i = 0; i < kernel.inputs.size(); ++i)
      if (isOfGroups(i))
        (kernel.inputs[i].role == Input::Group ? group_ : groups_) = i;
    for (const Function &function : kernel.functions) {
      evaluators_.emplace_back(function);
      for (const Body &body : function.bodies)
        for (const Step &step : body.steps)
          addDecision(step);
    }
  }
  std::vector<Inputs> run();

private:
  void addDecision(const Step &step);
  void chooseDefaults();
  void choose(uint32_t input);
  void chooseTurns(uint32_t input, const Decision &decision);
  void chooseBranch(uint32_t input, const Decision &decision);
  void add(uint32_t input, int64_t value, bool core);
  void combine(std::set<Inputs> &instances) const;
  void combine(uint32_t a, uint32_t b, std::set<Inputs> &instances) const;
  int64_t costOf(const Function &function, Evaluator &evaluator, uint32_t body,
                 const Inputs &values) const;
  /// About how many operations an execution has: of each function, and with both vector cores.
  struct Cost {
    int64_t once = 0, events = 0;
  };
  Cost costOf(const Inputs &values);
  int64_t turnsOf(const Function &function, Evaluator &evaluator, const Step &step,
                  const Inputs &values) const;
  int64_t pointsOf(const Inputs &values) const;
  void spread(Inputs &values, int64_t fewest = kFewestPoints);
  void addRotation(const std::vector<Inputs> &whole, std::vector<Inputs> &instances,
                   std::vector<Cost> &costs);
  bool runsLess(const Inputs &values, uint32_t input, int64_t value) const;
  bool cheapen(Inputs &values);
  void keepBudget(std::vector<Inputs> &instances, std::vector<Cost> &costs);
  size_t failing(const Inputs &values) const;
  std::vector<uint32_t> toChange(const Decision &requirement) const;
  bool meet(Inputs &values) const;
  bool isOfGroups(uint32_t input) const {
    return kernel_.inputs[input].role == Input::Group ||
           kernel_.inputs[input].role == Input::Groups;
  }

  const Kernel &kernel_;
  bool thorough_;
  std::vector<Evaluator> evaluators_;
  std::vector<Decision> requirements_;
  uint32_t group_ = kNone, groups_ = kNone; ///< the inputs that say which core group of how many
  std::vector<Decision> points_;            ///< loops over the points of a core group
  std::vector<Decision> decisions_;
  bool hasWhile_ = false; ///< a loop whose turns are not counted here
  Inputs defaults_;
  std::vector<std::set<Choice>> choices_;
};

} // namespace

void Chooser::addDecision(const Step &step) {
  hasWhile_ |= step.kind == StepKind::While;
  if (step.kind == StepKind::Assume) {
    // A requirement of the kernel is measured like a branch: 0 means that it fails.
    Evaluator &evaluator = evaluators_.back();
    requirements_.push_back({&evaluator, &step, evaluator.inputsOf(step.args[0])});
    return;
  }
  if (step.kind != StepKind::For && step.kind != StepKind::If)
    return;
  Decision decision{&evaluators_.back(), &step, {}};
  if (step.kind == StepKind::For)
    decision.rotation = kernel_.functions[evaluators_.size() - 1].bodies[step.body].rotation;
  // A loop depends on its lower bound, upper bound and step; a branch on its condition.
  for (size_t i = 0; i < (step.kind == StepKind::For ? 3 : 1); ++i)
    decision.inputs.merge(evaluators_.back().inputsOf(step.args[i]));
  // A loop whose bounds depend on the number of core groups goes over the points of the grid.
  if (step.kind == StepKind::For && decision.inputs.count(groups_))
    points_.push_back(decision);
  // `spread` chooses the core group at the end, so it is no input to vary.
  decision.inputs.erase(group_);
  decision.inputs.erase(groups_);
  if (!decision.inputs.empty())
    decisions_.push_back(std::move(decision));
}

std::optional<int64_t> Along::reaching(int64_t turns) {
  // An exponential search for an upper bound, then a binary search below it. Both take it that more of an input never gives fewer turns.
  int64_t high = 1;
  while (measure(high) < turns) {
    high *= 2;
    if (high > kLargestInput)
      return std::nullopt;
  }
  int64_t low = high / 2; // the least that may be enough
  while (low < high) {
    int64_t middle = (low + high) / 2;
    if (measure(middle) >= turns)
      high = middle;
    else
      low = middle + 1;
  }
  return high;
}

// Start where every loop can be made to run two turns by its inputs alone, then use those values.
void Chooser::chooseDefaults() {
  auto alone = [&](Inputs values) {
    if (group_ != kNone)
      values[group_] = 0;
    if (groups_ != kNone)
      values[groups_] = 1;
    return values;
  };
  // The first base is taken even if it reaches nothing, so that defaults always exist.
  defaults_ = alone(Inputs(kernel_.inputs.size(), 1));
  size_t best = 0, most = 0; // loops that run two turns, and that could
  for (const Decision &decision : decisions_)
    most += decision.inputs.size();
  for (int64_t base : kBases) {
    // A base with which each loop can run exactly two turns is as good as it gets.
    if (best == most && base != kBases[0])
      break;
    Inputs values = alone(Inputs(kernel_.inputs.size(), base));
    for (size_t i = 0; i < values.size(); ++i)
      if (kernel_.inputs[i].boolean)
        values[i] = 1;
    // A base is as good as the number of loops that it brings within reach.
    size_t reached = 0;
    for (const Decision &decision : decisions_)
      for (uint32_t input : decision.inputs) {
        Along along(decision, input, values);
        // A loop that jumps from one turn to three cannot be made to run two by this input.
        auto two = along.reaching(2);
        reached += two && along.measure(*two) == 2;
      }
    if (base == kBases[0] || reached > best) {
      best = reached;
      defaults_ = values;
    }
  }
  for (const Decision &decision : decisions_) {
    if (decision.step->kind != StepKind::For)
      continue;
    for (uint32_t input : decision.inputs) {
      Along along(decision, input, defaults_);
      auto two = along.reaching(2), three = along.reaching(3);
      // The largest value that still gives two turns makes all tiles full.
      if (two)
        defaults_[input] = std::max(defaults_[input], three && *three > *two ? *three - 1 : *two);
    }
  }
}

void Chooser::add(uint32_t input, int64_t value, bool core) {
  auto [entry, isNew] = choices_[input].insert({value, core});
  // A set keeps the first of equal values, so a choice that became worth combining is entered
  // again.
  if (!isNew && core && !entry->core) {
    choices_[input].erase(entry);
    choices_[input].insert({value, true});
  }
}

// Full tiles: the largest value with that many turns; cut ones: the smallest.
void Chooser::chooseTurns(uint32_t input, const Decision &decision) {
  int64_t r = decision.rotation;
  Along along(decision, input, defaults_);
  // Zero, one and two turns have edges of their own; r + 1 turns come back to the first state of
  // the rotation.
  std::vector<int64_t> targets = {0, 1, 2, r + 1};
  if (thorough_)
    targets.insert(targets.end(), {3, r, r + 2, 2 * r + 1});
  for (int64_t turns : targets) {
    bool core = (thorough_ ? turns <= 2 : turns <= 1) || turns == r + 1;
    auto more = along.reaching(turns + 1);
    // The value below the first one with more turns is the largest one with these, so its last tile
    // is full.
    if (more && *more > 0 && along.measure(*more - 1) == turns)
      add(input, *more - 1, core);
    bool cuts = turns && (thorough_ || turns <= 2);
    auto least = cuts ? along.reaching(turns) : std::nullopt;
    if (least)
      add(input, *least, false);
  }
}

void Chooser::chooseBranch(uint32_t input, const Decision &decision) {
  // A branch changes at the constants that it compares with, or at small numbers.
  std::set<int64_t> worthTrying = {0, 1, 2, 3};
  for (int64_t constant : kernel_.constants)
    for (int64_t value : {constant - 1, constant, constant + 1})
      if (value >= 0 && value <= kLargestInput)
        worthTrying.insert(value);
  bool seen[2] = {}, usual = decision.measure(defaults_) != 0;
  for (int64_t value : worthTrying) {
    Inputs values = defaults_;
    // Only this input varies, so that what the branch does is due to it.
    values[input] = value;
    bool taken = decision.measure(values) != 0;
    // One value for each way is enough.
    if (!std::exchange(seen[taken], true))
      add(input, value, thorough_ || taken != usual);
  }
}

void Chooser::choose(uint32_t input) {
  if (isOfGroups(input))
    return;
  add(input, defaults_[input], true);
  if (kernel_.inputs[input].boolean) {
    add(input, 0, true);
    add(input, 1, true);
    return;
  }
  bool hasTurns = false;
  for (const Decision &decision : decisions_)
    if (decision.inputs.count(input)) {
      bool isLoop = decision.step->kind == StepKind::For;
      isLoop ? chooseTurns(input, decision) : chooseBranch(input, decision);
      hasTurns |= isLoop;
    }
  if (kernel_.inputs[input].role == Input::Data) {
    // A count from data may be 0, so that nothing is done.
    add(input, 0, true);
  } else if (!hasTurns && !hasWhile_) { // how much of tiles is valid: little, and all of it
    add(input, 1, false);
    add(input, kFullTiles, false);
  }
}

// Each choice alone, and pairs of those that are worth it. Where a kernel has so many lengths that
// these are too many to look at, the pairs are of lengths that stand near each other.
void Chooser::combine(std::set<Inputs> &instances) const {
  auto count = static_cast<uint32_t>(kernel_.inputs.size());
  for (uint32_t input = 0; input < count; ++input)
    for (const Choice &choice : choices_[input]) {
      Inputs values = defaults_;
      values[input] = choice.value;
      instances.insert(values);
    }
  for (uint32_t distance = 1; distance < count; ++distance)
    for (uint32_t a = 0; a + distance < count; ++a) {
      if (instances.size() > kMostCombined)
        // The limit keeps the choosing cheap; `run` takes at most `kMostInstances` of them.
        return;
      combine(a, a + distance, instances);
    }
}

void Chooser::combine(uint32_t a, uint32_t b, std::set<Inputs> &instances) const {
  for (const Choice &first : choices_[a])
    for (const Choice &second : choices_[b]) {
      // An instance in which both inputs are large takes the product of their times, so only a thorough proof has them.
      bool isLong = first.value > defaults_[a] && second.value > defaults_[b];
      if (!first.core || !second.core || (isLong && !thorough_))
        continue;
      Inputs both = defaults_;
      both[a] = first.value;
      both[b] = second.value;
      instances.insert(both);
    }
}

// The number of iterations that are executed: some of those of long loops are left out.
int64_t Chooser::turnsOf(const Function &function, Evaluator &evaluator, const Step &step,
                         const Inputs &values) const {
  int64_t turns = Decision{&evaluator, &step, {}}.measure(values);
  const Body &body = function.bodies[step.body];
  // Without queues at most four rotations of a loop are executed (`long_loops.cpp`).
  if (!body.hasQueue)
    return std::min(turns, body.ofElements ? 4 : 4 * body.rotation);
  return kernel_.rotatesTogether ? std::min(turns, 6 * kernel_.rotation) : turns;
}

// About how many operations a body takes, with loops at their first turn.
int64_t Chooser::costOf(const Function &function, Evaluator &evaluator, uint32_t body,
                        const Inputs &values) const {
  int64_t cost = 1;
  for (const Step &step : function.bodies[body].steps) {
    if (step.kind >= StepKind::Pipe && step.kind <= StepKind::Free)
      ++cost;
    else if (step.kind == StepKind::For)
      cost += turnsOf(function, evaluator, step, values) *
              costOf(function, evaluator, step.body, values);
    // The more expensive branch is an upper estimate.
    else if (step.kind == StepKind::If)
      cost += std::max(costOf(function, evaluator, step.body, values),
                       costOf(function, evaluator, step.other, values));
    else if (step.kind == StepKind::While)
      cost += costOf(function, evaluator, step.body, values) +
              costOf(function, evaluator, step.other, values);
  }
  return cost;
}

Chooser::Cost Chooser::costOf(const Inputs &values) {
  Cost cost;
  for (size_t i = 0; i < evaluators_.size(); ++i) {
    const Function &function = kernel_.functions[i];
    // Beside a cube core, or where the code asks for its number, both vector cores run the
    // function.
    bool isOnBoth = !function.cube && (function.usesSubBlock || evaluators_.size() > 1);
    int64_t once = costOf(function, evaluators_[i], 0, values);
    cost.once += once;
    cost.events += isOnBoth ? 2 * once : once;
  }
  return cost;
}

/// The number of requirements that do not hold.
size_t Chooser::failing(const Inputs &values) const {
  return static_cast<size_t>(
      std::count_if(requirements_.begin(), requirements_.end(),
                    [&](const Decision &each) { return each.measure(values) == 0; }));
}

/// The inputs of a requirement; those first that decide nothing, so that what was chosen for the
/// others stays.
std::vector<uint32_t> Chooser::toChange(const Decision &requirement) const {
  std::vector<uint32_t> inputs(requirement.inputs.begin(), requirement.inputs.end());
  std::stable_partition(inputs.begin(), inputs.end(), [&](uint32_t input) {
    return std::none_of(decisions_.begin(), decisions_.end(), [&](const Decision &decision) {
      return decision.inputs.count(input) != 0;
    });
  });
  return inputs;
}

// Changes inputs of what the kernel requires until all of it holds: to what it is compared with, to
// multiples of that, to the value of another input. False if that does not lead there.
bool Chooser::meet(Inputs &values) const {
  // This is a greedy descent: a change is kept if fewer requirements fail with it.
  for (size_t open = failing(values); open > 0;) {
    size_t before = open;
    for (const Decision &requirement : requirements_) {
      if (requirement.measure(values) != 0)
        continue;
      for (uint32_t input : toChange(requirement)) {
        std::vector<int64_t> candidates = {0, 1};
        for (int64_t constant : kernel_.constants)
          for (int64_t near : {constant - 1, constant, constant + 1})
            candidates.push_back(near);
        for (int64_t constant : kernel_.constants)
          if (constant > 1) {
            candidates.push_back(values[input] / constant * constant);
            candidates.push_back((values[input] / constant + 1) * constant);
          }
        for (uint32_t other : requirement.inputs)
          candidates.push_back(values[other]);
        // Candidates nearest to the wanted number come first.
        std::sort(candidates.begin(), candidates.end(), [&](int64_t a, int64_t b) {
          return std::pair(std::abs(a - values[input]), a) <
                 std::pair(std::abs(b - values[input]), b);
        });
        // Only this input changes, and the first candidate after which fewer requirements fail is
        // kept.
        Inputs tried = values;
        for (int64_t candidate : candidates) {
          tried[input] = candidate;
          if (candidate < 0 || candidate > kLargestInput || failing(tried) >= open)
            continue;
          values = tried;
          open = failing(values);
          break;
        }
      }
    }
    // No input of any failing requirement helped, so the search is at a local minimum.
    if (open == before)
      return false;
  }
  return true;
}

/// The number of points of the grid that the core group has.
int64_t Chooser::pointsOf(const Inputs &values) const {
  int64_t points = 0;
  for (const Decision &loop : points_)
    points = std::max(points, loop.measure(values));
  return points;
}

// Many points are dealt to many core groups, so that one has a few of them, the last among them.
// What sizes decide inside a point needs no more points for that.
void Chooser::spread(Inputs &values, int64_t fewest) {
  int64_t points = pointsOf(values);
  // The cost of one point decides how many points fit into the budget of operations.
  int64_t each = costOf(values).once / std::max<int64_t>(points, 1) + 1;
  int64_t wanted =
      // More points than two rotations and one show nothing new.
      std::clamp<int64_t>(kOperations / each, fewest, std::max(fewest, 2 * kernel_.rotation + 1));
  if (points <= wanted || groups_ == kNone || group_ == kNone)
    return;
  values[groups_] = (points + wanted - 1) / wanted;
  // The group of the last point is the interesting one: there tiles may be shorter than elsewhere.
  values[group_] = (points - 1) % values[groups_];
  // A loop that is cut otherwise may leave this group empty, and then the first group is taken.
  if (pointsOf(values) == 0)
    values[group_] = 0;
}

// If points have many operations, few points are run, and these may not reach every state of the
// rotations. Then this adds the instance that has enough points with the fewest operations. `whole`
// has the instances before points were dealt to core groups.
void Chooser::addRotation(const std::vector<Inputs> &whole, std::vector<Inputs> &instances,
                          std::vector<Cost> &costs) {
  int64_t wanted = kernel_.rotation + 1;
  auto suffices = [&](const Inputs &values) { return pointsOf(values) >= wanted; };
  // Nothing is to be added where groups do not exist or an instance has enough points.
  if (groups_ == kNone || std::any_of(instances.begin(), instances.end(), suffices))
    return;
  std::optional<Inputs> best;
  Cost least;
  for (const Inputs &values : whole) {
    Inputs tried = values;
    spread(tried, wanted);
    // If no number of groups leaves exactly enough, one group takes all points.
    if (!suffices(tried))
      tried = values;
    Cost cost = costOf(tried);
    if (!suffices(tried) || cost.events > kEventsOfOne || (best && cost.events >= least.events))
      continue;
    best = std::move(tried);
    least = cost;
  }
  if (best) {
    instances.push_back(std::move(*best));
    costs.push_back(least);
  }
}

/// Whether loops run fewer turns with another value of an input, but all that run still do.
bool Chooser::runsLess(const Inputs &values, uint32_t input, int64_t value) const {
  Inputs tried = values;
  tried[input] = value;
  bool less = false;
  for (const Decision &decision : decisions_) {
    if (decision.step->kind != StepKind::For || !decision.inputs.count(input))
      continue;
    int64_t before = decision.measure(values), after = decision.measure(tried);
    // A loop that does not run at all would hide the faults in it.
    if (before > 0 && after == 0)
      return false;
    less |= after < before;
  }
  // A smaller value must not break what the kernel requires.
  return less && failing(tried) <= failing(values);
}

/// Among the inputs that still have their usual value, gives the one whose loops then take the
/// fewest operations its next smaller choice. False if there is none.
bool Chooser::cheapen(Inputs &values) {
  std::optional<Inputs> best;
  int64_t fewest = costOf(values).events;
  for (uint32_t input = 0; input < values.size(); ++input) {
    if (isOfGroups(input) || values[input] != defaults_[input])
      continue;
    // Choices are sorted, so the next smaller one that runs fewer turns is searched downwards.
    auto next = choices_[input].lower_bound({values[input], false});
    while (next != choices_[input].begin() && !runsLess(values, input, std::prev(next)->value))
      --next;
    if (next == choices_[input].begin())
      continue;
    Inputs tried = values;
    tried[input] = std::prev(next)->value;
    // Another size has another number of points, so the deal to the groups is made again.
    if (group_ != kNone && groups_ != kNone) {
      tried[group_] = 0;
      tried[groups_] = 1;
      spread(tried);
    }
    if (int64_t events = costOf(tried).events; events < fewest) {
      fewest = events;
      best = std::move(tried);
    }
  }
  if (best)
    values = std::move(*best);
  return best.has_value();
}

// In deep loop nests, two iterations of each loop around the long one are too many to run; the most
// expensive executions then have one iteration of some of these loops.
void Chooser::keepBudget(std::vector<Inputs> &instances, std::vector<Cost> &costs) {
  auto fewer = [](const Cost &a, const Cost &b) { return a.events < b.events; };
  for (;;) {
    int64_t all = 0;
    for (const Cost &cost : costs)
      all += cost.events;
    // The most expensive execution is made cheaper until both budgets hold or nothing helps.
    auto most = std::max_element(costs.begin(), costs.end(), fewer);
    if (most == costs.end() || (all <= kEventsInAll && most->events <= kEventsOfOne))
      return;
    Inputs &values = instances[static_cast<size_t>(most - costs.begin())];
    if (!cheapen(values))
      return;
    *most = costOf(values);
  }
}

std::vector<Inputs> Chooser::run() {
  chooseDefaults();
  for (uint32_t input = 0; input < kernel_.inputs.size(); ++input)
    choose(input);
  std::set<Inputs> instances = {defaults_};
  combine(instances);
  std::vector<Inputs> ordered(instances.begin(), instances.end());
  std::vector<std::pair<int64_t, size_t>> order;
  // An instance that cannot meet the requirements is left to `Assume`, which excludes its
  // execution.
  for (Inputs &values : ordered)
    meet(values);
  // Meeting the requirements may have made instances equal.
  // Equal ones stand side by side then.
  std::sort(ordered.begin(), ordered.end());
  ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
  std::vector<Inputs> whole = ordered;
  std::vector<Cost> costs;
  for (Inputs &values : ordered) {
    spread(values);
    costs.push_back(costOf(values));
  }
  addRotation(whole, ordered, costs);
  keepBudget(ordered, costs);
  for (size_t i = 0; i < ordered.size(); ++i)
    order.emplace_back(costs[i].once, i);
  // Short executions come first, so that a finding is shown with the smallest sizes.
  std::sort(order.begin(), order.end());
  std::vector<Inputs> result;
  for (auto [turns, i] : order)
    if (result.size() < kMostInstances)
      result.push_back(ordered[i]);
  return result;
}

std::vector<Inputs> instancesOf(const Kernel &kernel, bool thorough) {
  return Chooser(kernel, thorough).run();
}

} // namespace ptl::prove
