// After how many turns of each loop its slots, ids and queues are where they were.

#include "passes/prover/rotations.h"

#include <algorithm>
#include <numeric>

namespace ptl::prove {

namespace {

/// A rotation that is longer is not tried: its kernels are run for the shorter ones in it.
constexpr int64_t kLongestRotation = 16;

void lengthen(int64_t &rotation, int64_t by) {
  // Rotations that go by the same loop have all returned to their start after their least common
  // multiple.
  if (by > 1 && std::lcm(rotation, by) <= kLongestRotation)
    rotation = std::lcm(rotation, by);
}

class RotationFinder {
public:
  RotationFinder(Kernel &kernel, Function &function)
      : kernel_(kernel), function_(function), loops_(function.registers),
        queueOf_(function.registers, kNone) {
    for (const Body &body : function.bodies)
      for (const Step &step : body.steps)
        if (step.kind == StepKind::Open)
          queueOf_[step.dst] = static_cast<uint32_t>(step.imm);
  }

  void run() {
    // Values that a loop carries in a circle return to their start, so this repeats until nothing
    // changes.
    for (bool changed = true; changed;) {
      // Control is not looked at: a register follows every loop whose turns may decide its value.
      changed_ = false;
      for (const Body &body : function_.bodies)
        for (const Step &step : body.steps)
          follow(step);
      changed = changed_;
    }
    for (const Body &body : function_.bodies)
      for (const Step &step : body.steps)
        // A slot is chosen by a value modulo the number of slots, so the loop must turn that often.
        if (step.kind == StepKind::MultiGet)
          rotate(step.args[1], step.count);
        else if (step.kind == StepKind::Calc)
          rotateBy(step);
    turnQueues(0);
    for (const Body &body : function_.bodies)
      lengthen(kernel_.rotation, body.rotation);
  }

private:
  /// A loop by its body.
  using Loops = std::vector<uint32_t>;

  void add(uint32_t to, uint32_t loop) {
    // Loops are few, so a list is searched.
    if (to == kNone || std::find(loops_[to].begin(), loops_[to].end(), loop) != loops_[to].end())
      return;
    loops_[to].push_back(loop);
    changed_ = true;
  }
  void add(uint32_t to, const Loops &all) {
    // `all` may be the list that grows, hence the index.
    for (size_t i = 0; i < all.size(); ++i)
      add(to, all[i]);
  }
  void follow(const Step &step) {
    switch (step.kind) {
    case StepKind::Calc:
      for (uint32_t argument : step.args)
        if (argument != kNone)
          add(step.dst, loops_[argument]);
      break;
    case StepKind::For: {
      const std::vector<uint32_t> &parameters = function_.bodies[step.body].parameters;
      for (uint32_t parameter : parameters)
        // All values that a loop carries follow its turns.
        add(parameter, step.body);
      // The first parameter is the variable; its start may follow an outer loop.
      add(parameters[0], loops_[step.args[0]]);
      for (size_t i = 1; i < parameters.size(); ++i)
        carry(step.args[i + 2], parameters[i]);
      // What the body yields becomes the next iteration's parameter, and the result in the end.
      leave(step, step.body, 0);
      for (size_t i = 0; i < step.results.size(); ++i)
        carry(step.args[i + 3], step.results[i]);
      break;
    }
    case StepKind::If:
      leave(step, step.body, 0);
      leave(step, step.other, 0);
      break;
    case StepKind::While:
      // How often a `while` turns is not known, so everything in it follows it.
      for (uint32_t body : {step.body, step.other})
        for (uint32_t parameter : function_.bodies[body].parameters)
          add(parameter, step.body);
      for (uint32_t result : step.results)
        add(result, step.body);
      break;
    default:
      break;
    }
  }
  void carry(uint32_t from, uint32_t to) {
    // The list is copied, because both may be the same register.
    Loops loops = loops_[from];
    add(to, loops);
  }
  /// The values that a body yields go to the results, and to the next iteration.
  void leave(const Step &step, uint32_t body, size_t first) {
    if (body == kNone || function_.bodies[body].steps.empty())
      return;
    const Step &end = function_.bodies[body].steps.back();
    // Bodies that end in another way pass nothing on.
    if (end.kind != StepKind::Yield)
      return;
    const std::vector<uint32_t> &parameters = function_.bodies[body].parameters;
    for (size_t i = first; i < end.args.size(); ++i) {
      if (i < step.results.size())
        carry(end.args[i], step.results[i]);
      if (step.kind == StepKind::For && i + 1 < parameters.size())
        carry(end.args[i], parameters[i + 1]);
    }
  }

  void rotate(uint32_t value, int64_t count) {
    if (value != kNone)
      for (uint32_t loop : loops_[value])
        lengthen(function_.bodies[loop].rotation, count);
  }
  void rotateBy(const Step &step) {
    // A remainder by the number of ids chooses the id.
    auto calc = static_cast<Calc>(step.sub);
    if (step.rotates && (calc == Calc::Rem || calc == Calc::RemUnsigned || calc == Calc::And))
      rotate(step.args[0], step.rotates);
  }
  /// The queues that a body pushes to, pops from or frees, at any depth: it turns their slots.
  std::vector<uint32_t> turnQueues(uint32_t index) {
    std::vector<uint32_t> queues;
    for (const Step &step : function_.bodies[index].steps) {
      if (step.kind == StepKind::Push || step.kind == StepKind::Pop || step.kind == StepKind::Free)
        queues.push_back(queueOf_[step.args.back()]);
      bool hasBodies =
          step.kind == StepKind::For || step.kind == StepKind::If || step.kind == StepKind::While;
      // Pushes and pops within inner loops turn the queue for the outer one as well.
      for (uint32_t inner : {step.body, step.other})
        if (hasBodies && inner != kNone)
          for (uint32_t queue : turnQueues(inner))
            queues.push_back(queue);
    }
    std::sort(queues.begin(), queues.end());
    queues.erase(std::unique(queues.begin(), queues.end()), queues.end());
    for (uint32_t queue : queues)
      if (queue != kNone)
        for (const QueueSide *side : {&kernel_.queues[queue].cube, &kernel_.queues[queue].vector}) {
          lengthen(function_.bodies[index].rotation, side->slots);
          lengthen(function_.bodies[index].rotation, side->localSlots);
        }
    return queues;
  }

  Kernel &kernel_;
  Function &function_;
  std::vector<Loops> loops_; ///< register → the loops whose turns it follows
  std::vector<uint32_t> queueOf_;
  bool changed_ = false;
};

} // namespace

void findRotations(Kernel &kernel) {
  for (Function &function : kernel.functions)
    RotationFinder(kernel, function).run();
  kernel.rotatesTogether = true;
  for (const Function &function : kernel.functions)
    for (const Body &body : function.bodies)
      // If all queues return to their start together, one rotation is enough for the kernel.
      kernel.rotatesTogether &= !body.hasQueue || kernel.rotation % body.rotation == 0;
}

} // namespace ptl::prove
