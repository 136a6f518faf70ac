#include "passes/lower_block/hand_numbers.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/formula.h"
#include "passes/lower_block/cube_scalars.h"
#include "passes/lower_block/tile.h"

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

namespace {

/// The points of a grid, numbered.
class Points {
public:
  Points(ParallelOp grid, size_t of) : grid_(grid), of_(of), host_(grid), b_(grid.getContext()) {
    // The number of a point is needed everywhere in its body.
    b_.setInsertionPointToStart(&grid.getBody().front());
    Location loc = grid.getLoc();
    for (size_t axis = 0; axis < grid.getLower().size(); ++axis) {
      Value lower = grid.getLower()[axis], step = grid.getSteps()[axis];
      Value length = host_.createOrFold<arith::SubIOp>(loc, grid.getUpper()[axis], lower);
      Value count = host_.createOrFold<arith::CeilDivSIOp>(loc, length, step);
      Value at = b_.createOrFold<arith::SubIOp>(
          loc, grid.getBody().getArgument(static_cast<unsigned>(axis)), lower);
      at = b_.createOrFold<arith::DivUIOp>(loc, at, step);
      // The storage is allocated by the host, so its length is computed there.
      total_ = axis ? host_.createOrFold<arith::MulIOp>(loc, total_, count) : count;
      number_ = axis ? b_.createOrFold<arith::AddIOp>(
                           loc, b_.createOrFold<arith::MulIOp>(loc, number_, count), at)
                     : at;
    }
  }

  /// Storage of a number for each point, in blocks of `perPoint` elements.
  Value storage(Location loc, Type element, int64_t perPoint) {
    IntegerAttr known;
    bool isConstant = matchPattern(total_, m_Constant(&known));
    Extent points =
        isConstant ? Extent::constant(known.getInt()) : Extent::named(host_.getStringAttr(name()));
    auto type =
        RefType::get(grid_.getContext(), element, {points, Extent::constant(perPoint)}, Place::Gm);
    return host_.create<AllocOp>(loc, type, isConstant ? ValueRange() : ValueRange(total_));
  }
  Value number() const { return number_; }

private:
  /// The name of the length. It is the formula that computes the length, so that equal names are
  /// equal lengths.
  std::string name() {
    std::string formula = formulaOf(total_);
    return formula.empty() ? "points." + std::to_string(of_) : formula;
  }

  ParallelOp grid_;
  size_t of_; ///< its number in the function
  OpBuilder host_, b_;
  Value total_, number_;
};

/// The first operation of its block that needs a value.
Operation *firstUse(Value value) {
  Block *home = value.getParentBlock();
  Operation *first = home->getTerminator();
  for (Operation *user : value.getUsers())
    // A use in a loop or a branch counts as one of the whole statement.
    if (Operation *here = home->findAncestorOpInBlock(*user); here && here->isBeforeInBlock(first))
      first = here;
  return first;
}

/// Stores a number where it is made and reads it before its first use.
void hand(Value number, Points &points, int64_t blockBytes) {
  Location loc = number.getLoc();
  OpBuilder b(number.getContext());
  Type type = number.getType();
  Type element = type.isIndex() ? Type(b.getI64Type()) : type;
  // Each point has a block of its own, since cores write whole blocks.
  Value ref = points.storage(loc, element, blockBytes / pto::elementBytes(storedType(element)));
  Operation *user = firstUse(number);

  b.setInsertionPointAfterValue(number);
  Value zero = b.create<arith::ConstantIndexOp>(loc, 0),
        one = b.create<arith::ConstantIndexOp>(loc, 1);
  Value kept = type.isIndex() ? b.create<arith::IndexCastOp>(loc, element, number) : number;
  auto tile = arrayTypeOf(element, {Extent::constant(1)});
  // Stores take tiles, so the number becomes a tile of one element.
  Value full = b.create<FullOp>(loc, tile, ValueRange(), kept);
  Operation *store = b.create<StoreOp>(loc, full, ref, ValueRange{points.number(), zero},
                                       ValueRange{one, one}, ValueRange(), Value(),
                                       b.getDenseI64ArrayAttr({0}), IntegerAttr(), StringAttr());

  b.setInsertionPoint(user);
  Value read =
      b.create<LoadOp>(loc, element, ref, ValueRange{points.number(), zero}, ValueRange{one, one},
                       ValueRange(), Value(), b.getDenseI64ArrayAttr({0, 1}));
  if (type.isIndex())
    read = b.create<arith::IndexCastOp>(loc, type, read);
  // Uses in front of the read keep the number itself, among them its store.
  number.replaceUsesWithIf(read, [&](OpOperand &use) {
    Operation *here = read.getParentBlock()->findAncestorOpInBlock(*use.getOwner());
    return here && (here == user || user->isBeforeInBlock(here)) && here != store;
  });
}

} // namespace

void handNumbers(ParallelOp grid, size_t number, const Machine &machine) {
  if (attrs::manual.isOn(grid))
    return;
  CoreAssignment cores = assignCores(grid);
  if (!cores.usesCube())
    return;
  CubeNeeds needs = needsOfCube(grid, cores);
  llvm::SmallVector<Value> numbers;
  grid.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (needs.scalars.contains(result) && isNumberOfTiles(result))
        numbers.push_back(result);
  });
  if (numbers.empty())
    return;
  Points points(grid, number);
  for (Value each : numbers)
    hand(each, points, machine.limits.blockBytes);
}

} // namespace ptl::block
