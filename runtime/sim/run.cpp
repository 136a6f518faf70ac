#include "runtime/sim/run.h"

#include "runtime/sim/group.h"

namespace ptl::rt::sim {

std::string toString(const SourceLocation &location) {
  if (location.file.empty())
    return location.name;
  return location.file + ":" + std::to_string(location.line) + ":" +
         std::to_string(location.column);
}

std::string_view nameOf(const Step &step) {
  static constexpr std::string_view names[] = {
#define STEP(kind, name) name,
#include "runtime/sim/steps.def"
  };
  return step.kind == StepKind::Instruction ? instructionInfo(step.instruction).mnemonic
                                            : names[static_cast<size_t>(step.kind)];
}

std::string checkArguments(const LaunchState &launch) {
  size_t pointers = 0, scalars = 0;
  for (const Parameter &parameter : launch.kernel.parameters)
    ++(parameter.isPointer ? pointers : scalars);
  if (pointers != launch.pointers.size() || scalars != launch.scalars.size())
    return "takes " + std::to_string(pointers) + " arrays and " + std::to_string(scalars) +
           " scalars, not " + std::to_string(launch.pointers.size()) + " and " +
           std::to_string(launch.scalars.size());
  return {};
}

namespace {

/// The pipes in the order in which a schedule prefers them.
constexpr Pipe kProgramOrder[] = {Pipe::V,    Pipe::M,   Pipe::MTE1, Pipe::MTE2,
                                  Pipe::MTE3, Pipe::FIX, Pipe::S};
constexpr Pipe kEagerOrder[] = {Pipe::S, Pipe::MTE2, Pipe::MTE1, Pipe::M,
                                Pipe::V, Pipe::FIX,  Pipe::MTE3};
constexpr Pipe kLazyOrder[] = {Pipe::S, Pipe::MTE3, Pipe::FIX, Pipe::V,
                               Pipe::M, Pipe::MTE1, Pipe::MTE2};

using Choice = Group::Choice;

/// Chooses one of the steps that can execute. A random schedule chooses either evenly or by ranks
/// that change from time to time: starving a pipe for a while finds more faults than an even mix.
class Chooser {
public:
  Chooser(const Options &options, std::mt19937_64 &random) : options_(options), random_(random) {
    const Pipe *order = options.schedule == Schedule::Program ? kProgramOrder
                        : options.schedule == Schedule::Eager ? kEagerOrder
                                                              : kLazyOrder;
    for (int rank = 0; rank < static_cast<int>(kNumPipes); ++rank)
      ranks_[static_cast<size_t>(order[rank])] = rank;
  }

  size_t choose(const std::vector<Choice> &choices) {
    if (options_.schedule == Schedule::Random && left_-- <= 0)
      draw();
    if (options_.schedule == Schedule::Random && even_)
      return random_() % choices.size();
    size_t best = 0;
    for (size_t i = 1; i < choices.size(); ++i)
      if (rankOf(choices[i]) < rankOf(choices[best]))
        best = i;
    return best;
  }

private:
  int rankOf(const Choice &choice) const {
    int core = options_.schedule == Schedule::Random
                   ? coreRanks_[static_cast<size_t>(choice.core->index()) % 4]
                   : 0;
    return ranks_[static_cast<size_t>(choice.pipe)] + core;
  }
  void draw() {
    even_ = random_() % 3 == 0;
    left_ = static_cast<int>(random_() % 60);
    std::shuffle(std::begin(ranks_), std::end(ranks_), random_);
    for (int &rank : coreRanks_)
      rank = static_cast<int>(random_() % 8);
  }

  const Options &options_;
  std::mt19937_64 &random_;
  int ranks_[kNumPipes] = {};
  int coreRanks_[4] = {};
  bool even_ = false;
  int left_ = 0;
};

class Run {
public:
  explicit Run(LaunchState &launch) : launch_(launch), chooser_(launch.options, launch.random) {}

  void all() {
    int64_t atOnce = std::max(launch_.options.groupsAtOnce, 1);
    while (launch_.result.ok && (next_ < launch_.blocks || !groups_.empty())) {
      while (next_ < launch_.blocks && static_cast<int64_t>(groups_.size()) < atOnce)
        if (!start())
          return;
      if (!step())
        return;
    }
  }

private:
  bool start() {
    groups_.push_back(std::make_unique<Group>(launch_, next_++));
    for (const std::unique_ptr<Core> &core : groups_.back()->cores())
      if (!core->begin())
        return false;
    return true;
  }

  bool step() {
    choices_.clear();
    for (const std::unique_ptr<Group> &group : groups_)
      group->collect(choices_);
    if (choices_.empty())
      return end();
    Choice choice = choices_[chooser_.choose(choices_)];
    return choice.core->advance(choice.pipe);
  }

  /// Handles the state in which nothing can go on: some groups are done, or all wait for ever.
  bool end() {
    bool any = false;
    for (size_t i = 0; i < groups_.size();) {
      // Finished groups are removed, which makes room for the next blocks. If none is finished, the
      // others wait for something that never comes.
      if (!groups_[i]->isFinished()) {
        ++i;
        continue;
      }
      if (!groups_[i]->finish())
        return false;
      if (launch_.options.glance)
        for (const std::unique_ptr<Core> &core : groups_[i]->cores())
          if (int64_t &rounds = launch_.result.rounds[groups_[i]->block()]; true)
            rounds = std::max(rounds, core->outermostRounds());
      groups_.erase(groups_.begin() + static_cast<ptrdiff_t>(i));
      any = true;
    }
    if (any)
      return true;
    Group &stuck = *groups_.front();
    return stuck.fail("block " + std::to_string(stuck.block()) + " of `" + launch_.kernel.name +
                      "` waits forever:" + stuck.describeWaits());
  }

  LaunchState &launch_;
  Chooser chooser_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<Choice> choices_;
  int64_t next_ = 0;
};

} // namespace

Result runKernel(const Kernel &kernel, const Chip &chip, std::span<const GlobalArray> pointers,
                 std::span<const Scalar> scalars, int64_t blocks, const Options &options) {
  LaunchState launch{
      kernel, chip, pointers, scalars, blocks, options, std::mt19937_64(options.seed), {}, 0};
  if (std::string wrong = checkArguments(launch); !wrong.empty())
    return {.ok = false, .error = "`" + kernel.name + "` " + wrong, .failedCheck = {}};
  Run(launch).all();
  return launch.result;
}

Result runLaunches(std::span<const Launch> launches, const Chip &chip,
                   std::span<const GlobalArray> arrays, const Options &options) {
  std::vector<GlobalArray> all(arrays.begin(), arrays.end());
  std::vector<std::vector<uint8_t>> workspaces;
  for (GlobalArray &array : all)
    // Workspaces have no memory of the caller. They begin with a pattern, so that a kernel that
    // reads elements which nobody wrote does not happen to read zeros.
    if (!array.data && array.bytes) {
      workspaces.emplace_back(static_cast<size_t>(array.bytes));
      poison(workspaces.back().data(), array.bytes);
      array.data = workspaces.back().data();
    }
  // Launches run one after the other, since one may read what an earlier one wrote.
  Result total;
  for (const Launch &launch : launches) {
    std::vector<GlobalArray> pointers;
    for (int32_t index : launch.pointers)
      pointers.push_back(all[static_cast<size_t>(index)]);
    Result result =
        runKernel(*launch.kernel, chip, pointers, launch.scalars, launch.blocks, options);
    total.instructions += result.instructions;
    if (!result.ok) {
      result.instructions = total.instructions;
      return result;
    }
  }
  return total;
}

} // namespace ptl::rt::sim
