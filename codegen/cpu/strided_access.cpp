#include "codegen/cpu/strided_access.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cstdlib>

using namespace mlir;

namespace ptl::cpu {

// A vector of lanes so far apart is spread over as many vectors of memory, each of which has to be shuffled.
static constexpr int64_t kFarthest = 4;

static bool isApart(int64_t step) { return step != 0 && step != 1 && std::abs(step) <= kFarthest; }

namespace {
/// The lanes of a vector, in the vectors of memory that they are spread over.
struct Spread {
  int64_t lanes, step;

  /// From the lowest element to the highest.
  int64_t span() const { return (lanes - 1) * std::abs(step) + 1; }
  int64_t vectors() const { return (span() + lanes - 1) / lanes; }
  /// Where vector `n` begins. The last one ends with the last element, so that nothing behind it is touched.
  int64_t start(int64_t n) const { return std::min(n * lanes, span() - lanes); }
  /// Where a lane's element lies, counted from the lowest.
  int64_t element(int64_t lane) const {
    return (step < 0 ? lanes - 1 - lane : lane) * std::abs(step);
  }
  /// The first vector that has the element.
  int64_t vectorOf(int64_t element) const { return std::min(element / lanes, vectors() - 1); }
  /// How far the lowest element lies from the first lane's.
  int64_t lowest() const { return step < 0 ? (lanes - 1) * step : 0; }
};
} // namespace

static Value movedBy(const Emit &e, Value pointer, Type element, int64_t count) {
  return count == 0 ? pointer : elementPointer(e, pointer, element, e.index(count));
}

// Accesses with masks are fast for elements of 32 and 64 bits on processors with vectors of 64 bytes.
static bool masksAreFast(const Emit &e, Type element) {
  return e.unit.bytes >= 64 && element.getIntOrFloatBitWidth() >= 32;
}

// The elements of vector `n` of memory that are those of lanes, of `mask` if there is one.
static Value elementsOfLanes(const Emit &e, const Spread &spread, int64_t n, Value mask) {
  auto type = VectorType::get({spread.lanes}, e.b.getI1Type());
  SmallVector<bool> isOn(static_cast<size_t>(spread.lanes), false);
  // The lanes of the second operand are all off.
  SmallVector<int64_t> chosen(static_cast<size_t>(spread.lanes), spread.lanes);
  for (int64_t lane = 0; lane < spread.lanes; ++lane)
    if (int64_t at = spread.element(lane); spread.vectorOf(at) == n) {
      isOn[static_cast<size_t>(at - spread.start(n))] = true;
      chosen[static_cast<size_t>(at - spread.start(n))] = lane;
    }
  if (mask)
    return e.b.create<vector::ShuffleOp>(e.loc, mask, e.zero(type), chosen);
  return e.b.create<arith::ConstantOp>(e.loc, DenseElementsAttr::get(type, ArrayRef<bool>(isOn)));
}

std::optional<Value> loadApart(const Emit &e, Value pointer, Type element, int64_t lanes,
                               int64_t step, Value mask) {
  if (!isApart(step) || lanes < 2 || (mask && !masksAreFast(e, element)))
    return std::nullopt;
  Spread spread{lanes, step};
  Value base = movedBy(e, pointer, element, spread.lowest()), result;
  for (int64_t n = 0; n < spread.vectors(); ++n) {
    Value part = loadRaw(e, movedBy(e, base, element, spread.start(n)), element, lanes,
                         mask ? elementsOfLanes(e, spread, n, mask) : Value());
    // Lanes of earlier vectors stay, those of this one come in; the others are anything.
    SmallVector<int64_t> chosen;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int64_t at = spread.element(lane);
      bool comesIn = spread.vectorOf(at) == n;
      chosen.push_back(comesIn ? (result ? lanes : 0) + at - spread.start(n) : lane);
    }
    result = e.b.create<vector::ShuffleOp>(e.loc, result ? result : part, part, chosen);
  }
  return result;
}

bool storeApart(const Emit &e, Value pointer, Value value, int64_t step, Value mask) {
  auto type = cast<VectorType>(value.getType());
  Type element = type.getElementType();
  int64_t lanes = type.getNumElements();
  if (!isApart(step) || lanes < 2 || !masksAreFast(e, element))
    return false;
  Spread spread{lanes, step};
  Value base = movedBy(e, pointer, element, spread.lowest());
  for (int64_t n = 0; n < spread.vectors(); ++n) {
    // Each vector of memory takes those lanes whose elements lie in it; all its other elements keep
    // what they hold.
    SmallVector<int64_t> chosen(static_cast<size_t>(lanes), 0);
    for (int64_t lane = 0; lane < lanes; ++lane)
      if (int64_t at = spread.element(lane); spread.vectorOf(at) == n)
        chosen[static_cast<size_t>(at - spread.start(n))] = lane;
    Value part = e.b.create<vector::ShuffleOp>(e.loc, value, value, chosen);
    Value isOn = elementsOfLanes(e, spread, n, mask);
    storeRaw(e, movedBy(e, base, element, spread.start(n)), part, isOn);
  }
  return true;
}

} // namespace ptl::cpu
