#include "passes/lower_block/assign_cores.h"

#include "ir/dialect/attributes.h"
#include "passes/analysis/fix_pipe.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/cut_tiles.h"
#include "passes/lower_block/grid_passes.h"
#include "passes/lower_block/meetings.h"
#include "passes/lower_block/part_of_value.h"
#include "passes/lower_block/tile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ptl::ir;

namespace ptl::block {

static bool isTile(Type type) { return isa<ArrayType>(type); }

Value productSource(Value operand) {
  while (Operation *op = operand.getDefiningOp()) {
    if (!isViewOfOperand(op))
      break;
    operand = op->getOperand(0);
  }
  return operand;
}

bool isLoadedOperand(Value operand) {
  Value source = productSource(operand);
  Operation *op = source.getDefiningOp();
  if (!op || !isa<SliceOp, LoadOp>(op) || !isGlobal(op->getOperand(0)))
    return false;
  // The vector cores hand over rows that lie apart, but not those of which nobody knows how many there are.
  BoxOperands box = operandsOf(op);
  bool isBounded = tileBytes(source.getType()).has_value();
  return (box.steps.empty() || !isBounded) && isMatrixBox(box, source.getType());
}

namespace {
class Assigner {
public:
  Assigner(ParallelOp grid, CoreAssignment &result) : grid_(grid), result_(result) {}

  void run() {
    grid_.walk([&](StoreOp store) { result_.written.insert(store.getRef()); });
    grid_.walk([&](MatmulOp product) {
      result_.cube.insert(product);
      result_.numProducts += partOf(product->getResult(0)).number == 0;
      result_.accumulators.insert(product->getResult(0));
    });
    // The order matters: a sum that a loop carries must not be taken for a plain sum, and an
    // epilogue needs to know all accumulators.
    grid_.walk([&](scf::ForOp loop) { takeCarried(loop); });
    grid_.walk([&](MatmulOp product) { takeSum(product); });
    grid_.walk([&](StoreOp store) { takeEpilogue(store); });
    findCrossings();
    findDealtAxis();
  }

private:
  // The product that an addition adds to `sum`, if only the addition reads both, and the product
  // comes after what `sum` contains so far.
  static MatmulOp addedTo(Value sum, AddOp add) {
    Value product = add->getOperand(add->getOperand(0) == sum ? 1 : 0);
    auto made = product.getDefiningOp<MatmulOp>();
    auto isRepeated = [](auto pair) {
      // The cube core cannot broadcast, so both must have the same shape.
      return std::get<0>(pair).isOne() != std::get<1>(pair).isOne();
    };
    bool isAlone = made && product.hasOneUse() && sum.hasOneUse() &&
                   made->getBlock() == add->getBlock() && product != sum &&
                   llvm::none_of(llvm::zip(extentsOf(sum.getType()), extentsOf(product.getType())),
                                 isRepeated);
    return isAlone ? made : MatmulOp();
  }

  static AddOp onlyAddition(Value sum) {
    return sum.hasOneUse() ? dyn_cast<AddOp>(*sum.getUsers().begin()) : AddOp();
  }

  // The chain of additions of products that begins with `sum`.
  static llvm::SmallVector<AddOp> additionsTo(Value sum, MatmulOp last) {
    llvm::SmallVector<AddOp> additions;
    for (AddOp add = onlyAddition(sum); add; add = onlyAddition(sum)) {
      MatmulOp product = addedTo(sum, add);
      if (!product || add->getBlock() != sum.getParentBlock() ||
          (last && !last->isBeforeInBlock(product)))
        break;
      additions.push_back(add);
      sum = add->getResult(0);
      last = product;
    }
    return additions;
  }

  // Takes `acc = acc + a @ b` on a variable that a loop carries, that begins with zeros and that
  // nothing else in the loop reads.
  void takeCarried(scf::ForOp loop) {
    for (auto [i, init] : llvm::enumerate(loop.getInitArgs())) {
      // The first product of a loop overwrites the accumulator, which is correct only if it began
      // with zeros.
      if (!isTile(init.getType()) || !isZeroValue(init))
        continue;
      llvm::SmallVector<Carried> nest = nestOf({loop, static_cast<unsigned>(i)});
      Value next = nest.back().next();
      llvm::SmallVector<AddOp> additions = additionsTo(nest.back().argument(), {});
      // The cube core must be able to do every operation between the variable and the yielded
      // value.
      if (additions.empty() || additions.back()->getResult(0) != next || !next.hasOneUse())
        continue;
      for (AddOp add : additions) {
        result_.cube.insert(add);
        result_.accumulators.insert(add->getResult(0));
      }
      for (Carried each : nest) {
        result_.accumulators.insert(each.argument());
        result_.accumulators.insert(each.result());
      }
    }
  }

  /// A variable that a loop carries.
  struct Carried {
    scf::ForOp loop;
    unsigned number;
    Value argument() { return loop.getRegionIterArg(number); }
    Value result() { return loop.getResult(number); }
    Value next() { return loop.getBody()->getTerminator()->getOperand(number); }
  };

  // The loops that a variable passes through, from the outermost one in: each passes it to the loop
  // in its body and yields that loop's result. The bounds of the inner loops do not change in the
  // rounds around them, so that the first product is that of the very first round.
  static llvm::SmallVector<Carried> nestOf(Carried outermost) {
    llvm::SmallVector<Carried> nest{outermost};
    while (true) {
      Carried last = nest.back();
      Value argument = last.argument();
      auto inner =
          argument.hasOneUse() ? dyn_cast<scf::ForOp>(*argument.getUsers().begin()) : scf::ForOp();
      if (!inner || inner->getBlock() != last.loop.getBody())
        return nest;
      unsigned operand = argument.getUses().begin()->getOperandNumber();
      // The operands of a loop begin with its bounds and its step.
      Carried own{inner, operand - inner.getNumControlOperands()};
      bool isSame = llvm::all_of(
          llvm::ArrayRef<Value>{inner.getLowerBound(), inner.getUpperBound(), inner.getStep()},
          [&](Value bound) { return outermost.loop.isDefinedOutsideOfLoop(bound); });
      if (!isSame || !own.result().hasOneUse() || own.result() != last.next())
        return nest;
      nest.push_back(own);
    }
  }

  // Takes `a @ b + c @ d`: the second product is accumulated onto the first, which may itself be
  // added to zeros.
  void takeSum(MatmulOp product) {
    Value sum = product->getResult(0);
    AddOp first = onlyAddition(sum);
    // The additions of a loop's variable were taken before.
    if (!first || result_.cube.contains(first))
      return;
    llvm::SmallVector<AddOp> additions;
    if (isZeroValue(first->getOperand(first->getOperand(0) == sum ? 1 : 0)) &&
        first->getBlock() == product->getBlock()) {
      additions.push_back(first);
      sum = first->getResult(0);
    }
    llvm::append_range(additions, additionsTo(sum, product));
    for (AddOp add : additions) {
      result_.cube.insert(add);
      result_.accumulators.insert(add->getResult(0));
    }
  }

  // A finished accumulator is stored by the fix pipe, which can apply some operations on the way.
  // It stores matrices of contiguous rows; the vector cores store rows at listed positions and all
  // other boxes.
  void takeEpilogue(StoreOp store) {
    Value stored = store.getValue();
    if (!isTile(stored.getType()) || store.getIndex() || !store.getSteps().empty() ||
        !isMatrixBox(operandsOf(store), stored.getType()) || !fillsBox(store))
      return;
    FixedOnTheWay way =
        result_.isAccumulator(stored) ? FixedOnTheWay{stored, {}} : throughFixPipe(stored);
    bool isAlone = way.ops.empty() || stored.hasOneUse();
    if (!result_.isAccumulator(way.source) || !isAlone)
      return;
    for (Operation *op : way.ops) {
      result_.cube.insert(op);
      result_.accumulators.insert(op->getResult(0));
    }
    result_.cube.insert(store);
  }

  static bool isShared(Operation *op) {
    return isa<SliceOp, LoadOp, ZerosOp, OnesOp, FullOp, IndexOp, TransposeOp, CastOp, NewAxisOp,
               DimOp, CheckOp>(op);
  }

  void findCrossings() {
    grid_.walk<WalkOrder::PreOrder>([&](Operation *op) {
      // The results of an `if` or a `while` are never single values in an accumulator.
      if (op->getNumRegions() && !isa<scf::ForOp>(op))
        return;
      for (Value value : op->getResults())
        if (result_.isAccumulator(value) && readByVector(value))
          result_.toVector.push_back(value);
      if (!result_.cube.contains(op) && isVectorOp(op)) {
        result_.usesVector = true;
        result_.vector.insert(op);
      }
    });
    grid_.walk([&](MatmulOp product) {
      for (Value operand : product->getOperands()) {
        Value source = productSource(operand);
        // A value that several products read crosses once.
        if (!isLoadedOperand(operand) && !result_.crossesToCube(source))
          result_.toCube.push_back(source);
      }
    });
    if (!result_.toCube.empty())
      result_.usesVector = true;
  }

  bool isVectorOp(Operation *op) {
    if (isShared(op) || isa<scf::ForOp, scf::YieldOp, scf::IfOp, YieldOp>(op))
      return false;
    auto isArray = [](Value value) { return isTile(value.getType()); };
    return llvm::any_of(op->getOperands(), isArray) || llvm::any_of(op->getResults(), isArray) ||
           isa<StoreOp>(op);
  }

  bool readByVector(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      if (result_.cube.contains(user))
        return false;
      auto yield = dyn_cast<scf::YieldOp>(user);
      if (!yield)
        return true;
      // A value that is yielded into an accumulator stays on the cube core.
      auto loop = dyn_cast<scf::ForOp>(yield->getParentOp());
      return !loop ||
             !llvm::any_of(llvm::zip(yield.getOperands(), loop.getResults()), [&](auto pair) {
               return std::get<0>(pair) == value && result_.isAccumulator(std::get<1>(pair));
             });
    });
  }

  // The rows of crossing values are dealt to the two vector cores if every vector operation
  // computes rows independently.
  void findDealtAxis() {
    llvm::SmallVector<StringAttr, 4> parts;
    if (auto names = attrs::parts.of(grid_))
      for (Attribute name : names)
        parts.push_back(cast<StringAttr>(name));
    if (!parts.empty())
      // The axis may end before its later parts begin, but the first part always has a position.
      result_.mayBeEmpty.assign(parts.begin() + 1, parts.end());
    StringAttr rows;
    for (Value value : llvm::concat<Value>(result_.toVector, result_.toCube)) {
      llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
      // Rows are recognised by the name of their length, so that name must not occur at another
      // axis.
      if (extents.size() != 2 || extents[0].isConstant() || extents[1].symbol == extents[0].symbol)
        return;
      // Parts of one axis have names of their own and are dealt alike, so values of several parts may cross.
      bool another = rows && rows != extents[0].symbol;
      if (another &&
          !(llvm::is_contained(parts, rows) && llvm::is_contained(parts, extents[0].symbol)))
        return;
      rows = extents[0].symbol;
    }
    // Each of the two cores gets half of the rows, in whole fractals of 16.
    if (!rows || capacity(rows) % 32 != 0)
      return;
    // Of a value that crosses whole, its slices are dealt.
    crossing_ = choicesOf(grid_).slices > 1 && !parts.empty() ? rows : StringAttr();
    if (!llvm::is_contained(parts, rows) && !crossing_)
      parts = {rows};
    bool mixes = false;
    grid_.walk([&](Operation *op) {
      for (StringAttr name : parts)
        mixes |= mixesRows(op, name, parts);
    });
    // If an operation mixes rows, neither core could compute its half alone; then both get all rows and compute the same.
    if (!mixes)
      result_.dealt = parts;
  }

  int64_t capacity(StringAttr symbol) {
    int64_t found = 0;
    grid_.walk([&](Operation *op) {
      for (Value value : op->getResults())
        for (const Extent &extent : extentsOf(value.getType()))
          if (extent.symbol == symbol && extent.capacity != Extent::kUnknown)
            found = extent.capacity;
    });
    return found;
  }

  /// Whether `op` computes across rows. `parts` are the names of all axes that are dealt, `rows` is
  /// one of them.
  bool mixesRows(Operation *op, StringAttr rows, llvm::ArrayRef<StringAttr> parts) {
    // Slices are the unit that is dealt, so taking one mixes nothing.
    if (crossing_ && isCut(op))
      return false;
    auto axisOf = [&](Value value) -> int64_t {
      for (auto [axis, extent] : llvm::enumerate(extentsOf(value.getType())))
        if (extent.symbol == rows)
          return static_cast<int64_t>(axis);
      return -1;
    };
    if (isa<MatmulOp>(op)) { // Only the rows of the left side may be dealt.
      Value left = productSource(op->getOperand(0)), right = productSource(op->getOperand(1));
      StringAttr first = extentsOf(left.getType())[0].symbol;
      bool asRows = left == op->getOperand(0) &&
                    (llvm::is_contained(parts, first) || (crossing_ && first == crossing_));
      return (result_.crossesToCube(left) && !asRows) || result_.crossesToCube(right);
    }
    if (result_.cube.contains(op) || isa<scf::ForOp, scf::YieldOp, NewAxisOp, IndexOp, DimOp>(op))
      return false;
    // The other core may hold a part of a tile's rows.
    if (isa<SliceOp>(op) && !isGlobal(op->getOperand(0)))
      return op->getResult(0).getType() != op->getOperand(0).getType() &&
             axisOf(op->getOperand(0)) >= 0;
    if (auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes"); axes && op->getNumOperands()) {
      int64_t axis = axisOf(op->getOperand(0));
      // Rows that become columns are no longer dealt.
      if (axis >= 0 && isa<TransposeOp>(op))
        return true;
      if (axis >= 0)
        return llvm::is_contained(axes.asArrayRef(), axis);
    }
    if (auto axis = op->getAttrOfType<IntegerAttr>("axis"); axis && op->getNumOperands())
      return axisOf(op->getOperand(0)) == axis.getInt();
    return isa<ReshapeOp, ConcatOp, InsertOp, TakeOp, scf::WhileOp>(op) &&
           llvm::any_of(op->getOperands(), [&](Value v) { return axisOf(v) >= 0; });
  }

  /// Whether it takes a slice of a value that crosses whole, or concatenates such slices.
  bool isCut(Operation *op) const {
    auto crosses = [&](Value value) { return hasRows(value, crossing_); };
    return (isa<SliceOp>(op) && crosses(op->getOperand(0)) && !isGlobal(op->getOperand(0))) ||
           (isa<ConcatOp>(op) && crosses(op->getResult(0)));
  }
  static bool hasRows(Value value, StringAttr rows) {
    llvm::ArrayRef<Extent> extents = extentsOf(value.getType());
    return !extents.empty() && extents[0].symbol == rows;
  }

  ParallelOp grid_;
  StringAttr crossing_; ///< the rows of values that cross whole; null if there are none
  CoreAssignment &result_;
};
} // namespace

PartOf partOf(Value value) {
  Operation *op = value.getDefiningOp();
  auto parts = op ? attrs::part.of(op) : nullptr;
  if (!parts)
    return {};
  // The list has two numbers for each result: its group and its part.
  size_t at = 2 * cast<OpResult>(value).getResultNumber();
  return {parts[static_cast<int64_t>(at)], parts[static_cast<int64_t>(at + 1)]};
}

CoreAssignment assignCores(ParallelOp grid) {
  CoreAssignment result;
  if (auto core = attrs::manual.of(grid)) {
    auto note = [&](llvm::StringRef name, Operation *op) {
      if (name == "aic")
        result.cube.insert(op);
      result.usesVector |= name == "aiv";
    };
    note(core.getValue(), grid);
    grid.walk([&](SectionOp section) { note(section.getCore(), section); });
    return result;
  }
  Assigner(grid, result).run();
  findMeetings(grid, result);
  return result;
}

bool isGlobal(Value array) {
  if (auto ref = dyn_cast<RefType>(array.getType()))
    return ref.getPlace() == Place::Gm;
  Operation *op = array.getDefiningOp();
  if (op)
    return !op->getParentOfType<ParallelOp>();
  // An array that a loop of a grid carries is not an array of the function.
  return !isa<ParallelOp>(array.getParentBlock()->getParentOp()) &&
         !array.getParentBlock()->getParentOp()->getParentOfType<ParallelOp>();
}

/// Whether an operation takes so many of the columns of a box that loading it is faster than
/// reading element after element.
static bool takesMostColumns(TakeOp take) {
  constexpr int64_t fewest = 4; // one of so many
  llvm::ArrayRef<Extent> box = extentsOf(take.getSource().getType());
  auto most = [](const Extent &extent) {
    return extent.isConstant() ? extent.length : extent.capacity;
  };
  int64_t columns = most(box.back()), taken = most(extentsOf(take.getType()).back());
  return take.getAxis() + 1 == box.size() && columns != Extent::kUnknown &&
         taken != Extent::kUnknown && columns <= fewest * taken;
}

bool isTakenFrom(Value box, const CoreAssignment &cores) {
  auto takes = [&](Operation *user) {
    auto take = dyn_cast<TakeOp>(user);
    return isa<DimOp>(user) || (take && take->getOperand(0) == box && !takesMostColumns(take));
  };
  BoxOperands in = operandsOf(box.getDefiningOp());
  return in.steps.empty() && !in.outside && !box.use_empty() && !cores.written.contains(in.array) &&
         llvm::all_of(box.getUsers(), takes) &&
         llvm::any_of(box.getUsers(), [](Operation *user) { return isa<TakeOp>(user); });
}

bool isUsedOnCube(Value value, const CoreAssignment &cores) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isViewOfOperand(user))
      return isUsedOnCube(user->getResult(0), cores);
    return cores.coreOf(user) == CoreKind::Cube;
  });
}

bool isUsedOnVector(Value value, const CoreAssignment &cores) {
  return cores.crossesToCube(value) || llvm::any_of(value.getUsers(), [&](Operation *user) {
           if (isViewOfOperand(user))
             return isUsedOnVector(user->getResult(0), cores);
           return cores.coreOf(user) == CoreKind::Vector && !isa<DimOp>(user);
         });
}

} // namespace ptl::block
