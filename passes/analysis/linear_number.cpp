#include "passes/analysis/linear_number.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/ptl_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::ir {

Linear Linear::plus(const Linear &other, int64_t times) const {
  Linear sum = *this;
  sum.constant += times * other.constant;
  for (auto [value, count] : other.terms) {
    auto *own = llvm::find_if(sum.terms, [&](const auto &term) { return term.first == value; });
    if (own == sum.terms.end())
      sum.terms.push_back({value, times * count});
    else
      own->second += times * count;
  }
  llvm::erase_if(sum.terms, [](const auto &term) { return term.second == 0; });
  return sum;
}

Linear Linear::plus(int64_t number) const {
  Linear sum = *this;
  sum.constant += number;
  return sum;
}

/// What an operation converts without changing the number.
static Value convertedBy(Operation *op) {
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return op->getOperand(0);
  auto convert = dyn_cast<ConvertOp>(op);
  bool isWhole =
      convert && !convert.getSaturate() &&
      llvm::all_of(ValueRange{op->getOperand(0), op->getResult(0)}, [](Value v) {
        Type type = v.getType();
        return type.isIndex() || type.isSignlessInteger(32) || type.isSignlessInteger(64);
      });
  return isWhole ? op->getOperand(0) : Value();
}

Linear linearOf(Value number) {
  IntegerAttr known;
  if (matchPattern(number, m_Constant(&known)))
    return {known.getInt(), {}};
  Linear alone{0, {{number, 1}}};
  Operation *op = number.getDefiningOp();
  if (!op)
    return alone;
  if (Value same = convertedBy(op))
    return linearOf(same);
  bool isSum = isa<arith::AddIOp, AddOp>(op), isDifference = isa<arith::SubIOp, SubOp>(op);
  if (isSum || isDifference)
    return linearOf(op->getOperand(0)).plus(linearOf(op->getOperand(1)), isSum ? 1 : -1);
  if (!isa<arith::MulIOp, MulOp>(op))
    return alone;
  Linear a = linearOf(op->getOperand(0)), b = linearOf(op->getOperand(1));
  if (a.isConstant())
    return b.times(a.constant);
  return b.isConstant() ? a.times(b.constant) : alone;
}

Value valueOf(OpBuilder &builder, Location loc, const Linear &number) {
  auto constant = [&](int64_t value) {
    return builder.create<arith::ConstantIndexOp>(loc, value).getResult();
  };
  Value sum;
  // What is added comes first, so that lengths are written as `N - 1` and not as `-1 + N`.
  for (bool isAdded : {true, false})
    for (auto [value, count] : number.terms) {
      if ((count > 0) != isAdded)
        continue;
      Value term =
          value.getType().isIndex()
              ? value
              : builder.createOrFold<arith::IndexCastOp>(loc, builder.getIndexType(), value);
      if (std::abs(count) != 1)
        term = builder.createOrFold<arith::MulIOp>(loc, term, constant(std::abs(count)));
      if (!sum && isAdded)
        sum = term;
      else if (isAdded)
        sum = builder.createOrFold<arith::AddIOp>(loc, sum, term);
      else
        sum = builder.createOrFold<arith::SubIOp>(loc, sum ? sum : constant(number.constant), term);
    }
  bool hasConstant = !sum || llvm::any_of(number.terms, [](const auto &t) { return t.second > 0; });
  if (!sum)
    return constant(number.constant);
  if (!hasConstant || number.constant == 0)
    return sum;
  if (number.constant < 0)
    return builder.createOrFold<arith::SubIOp>(loc, sum, constant(-number.constant));
  return builder.createOrFold<arith::AddIOp>(loc, sum, constant(number.constant));
}

namespace {
/// A length that is divided by a number.
struct PartOfLength {
  Value length;
  int64_t divisor;
};
} // namespace

static std::optional<PartOfLength> partOfLength(Value number) {
  auto quotient = number.getDefiningOp<arith::FloorDivSIOp>();
  IntegerAttr divisor;
  if (!quotient || !matchPattern(quotient.getRhs(), m_Constant(&divisor)) || divisor.getInt() < 1 ||
      !isLength(quotient.getLhs()))
    return std::nullopt;
  return PartOfLength{quotient.getLhs(), divisor.getInt()};
}

bool isLength(Value number) {
  if (number.getDefiningOp<DimOp>() || partOfLength(number))
    return true;
  auto argument = dyn_cast<BlockArgument>(number);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  return function && attrs::dim.isOn(function, argument.getArgNumber());
}

/// The number without what is taken away of lengths by parts of them: `N - N / 2` is at least `N - N`.
static Linear withoutParts(const Linear &number) {
  Linear least = number;
  for (auto [value, count] : number.terms)
    if (std::optional<PartOfLength> part = count < 0 ? partOfLength(value) : std::nullopt) {
      int64_t lengths = llvm::divideCeilSigned(-count, part->divisor);
      least = least.plus(Linear{0, {{value, 1}}}, -count)
                  .plus(Linear{0, {{part->length, 1}}}, -lengths);
    }
  return least;
}

bool isNeverNegative(const Linear &number) {
  Linear least = withoutParts(number);
  return least.constant >= 0 && llvm::all_of(least.terms, [](const auto &term) {
           return term.second > 0 && isLength(term.first);
         });
}

int64_t usually(const Linear &number) {
  int64_t sum = number.constant;
  for (auto [value, count] : number.terms) {
    std::optional<PartOfLength> part = partOfLength(value);
    int64_t length = isLength(value) ? int64_t(1) << 20 : 1 << 8;
    sum += count * (part ? usually(Linear{0, {{part->length, 1}}}) / part->divisor : length);
  }
  return sum;
}

Value holds(OpBuilder &b, Location loc, llvm::ArrayRef<Linear> needed) {
  Value all;
  for (const Linear &number : needed) {
    // `N - 3 >= 0` reads better as `N >= 3`.
    Linear most, least;
    for (auto [value, count] : number.terms)
      (count > 0 ? most : least) =
          (count > 0 ? most : least).plus(Linear{0, {{value, 1}}}, std::abs(count));
    (number.constant > 0 ? most : least).constant = std::abs(number.constant);
    Value one = b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, valueOf(b, loc, most),
                                              valueOf(b, loc, least));
    all = all ? b.createOrFold<arith::AndIOp>(loc, all, one) : one;
  }
  return all;
}

} // namespace ptl::ir
