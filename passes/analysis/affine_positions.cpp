#include "passes/analysis/affine_positions.h"

#include "ir/dialect/ptl_dialect.h"
#include "passes/analysis/lengths.h"
#include "passes/analysis/op_kinds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

namespace {

/// Integers from which positions are computed are at most this, so that sums of a few of them do not wrap in 32 bits.
constexpr int64_t kMostAtom = int64_t(1) << 28;
/// How many of them a position may be the sum of.
constexpr int64_t kMostTerms = 6;
/// More runs would be much code for little.
constexpr size_t kMostRuns = 6;

class RunFinder {
public:
  RunFinder(OpBuilder &b, Location loc, AffinePositions &found) : b_(b), loc_(loc), found_(found) {}

  bool find(Value positions);

private:
  using Runs = llvm::SmallVector<PositionRun>;
  Linear endOf(size_t run) const {
    return run + 1 < runs().size() ? runs()[run + 1].begin : found_.length;
  }
  Runs &runs() { return found_.runs; }
  const Runs &runs() const { return found_.runs; }

  bool start(Value positions);
  bool shift(Operation *op);
  bool multiply(Operation *op);
  bool limit(const Linear &bound, bool isMost);
  bool meet(Runs others, bool isMost);
  bool wrap(const Linear &count);
  bool wrapRun(Runs &made, PositionRun run, const Linear &end, const Linear &count);
  bool apply(Operation *op);

  Linear atom(Value value) const { return {0, {{value, 1}}}; }
  Linear placed(const Linear &cut, const Linear &begin, const Linear &end);
  Linear quotient(const Linear &number, int64_t divisor);
  bool need(const Linear &number);
  bool fits();
  void add(Runs &made, const PositionRun &run, const Linear &end) const {
    if (!(run.begin == end))
      made.push_back(run);
  }

  /// One run as far as `cut`, and another one behind it.
  void addBoth(Runs &made, const PositionRun &first, PositionRun second, const Linear &cut,
               const Linear &end) const {
    add(made, first, cut);
    second.begin = cut;
    add(made, second, end);
  }

  OpBuilder &b_;
  Location loc_;
  AffinePositions &found_;
};

} // namespace

/// Whether a value is an integer of a type in which positions are computed.
static bool isCounted(Type type) {
  Type elem = elementTypeOf(type);
  return elem.isSignlessInteger(32) || elem.isSignlessInteger(64) || elem.isIndex();
}

static bool isArray(Value value) { return isa<ArrayType>(value.getType()); }

/// Asks that a number is at least 0; false if it never is.
bool RunFinder::need(const Linear &number) {
  if (number.isConstant())
    return number.constant >= 0;
  if (!isNeverNegative(number) && !llvm::is_contained(found_.needed, number))
    found_.needed.push_back(number);
  return true;
}

/// Asks that positions so far are numbers of 32 bits.
bool RunFinder::fits() {
  auto isShort = [&](const Linear &number, int64_t more) {
    if (std::abs(number.constant) > kMostAtom)
      return false;
    for (auto [value, count] : number.terms) {
      more += std::abs(count);
      if (!need(Linear{kMostAtom, {{value, -1}}}) ||
          (!isLength(value) && !need(Linear{kMostAtom, {{value, 1}}})))
        return false;
    }
    return more <= kMostTerms;
  };
  return llvm::all_of(
             runs(),
             [&](const PositionRun &run) { return isShort(run.base, std::abs(run.step)); }) &&
         isShort(found_.length, 0) && runs().size() <= kMostRuns;
}

/// The quotient of a number, rounded down.
Linear RunFinder::quotient(const Linear &number, int64_t divisor) {
  if (divisor == 1)
    return number;
  if (number.isConstant())
    return {llvm::divideFloorSigned(number.constant, divisor), {}};
  Value by = b_.create<arith::ConstantIndexOp>(loc_, divisor);
  return linearOf(b_.createOrFold<arith::FloorDivSIOp>(loc_, valueOf(b_, loc_, number), by));
}

/// A place where a run is cut in two, which may lie outside of it.
Linear RunFinder::placed(const Linear &cut, const Linear &begin, const Linear &end) {
  Linear behind = cut.minus(begin), before = end.minus(cut);
  if (isNeverNegative(behind.times(-1)))
    return begin;
  if (isNeverNegative(before.times(-1)))
    return end;
  auto areLengths = [](const Linear &number) {
    return llvm::all_of(number.terms, [](const auto &term) { return isLength(term.first); });
  };
  // Of lengths it is known how they mostly are. The rest is computed.
  if (!areLengths(behind) || !areLengths(before)) {
    Value at =
        b_.createOrFold<arith::MaxSIOp>(loc_, valueOf(b_, loc_, cut), valueOf(b_, loc_, begin));
    return linearOf(b_.createOrFold<arith::MinSIOp>(loc_, at, valueOf(b_, loc_, end)));
  }
  if (usually(behind) <= 0 && need(behind.times(-1)))
    return begin;
  if (usually(before) <= 0 && need(before.times(-1)))
    return end;
  need(behind);
  need(before);
  return cut;
}

/// What the positions are made from: numbers that count, or one number.
bool RunFinder::start(Value positions) {
  Operation *op = positions.getDefiningOp();
  if (!isa<IndexOp, FullOp>(op))
    return false;
  found_.length = linearOf(lengthOf(b_, positions, 0));
  bool counts = isa<IndexOp>(op);
  Value first = counts ? op->getOperand(0) : op->getOperands().back();
  runs().push_back({Linear{}, linearOf(first), counts ? 1 : 0});
  return fits();
}

/// `positions + c`, `positions - c`, `c - positions`.
bool RunFinder::shift(Operation *op) {
  bool isSum = isa<AddOp>(op), isFirst = isArray(op->getOperand(0));
  Linear by = linearOf(op->getOperand(isFirst ? 1 : 0));
  for (PositionRun &run : runs()) {
    int64_t own = isSum || isFirst ? 1 : -1;
    run.base = by.times(isSum || !isFirst ? 1 : -1).plus(run.base, own);
    run.step *= own;
  }
  return fits();
}

bool RunFinder::multiply(Operation *op) {
  Linear by = linearOf(op->getOperand(isArray(op->getOperand(0)) ? 1 : 0));
  if (!by.isConstant() || std::abs(by.constant) > kMostTerms)
    return false;
  for (PositionRun &run : runs()) {
    run.base = run.base.times(by.constant);
    run.step *= by.constant;
  }
  return fits();
}

/// `min(positions, bound)`, and `max` of them.
bool RunFinder::limit(const Linear &bound, bool isMost) {
  Runs made;
  for (size_t i = 0; i < runs().size(); ++i) {
    PositionRun run = runs()[i], flat{run.begin, bound, 0};
    Linear end = endOf(i), room = bound.minus(run.base);
    if (run.step == 0) {
      bool isLower = usually(room) >= 0;
      if (!need(isLower ? room : room.times(-1)))
        return false;
      add(made, isLower == isMost ? run : flat, end);
      continue;
    }
    // Where the run meets the bound, both say the same, so there it is the run as far as it goes.
    bool isKeptFirst = (run.step > 0) == isMost;
    Linear reach = room.times(run.step > 0 ? 1 : -1).plus(isKeptFirst ? 0 : -1);
    Linear cut = placed(quotient(reach, std::abs(run.step)).plus(1), run.begin, end);
    addBoth(made, isKeptFirst ? run : flat, isKeptFirst ? flat : run, cut, end);
  }
  runs() = made;
  return fits();
}

/// The smaller or larger ones of these positions and of others, whose runs begin where these do: `max(index - 1, 1 - index)`.
bool RunFinder::meet(Runs others, bool isMost) {
  Runs made;
  if (others.size() != runs().size())
    return false;
  for (size_t i = 0; i < runs().size(); ++i) {
    PositionRun run = runs()[i], other = others[i];
    Linear end = endOf(i);
    int64_t slope = run.step - other.step;
    if (slope == 0 || !(run.begin == other.begin))
      return false;
    // The run that grows faster is the larger one behind the place where both meet.
    const PositionRun &faster = slope > 0 ? run : other, &slower = slope > 0 ? other : run;
    Linear ahead = slower.base.minus(faster.base);
    Linear cut = placed(quotient(ahead.plus(-1), std::abs(slope)).plus(1), run.begin, end);
    addBoth(made, isMost ? faster : slower, isMost ? slower : faster, cut, end);
  }
  runs() = made;
  return fits();
}

/// How often `count` goes into a number, as far as that can be seen.
static int64_t turnsOf(const Linear &number, const Linear &count) {
  if (count.isConstant())
    return number.isConstant() ? llvm::divideFloorSigned(number.constant, count.constant) : 0;
  auto [of, times] = count.terms.front();
  int64_t turns = 0;
  for (auto [value, own] : number.terms)
    if (value == of)
      turns = own / times;
  return turns - (usually(number.plus(count, -turns)) < 0 ? 1 : 0);
}

/// The run's positions less the multiples of `count` in them: it is cut at most once, so it has to be at most as long as `count`.
bool RunFinder::wrapRun(Runs &made, PositionRun run, const Linear &end, const Linear &count) {
  if (std::abs(run.step) > 1)
    return false;
  Linear first = run.base.plus(run.begin, run.step), own = end.minus(run.begin);
  // The remainder of a negative number is negative, or 0.
  if (!need(first) || (run.step < 0 && !need(first.minus(own).plus(1))))
    return false;
  int64_t turns = turnsOf(first, count);
  run.base = run.base.plus(count, -turns);
  first = first.plus(count, -turns);
  // The first position of the run is that of the result, and so is the last one, one multiple further on at most.
  if (!need(first) || !need(count.minus(first).plus(run.step > 0 ? 0 : -1)))
    return false;
  if (run.step == 0) {
    add(made, run, end);
    return need(count.minus(first).plus(-1));
  }
  if (!need(count.minus(own)))
    return false;
  Linear cut = run.step > 0 ? run.begin.plus(count).minus(first) : run.begin.plus(first).plus(1);
  cut = placed(cut, run.begin, end);
  add(made, run, cut);
  run.begin = cut;
  run.base = run.base.plus(count, run.step > 0 ? -1 : 1);
  add(made, run, end);
  return true;
}

bool RunFinder::wrap(const Linear &count) {
  if (count.isConstant() ? count.constant <= 0 : !need(count.plus(-1)))
    return false;
  Runs made;
  for (size_t i = 0; i < runs().size(); ++i)
    if (!wrapRun(made, runs()[i], endOf(i), count))
      return false;
  runs() = made;
  return fits();
}

/// Applies an operation to the positions that are its array.
bool RunFinder::apply(Operation *op) {
  auto bound = [&](unsigned operand) { return linearOf(op->getOperand(operand)); };
  if (isa<ConvertOp, CastOp>(op))
    return true;
  if (isa<AddOp, SubOp>(op))
    return shift(op);
  if (isa<MulOp>(op))
    return multiply(op);
  if (isa<MinOp, MaxOp>(op))
    return limit(bound(isArray(op->getOperand(0)) ? 1 : 0), isa<MinOp>(op));
  if (isa<ClampOp>(op))
    return limit(bound(1), false) && limit(bound(2), true);
  if (isa<RemOp>(op))
    return isArray(op->getOperand(0)) && wrap(bound(1));
  if (!isa<NegOp, AbsOp>(op))
    return false;
  Runs turned = runs();
  for (PositionRun &run : turned) {
    run.base = run.base.times(-1);
    run.step = -run.step;
  }
  if (isa<AbsOp>(op))
    return meet(turned, false);
  runs() = turned;
  return true;
}

bool RunFinder::find(Value positions) {
  Operation *op = positions.getDefiningOp();
  if (!op || rankOf(positions.getType()) != 1 || !isCounted(positions.getType()))
    return false;
  if (isa<IndexOp, FullOp>(op))
    return start(positions);
  if (isa<MinOp, MaxOp>(op) && isArray(op->getOperand(0)) && isArray(op->getOperand(1))) {
    AffinePositions others;
    if (!RunFinder(b_, loc_, others).find(op->getOperand(1)) || !find(op->getOperand(0)))
      return false;
    llvm::append_range(found_.needed, others.needed);
    return others.length == found_.length && meet(others.runs, isa<MinOp>(op));
  }
  Value inner;
  for (Value operand : op->getOperands()) {
    if (!isCounted(operand.getType()) || (isArray(operand) && inner))
      return false;
    if (isArray(operand))
      inner = operand;
  }
  return inner && find(inner) && apply(op);
}

std::optional<AffinePositions> affinePositionsOf(OpBuilder &builder, Value positions) {
  AffinePositions found;
  if (!RunFinder(builder, positions.getLoc(), found).find(positions) || found.runs.empty())
    return std::nullopt;
  return found;
}

// ---- positions that count evenly along every axis

// A computation of more operations is hardly one of positions alone, and the search has to end.
static constexpr int kMostOperations = 64;

/// The factor of a product of positions and a constant; null for other products.
static bool hasShortFactor(MulOp product) {
  return llvm::any_of(product->getOperands(), [](Value operand) {
    APInt factor;
    return matchPattern(operand, m_ConstantInt(&factor)) &&
           factor.abs().ule(static_cast<uint64_t>(kMostEvenStep));
  });
}

static bool areEven(Value value, int &steps) {
  auto type = dyn_cast<ArrayType>(value.getType());
  if (!type)
    return true;
  Operation *op = value.getDefiningOp();
  Type element = type.getElementType();
  // Shorter numbers wrap where positions do not.
  if (!op || --steps < 0 || !(element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return false;
  auto areAllEven = [&] {
    return llvm::all_of(op->getOperands(), [&](Value operand) { return areEven(operand, steps); });
  };
  if (isa<IndexOp>(op))
    return true;
  if (isView(op))
    return areEven(op->getOperand(0), steps);
  if (auto product = dyn_cast<MulOp>(op))
    return hasShortFactor(product) && areAllEven();
  return isa<AddOp, SubOp, NegOp>(op) && areAllEven();
}

bool arePositionsEven(Value array) {
  int steps = kMostOperations;
  return isa<ArrayType>(array.getType()) && areEven(array, steps);
}

} // namespace ptl::ir
