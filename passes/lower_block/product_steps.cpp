#include "passes/lower_block/product_steps.h"

#include "frontend/base/round_up.h"
#include "machines/costs.h"
#include "passes/lower_block/limits.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

namespace ptl::block {

/// Read once for each machine; those of one's own have the costs of none.
static const MachineCosts *costsOf(const Machine &machine) {
  static std::mutex guard;
  static std::map<std::string, std::optional<MachineCosts>, std::less<>> known;
  // Several compilations may run in one process.
  std::lock_guard lock(guard);
  auto found = known.find(machine.name);
  if (found == known.end())
    found = known.emplace(machine.name, findCosts(machine.name)).first;
  return found->second && found->second->known() ? &*found->second : nullptr;
}

static int64_t bytesOf(const ProductShape &shape, int64_t lines, int64_t step) {
  return roundUp(std::max<int64_t>(lines, 1), shape.box()) * step * shape.bytes;
}

/// Whether both operands of a step fit so many times.
static bool fits(const ProductShape &shape, int64_t step, int64_t times, const Machine &machine) {
  // All products of a kernel share the operand buffers.
  int64_t parts = times * std::max<int64_t>(1, shape.products);
  return bytesOf(shape, shape.rows, step) * parts <= usableBytes(machine, "left") &&
         bytesOf(shape, shape.cols, step) * parts <= usableBytes(machine, "right");
}

bool fitsTwice(const ProductShape &shape, int64_t step, const Machine &machine) {
  return fits(shape, step, 2, machine);
}

namespace {
/// Cycles that a step keeps the two pipes busy.
struct StepTime {
  double move, multiply;
};
} // namespace

static StepTime timeOf(const ProductShape &shape, int64_t step, const MachineCosts &costs) {
  StepTime time{0, costs.product.head};
  auto move = [&](const char *to, int64_t lines) {
    const PathCost *path = costs.path("mat", to);
    if (path && path->bytesPerCycle > 0)
      time.move +=
          path->head + static_cast<double>(bytesOf(shape, lines, step)) / path->bytesPerCycle;
  };
  move("left", shape.rows);
  move("right", shape.cols);
  auto boxes = [](int64_t extent, int64_t box) {
    int64_t count = (extent + box - 1) / std::max<int64_t>(box, 1);
    return static_cast<double>(count);
  };
  time.multiply += costs.product.cyclesOf(shape.element) * boxes(shape.rows, costs.product.rows) *
                   boxes(shape.cols, costs.product.columns) *
                   boxes(step * shape.bytes, costs.product.depthBytes);
  return time;
}

/// The pipe with more to do decides; where nothing else is going on beside a product, its first
/// move and its last multiplication stand alone.
static double predicted(const ProductShape &shape, int64_t step, const Machine &machine,
                        const MachineCosts &costs) {
  auto count = static_cast<double>(countCovering(shape.contracted, step));
  StepTime time = timeOf(shape, std::min(step, roundUp(shape.contracted, shape.depthBox())), costs);
  // With two buffers, or another product, moving and multiplying overlap.
  bool alone = shape.products <= 1 && !fitsTwice(shape, step, machine);
  double busy = count * std::max(time.move, time.multiply);
  return alone ? count * (time.move + time.multiply) : busy;
}

int64_t stepOf(const ProductShape &shape, const Machine &machine) {
  int64_t box = shape.depthBox(), whole = roundUp(std::max<int64_t>(shape.contracted, 1), box);
  int64_t most = box;
  // This is the longest step of which two fit.
  while (most + box <= whole && fits(shape, most + box, 2, machine))
    most += box;
  const MachineCosts *costs = costsOf(machine);
  bool once = most < whole && fits(shape, whole, 1, machine);
  // Without times the longest step is the best guess.
  if (!costs)
    return once ? whole : most;
  int64_t best = most;
  double least = predicted(shape, most, machine, *costs);
  auto consider = [&](int64_t step) {
    double time = predicted(shape, step, machine, *costs);
    if (time < least) {
      least = time;
      best = step;
    }
  };
  // Steps of equal length are as good as longer ones with a short rest. There are as many as boxes
  // fit, however long the axis is.
  for (int64_t longest = most; longest >= box; longest -= box) {
    int64_t count = countCovering(whole, longest);
    consider(roundUp(countCovering(whole, count), box));
  }
  if (once)
    consider(whole);
  return best;
}

} // namespace ptl::block
