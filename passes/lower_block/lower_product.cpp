// The cube side: operands staged in `mat`, cut to the operand buffers, multiplied into the
// accumulator.
#include "passes/lower_block/lower_product.h"
#include "frontend/base/elem_type.h"
#include "frontend/base/round_up.h"
#include "passes/analysis/fix_pipe.h"
#include "passes/analysis/positive.h"
#include "passes/analysis/source_place.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/cut_products.h"
#include "passes/lower_block/lower_control.h"
#include "passes/lower_block/lower_memory.h"
#include "passes/lower_block/product_steps.h"
#include "passes/lower_block/rings.h"
#include "passes/lower_block/stage_operands.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

int64_t usableBytes(const Machine &machine, llvm::StringRef place) {
  const MemorySpace *space = machine.space(std::string_view(place));
  return space ? space->usableBytes() : 0;
}

static Tile loadMatrix(KernelContext &c, const Tile &memory, bool transposed, mlir::Location loc);
static void lowerMatmul(KernelContext &c, mlir::Operation *op);
static void multiplyIntoRing(KernelContext &c, mlir::Operation *op, const Tile &a, const Tile &b,
                             const Ring &to);
static void zeroIfEmpty(KernelContext &c, mlir::Value lower, mlir::Value upper, const Tile &out,
                        Type operand, mlir::Value begins = {});
static void multiplyStep(KernelContext &c, const Tile &a, const Tile &b, const Tile &out,
                         mlir::Value begins, mlir::Value at, mlir::Value length, int64_t step,
                         mlir::Location loc);
static void multiply(KernelContext &c, const Tile &a, const Tile &b, const Tile &out, Value first,
                     Location loc);
static void multiplyFromMemory(KernelContext &c, const Tile &a, const Tile &b, const Tile &out,
                               mlir::Value first, mlir::Location loc);
static llvm::StringRef leftLayout(const KernelContext &c);

/// Whether products read a load as the scales of an operand.
static bool areScales(Value load) {
  return llvm::any_of(load.getUses(), [](OpOperand &use) {
    return isa<ir::MatmulOp>(use.getOwner()) && use.getOperandNumber() >= 2;
  });
}

void stage(KernelContext &c, Operation *slice, const Tile &memory) {
  Value result = slice->getResult(0);
  // Scales are few: each step loads its own.
  if (areScales(result))
    return setTile(c, result, memory);
  // The layout in `mat` depends on how products read the matrix.
  std::optional<bool> transposed = productUse(result);
  if (!transposed)
    return;
  if (isInPieces(slice)) { // the product loads it
    setTile(c, result, memory);
    return;
  }
  Tile loaded = loadMatrix(c, memory, *transposed, named(c, result));
  loaded.transposed = *transposed;
  setTile(c, result, loaded);
}

/// A staged matrix as a product reads it. Where its buffer holds the transposed matrix, the same
/// bytes are the matrix itself in the other order of boxes.
static Tile asProductReads(KernelContext &c, const Tile &tile) {
  if (tile.form != Form::Matrix || !tile.transposed)
    return tile;
  Tile seen = tile;
  seen.transposed = false;
  bool byRows = cast<pto::TileBufType>(tile.buffer.getType()).getLayout().box ==
                pto::Layout::RowMajor; // `zn`
  seen.buffer = reshape(
      c, tile.buffer, tileType(c, ir::Place::Mat, byRows ? "nz" : "zn", tile.extents, tile.element),
      tile.extents.validRows, tile.extents.validCols);
  return seen;
}

/// From memory to `mat`. Transposed, the matrix that products see is loaded: column-major memory in
/// `zn` boxes.
static Tile loadMatrix(KernelContext &c, const Tile &memory, bool transposed, Location loc) {
  Tile tile = memory;
  tile.form = Form::Matrix;
  Extents2 seen = memory.extents;
  if (transposed) {
    std::swap(seen.rows, seen.cols);
    std::swap(seen.validRows, seen.validCols);
  }
  tile.buffer = allocate(c, ir::Place::Mat, transposed ? "zn" : "nz", seen, memory.element, loc,
                         /*rotates=*/true);
  Value view = partition(c, memory.box, seen, memory.element, loc, transposed);
  emit(c, loc, InstructionId::TLoad, {view}, {tile.buffer});
  return tile;
}

void lowerCube(KernelContext &c, Operation *op) {
  if (isa<ir::MatmulOp>(op))
    return lowerMatmul(c, op);
  Value result = op->getResult(0);
  if (isa<ir::AddOp>(op)) { // the product has been added where it was made
    const Tile *sum = tileOf(c, op->getOperand(0));
    setTile(c, result, sum ? *sum : *tileOf(c, op->getOperand(1)));
    return;
  }
  if (isa<ir::ConvertOp>(op)) { // done by the store
    setTile(c, result, *tileOf(c, op->getOperand(0)));
    return;
  }
  if (Value limited = ir::reluOperand(op)) { // the same
    Tile tile = *tileOf(c, limited);
    tile.relu = true;
    setTile(c, result, tile);
    return;
  }
  fail(c, op, "`" + op->getName().stripDialect().str() + "` on the cube core");
}

/// The element type of operands whose product is zeros for the accumulator of another product. Blocks have no instruction
/// without scales.
static Type typeOfZeros(ir::MatmulOp product) {
  if (!product.getScales().empty())
    return Float16Type::get(product.getContext());
  return ir::elementTypeOf(product.getA().getType());
}

static Type typeOfZeros(const Tile &operand) {
  return operand.scales ? Float16Type::get(operand.element.getContext()) : operand.element;
}

/// The accumulator of a sum of products whose operands have this type. Boxes of bytes may be exchanged in pairs on the way to
/// an operand buffer, and an accumulator has as many lines as the operand buffers. Both sides of a queue have the tile as it is.
static Value allocateAccumulator(KernelContext &c, const Tile &out, Value sum, Type operand,
                                 Location loc, bool rotates) {
  Extents2 extents = out.extents;
  if (operand && (ringOf(c, sum) || !isHanded(c.cores, sum))) {
    int64_t box = productBox(pto::elementBytes(operand));
    extents.rows = roundUp(extents.rows, box);
    extents.cols = roundUp(extents.cols, box);
  }
  return allocate(c, ir::Place::Acc, "acc", extents, out.element, loc, rotates);
}

Tile accumulatorTile(KernelContext &c, scf::ForOp loop, Value argument) {
  std::optional<Tile> made = tileFor(c, loop, argument.getType());
  if (!made)
    return {};
  Tile &tile = *made;
  tile.form = Form::Acc;
  Location loc = c.loc;
  // The accumulator bears the name of the variable.
  for (Value init : loop.getInitArgs())
    if (init.getType() == argument.getType())
      loc = named(c, init);
  Value sum = loop.getTiedLoopYieldedValue(cast<BlockArgument>(argument))->get();
  tile.buffer = allocateAccumulator(c, tile, sum, factorsOf(sum), loc, /*rotates=*/false);
  Type operand;
  loop.walk([&](ir::MatmulOp product) { operand = typeOfZeros(product); });
  // The variable goes through a nest of loops, from the outer argument to the inner one. Where any of these has no rounds, there is no
  // product.
  for (Value inside = argument; loop;) {
    zeroIfEmpty(c, scalarOf(c, loop.getLowerBound()), scalarOf(c, loop.getUpperBound()), tile,
                operand);
    OpOperand &use = *inside.getUses().begin();
    loop = dyn_cast<scf::ForOp>(use.getOwner());
    if (loop)
      inside = loop.getTiedLoopRegionIterArg(&use);
  }
  return tile;
}

/// Whether nothing has been added yet to a variable of a loop, an i1: the loop is in its first
/// round, and so are those around it that hand the variable on.
static Value isFirstRound(KernelContext &c, BlockArgument argument, Location loc) {
  Value first;
  while (argument) {
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    Value own = c.b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                          scalarOf(c, loop.getInductionVar()),
                                          scalarOf(c, loop.getLowerBound()));
    first = first ? c.b.create<arith::AndIOp>(loc, own, first).getResult() : own;
    argument = dyn_cast<BlockArgument>(loop.getTiedLoopInit(argument)->get());
  }
  return first;
}

/// Zeros in an accumulator whose loop may not run: the product of zeros, since nothing else writes
/// there. `begins`: an i1 that says whether the accumulator begins with this loop; null: it does.
static void zeroIfEmpty(KernelContext &c, Value lower, Value upper, const Tile &out, Type operand,
                        Value begins) {
  IntegerAttr first, last;
  if (matchPattern(lower, m_Constant(&first)) && matchPattern(upper, m_Constant(&last)) &&
      first.getInt() < last.getInt())
    return;
  // The length of a range that is run through is above 0.
  if (matchPattern(lower, m_Zero()) && isRangeLength(c, upper))
    return;
  // Buffers that are made in the branch are not shared with other parts.
  PartOf part = std::exchange(c.part, {});
  llvm::SmallVector<Rotation> rotations = std::exchange(c.rotations, {});
  auto done = llvm::make_scope_exit([&] {
    c.part = part;
    c.rotations = rotations;
  });
  Value empty = c.b.create<arith::CmpIOp>(c.loc, arith::CmpIPredicate::sge, lower, upper);
  if (begins)
    empty = c.b.create<arith::AndIOp>(c.loc, begins, empty);
  auto branch = c.b.create<scf::IfOp>(c.loc, empty, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  // The least product that there is: one box along the contracted axis.
  int64_t step = productBox(pto::elementBytes(operand));
  Extents2 left{out.extents.rows, step, out.extents.validRows, constant(c, step)};
  Extents2 right{step, out.extents.cols, constant(c, step), out.extents.validCols};
  // Bytes have the order of boxes that needs no exchange on the way to the operand buffer.
  auto zeros = [&](const Extents2 &extents, llvm::StringRef layout) {
    Value tile = allocate(c, ir::Place::Mat, layout, extents, operand, c.loc);
    Value filled = fullView(c, tile);
    Type wide = operand.isF16() || operand.isF32() ? operand : c.b.getIntegerType(16);
    if (wide != operand) { // the same bytes as a type that can be filled
      auto type = cast<pto::TileBufType>(filled.getType());
      int64_t rows = type.getRows(), cols = type.getCols();
      int64_t &packed = layout == "nz" ? cols : rows; // neighbours in memory
      packed = packed * pto::elementBytes(operand) / 2;
      auto as = pto::TileBufType::get(c.b.getContext(), type.getPlace(), rows, cols, wide, rows,
                                      cols, type.getLayout());
      filled = c.b.create<pto::BitcastOp>(c.loc, as, filled, Value(), Value());
    }
    emit(c, c.loc, InstructionId::TExpands, {constantOf(c, wide, 0)}, {filled});
    return tile;
  };
  Tile a, b;
  a.buffer = zeros(left, "nz");
  b.buffer = zeros(right, pto::elementBytes(operand) == 1 ? "zn" : "nz");
  a.element = b.element = operand;
  multiplyStep(c, a, b, out, {}, constant(c, 0), constant(c, step), step, c.loc);
}

/// As many rows or columns as an operand buffer needs for a matrix: boxes of bytes that go there in another order than
/// they are staged in are exchanged in pairs, and scales belong to lines of pairs.
static int64_t linesFor(const Tile &operand, llvm::StringRef straight, int64_t lines) {
  auto type = dyn_cast<pto::TileBufType>(operand.buffer.getType());
  bool isStraight = type && type.getLayout() == *pto::layoutByName(straight);
  return isStraight && !operand.scales
             ? lines
             : roundUp(lines, productBox(pto::elementBytes(operand.element)));
}

/// The left operand in the operand buffer, where one step takes all of it.
static Tile extractedOnce(KernelContext &c, const Tile &a, Location loc) {
  Tile left = a;
  // With several steps the operand buffer holds one of them at a time. Scales go with each step.
  if (a.scales || a.form != Form::Matrix || a.extents.cols > c.cut.step || a.extents.cols == 0)
    return left;
  Value zero = constant(c, 0);
  Extents2 extents = a.extents;
  extents.rows = roundUp(extents.rows, productBox(pto::elementBytes(a.element)));
  left.operand = allocate(c, ir::Place::Left, leftLayout(c), extents, a.element, withoutName(loc),
                          /*rotates=*/false);
  emit(c, loc, InstructionId::TExtract, {a.buffer, zero, zero}, {left.operand});
  return left;
}

/// Some columns of a right operand, which begin at `at`.
static Tile columnsOf(KernelContext &c, const Tile &b, Value at, int64_t cols, Value length,
                      Location loc) {
  Tile part = b;
  part.extents.cols = cols;
  part.extents.validCols = length;
  if (b.scales) {
    MemoryBox box = *b.scales;
    box.row = c.b.createOrFold<arith::AddIOp>(loc, box.row, at);
    part.scales = std::make_shared<const MemoryBox>(box);
  }
  if (b.form != Form::Memory) {
    // What is staged already is cut when it goes to the operand buffer.
    part.column = at;
    return part;
  }
  Value &offset = b.transposed ? part.box.row : part.box.col;
  offset = c.b.createOrFold<arith::AddIOp>(loc, offset, at);
  return part;
}

/// A product whose columns are stored to a slot of a ring as they are finished.
static void multiplyIntoRing(KernelContext &c, Operation *op, const Tile &a, const Tile &b,
                             const Ring &to) {
  const Ring ring = to;
  Location loc = op->getLoc();
  Value result = op->getResult(0);
  std::optional<Tile> whole = tileFor(c, op, result.getType());
  if (!whole)
    return;
  Tile out = *whole;
  out.form = Form::Acc;
  RingProduct way = ringProduct(whole->extents.rows, whole->extents.cols,
                                productsAtOnce(c.cores, c.options), c.machine);
  Value number = numberOfRound(c, result);
  auto make = [&](const Tile &left, const Tile &right, Value col) {
    out.buffer = allocateAccumulator(c, out, result, a.element, named(c, result), way.takesTurns);
    multiply(c, left, right, out, {}, loc);
    // A whole product needs its slot only when it is finished, so the multiplication runs before
    // the wait.
    if (!col)
      awaitSlot(c, ring, number, loc);
    storeToSlot(c, ring, number, out, {}, col, loc);
  };
  if (way.cols >= whole->extents.cols) {
    make(a, b, {});
  } else {
    awaitSlot(c, ring, number, loc);
    // All columns use the same left operand.
    Tile left = extractedOnce(c, a, loc);
    Value cols = whole->extents.validCols;
    auto loop = c.b.create<scf::ForOp>(loc, constant(c, 0), cols, constant(c, way.cols));
    OpBuilder::InsertionGuard guard(c.b);
    c.b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar();
    Value rest = c.b.create<arith::SubIOp>(loc, cols, at);
    out.extents.cols = way.cols;
    out.extents.validCols = minimum(c, rest, constant(c, way.cols));
    c.rotations.push_back({loop, iterationOf(c, loop), 2});
    make(left, columnsOf(c, b, at, way.cols, out.extents.validCols, loc), at);
    c.rotations.pop_back();
  }
  fillSlot(c, ring, loc);
}

static void lowerMatmul(KernelContext &c, Operation *op) {
  Location loc = op->getLoc();
  Value result = op->getResult(0);
  c.part = partOf(result);
  c.productRotations = c.rotations.size();
  // Buffers of parts are counted from the first one of each product.
  c.productBuffers.clear();
  auto done = llvm::make_scope_exit([&] { c.part = {}; });
  const Tile *a = tileOf(c, op->getOperand(0)), *b = tileOf(c, op->getOperand(1));
  if (!a || !b)
    return fail(c, op, "this operand of a product");
  if (ir::rankOf(result.getType()) != 2)
    return fail(c, op, "a batch of products in one kernel");
  // Added onto what a loop carries, or a product by itself.
  Operation *user = result.hasOneUse() ? *result.getUsers().begin() : nullptr;
  bool isAdded = user && isa<ir::AddOp>(user) && c.cores.coreOf(user) == CoreKind::Cube;
  Value sum = isAdded ? user->getOperand(user->getOperand(0) == result ? 1 : 0) : Value();
  Tile out;
  Value first; // an i1: nothing has been accumulated yet
  // Between products that are added one after the other, the first one has written the accumulator already.
  if (sum && tileOf(c, sum)) {
    out = *tileOf(c, sum);
    auto carried = dyn_cast<BlockArgument>(sum);
    first = carried ? isFirstRound(c, carried, loc)
                    : c.b.create<arith::ConstantIntOp>(loc, 0, 1).getResult();
  } else if (!ringOf(c, result)) {
    std::optional<Tile> whole = tileFor(c, op, result.getType());
    if (!whole)
      return;
    out = *whole;
    out.form = Form::Acc;
    out.buffer =
        allocateAccumulator(c, out, result, a->element, named(c, result), /*rotates=*/true);
  }
  Tile left = asProductReads(c, *a), right = asProductReads(c, *b);
  for (auto [number, scales] : llvm::enumerate(cast<ir::MatmulOp>(op).getScales())) {
    const Tile *tile = tileOf(c, scales);
    if (!tile || tile->form != Form::Memory)
      return fail(c, op, "scales of a product that are no part of an array");
    (number ? right : left).scales = std::make_shared<const MemoryBox>(tile->box);
  }
  c.cut = cutOf(op);
  if (const Ring *ring = ringOf(c, result))
    return multiplyIntoRing(c, op, left, right, *ring);
  // Where the first round contracts nothing, no step would write what the loop carries.
  bool inSteps =
      left.form == Form::Memory || right.form == Form::Memory || left.extents.cols > c.cut.step;
  if (inSteps && sum && isa<BlockArgument>(sum) && first && left.extents.cols != 0 &&
      !ir::hasElements(op->getOperand(0), 1))
    zeroIfEmpty(c, constant(c, 0), left.extents.validCols, out, typeOfZeros(cast<ir::MatmulOp>(op)),
                first);
  multiply(c, left, right, out, first, loc);
  setTile(c, result, out);
}

/// `first` null: the accumulator begins with this product.
static void multiply(KernelContext &c, const Tile &a, const Tile &b, const Tile &out, Value first,
                     Location loc) {
  int64_t step = c.cut.step;
  int64_t contracted = a.extents.cols;
  // There are no elements, and no instruction takes a matrix of none.
  if (out.extents.rows == 0 || out.extents.cols == 0)
    return;
  if (contracted == 0) { // zeros, where anything begins
    Value begins = first ? c.b.createOrFold<arith::IndexCastUIOp>(loc, c.b.getIndexType(), first)
                         : constant(c, 1);
    return zeroIfEmpty(c, begins, constant(c, 1), out, typeOfZeros(a));
  }
  if (a.form == Form::Memory || b.form == Form::Memory) {
    multiplyFromMemory(c, a, b, out, first, loc);
    return;
  }
  if (contracted <= step) {
    multiplyStep(c, a, b, out, first, constant(c, 0), a.extents.validCols, contracted, loc);
    return;
  }
  Value zero = constant(c, 0);
  // Without any step nothing would write the accumulator.
  if (!first)
    zeroIfEmpty(c, zero, a.extents.validCols, out, typeOfZeros(a));
  auto loop = c.b.create<scf::ForOp>(loc, zero, a.extents.validCols, constant(c, step));
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value rest = c.b.create<arith::SubIOp>(loc, a.extents.validCols, at);
  Value length = minimum(c, rest, constant(c, step));
  // The first step overwrites the accumulator, which so needs no zeros.
  Value begins = c.b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, at, zero);
  if (first)
    begins = c.b.create<arith::AndIOp>(loc, first, begins);
  c.rotations.push_back({loop, iterationOf(c, loop), 2});
  multiplyStep(c, a, b, out, begins, at, length, step, loc);
  c.rotations.pop_back();
}

namespace {
/// A step of a block-scaled product: the extents of an operand as the product sees it, where the step begins along the
/// contracted axis, and whether its buffers take turns.
struct StepOfScales {
  Extents2 extents;
  Value at;
  bool rotates;
  Location loc;
};
} // namespace

/// The scales of a step: from memory to `mat`, and from there beside the operand.
static Value loadScales(KernelContext &c, const MemoryBox &all, const StepOfScales &step,
                        bool isRight = false) {
  auto blocks = [&](Value positions) {
    return c.b.createOrFold<arith::DivUIOp>(step.loc, positions, constant(c, kBlockLength));
  };
  Extents2 extents = step.extents;
  (isRight ? extents.rows : extents.cols) /= kBlockLength;
  Value &length = isRight ? extents.validRows : extents.validCols;
  length = blocks(length);
  MemoryBox box = all;
  box.col = c.b.createOrFold<arith::AddIOp>(step.loc, box.col, blocks(step.at));
  // Both kinds lie in memory with those of one line of the operand side by side; those of the right operand, which is
  // transposed, so lie in columns.
  llvm::StringRef layout = isRight ? "mx_nn" : "mx_zz";
  ir::Place place = isRight ? ir::Place::ScaleRight : ir::Place::ScaleLeft;
  Type code = c.b.getIntegerType(8, /*isSigned=*/false);
  Value staged = allocate(c, ir::Place::Mat, layout, extents, code, step.loc, /*rotates=*/true);
  Value view = partition(c, box, extents, code, step.loc, isRight, /*asRow=*/false,
                         isRight ? pto::ViewLayout::mx_b_dn : pto::ViewLayout::mx_a_nd);
  emit(c, step.loc, InstructionId::TLoad, {view}, {staged});
  // A slot of scales takes as many bytes as lie between those of the operand by the address at which the product looks: an
  // operand of bytes has half as many scales, so there are as many lines again, of which none are valid.
  (isRight ? extents.cols : extents.rows) *= kBlockLength >> kScaleAddressShift;
  Value beside = allocate(c, place, layout, extents, code, step.loc, step.rotates);
  emit(c, step.loc, InstructionId::TMov, {staged}, {beside});
  return beside;
}

/// One step from `mat` through the operand buffers. `begins`: an i1 that says whether the
/// accumulator begins here; null: it does.
static void multiplyStep(KernelContext &c, const Tile &a, const Tile &b, const Tile &out,
                         Value begins, Value at, Value length, int64_t step, Location loc) {
  auto sum = cast<pto::TileBufType>(out.buffer.getType());
  Extents2 leftExtents{linesFor(a, "nz", sum.getRows()), step, out.extents.validRows, length};
  Extents2 rightExtents{step, linesFor(b, "zn", sum.getCols()), length, out.extents.validCols};
  ProductShape shape{out.extents.rows,
                     out.extents.cols,
                     step,
                     pto::elementBytes(a.element),
                     operandName(a.element),
                     productsAtOnce(c.cores, c.options),
                     a.scales != nullptr};
  // With two buffers the next step is moved while this one is multiplied.
  bool rotates = (begins || !c.rotations.empty()) && fitsTwice(shape, step, c.machine);
  if (a.operand && !c.rotations.empty()) { // the right operand alone is moved
    shape.rows = 1;
    rotates = fitsTwice(shape, step, c.machine);
  }
  // The name is that of the product.
  Location plain = withoutName(loc);
  Value left = a.operand ? a.operand
                         : allocate(c, ir::Place::Left, leftLayout(c), leftExtents, a.element,
                                    plain, rotates);
  Value right = allocate(c, ir::Place::Right, "zn", rightExtents, b.element, plain, rotates);
  Value zero = constant(c, 0);
  auto from = [&](Value start) {
    return start ? c.b.createOrFold<arith::AddIOp>(loc, start, at) : at;
  };
  if (!a.operand)
    emit(c, loc, InstructionId::TExtract, {a.buffer, zero, from(a.start)}, {left});
  emit(c, loc, InstructionId::TExtract, {b.buffer, from(b.start), b.column ? b.column : zero},
       {right});
  llvm::SmallVector<Value> operands = {left, right};
  if (a.scales && b.scales) {
    StepOfScales step{leftExtents, from(a.start), rotates, plain};
    Value ofLeft = loadScales(c, *a.scales, step);
    step.extents = rightExtents;
    step.at = from(b.start);
    operands = {left, ofLeft, right, loadScales(c, *b.scales, step, /*isRight=*/true)};
  }
  bool isScaled = operands.size() > 2;
  // One step is the whole product.
  if (!begins) {
    emit(c, loc, isScaled ? InstructionId::TMatmulMx : InstructionId::TMatmul, operands,
         {out.buffer});
    return;
  }
  auto branch = c.b.create<scf::IfOp>(loc, begins, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  emit(c, loc, isScaled ? InstructionId::TMatmulMx : InstructionId::TMatmul, operands,
       {out.buffer});
  c.b.setInsertionPointToStart(&branch.getElseRegion().front());
  operands.insert(operands.begin(), out.buffer);
  emit(c, loc, isScaled ? InstructionId::TMatmulMxAcc : InstructionId::TMatmulAcc, operands,
       {out.buffer});
}

/// A contraction of what stays in memory, because it has no bound or is large: pieces of it are
/// loaded to `mat` in a loop.
static void multiplyFromMemory(KernelContext &c, const Tile &a, const Tile &b, const Tile &out,
                               Value first, Location loc) {
  int64_t piece = c.cut.piece;
  Value total = a.form == Form::Memory ? a.extents.validCols : b.extents.validRows;
  Value zero = constant(c, 0);
  // As in `multiply`, a loop may have no rounds.
  if (!first)
    zeroIfEmpty(c, zero, total, out, typeOfZeros(a));
  auto loop = c.b.create<scf::ForOp>(loc, zero, total, constant(c, piece));
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value length = minimum(c, c.b.create<arith::SubIOp>(loc, total, at), constant(c, piece));
  Value begins = c.b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, at, zero);
  if (first)
    begins = c.b.create<arith::AndIOp>(loc, first, begins);
  c.rotations.push_back({loop, iterationOf(c, loop), 2});
  auto cut = [&](const Tile &from, bool rowsContracted) {
    // `from` holds extents as the product sees them; its box is in the order of memory.
    Tile part = from;
    if (from.form != Form::Memory) {
      (rowsContracted ? part.extents.rows : part.extents.cols) = piece;
      (rowsContracted ? part.extents.validRows : part.extents.validCols) = length;
      part.start = at;
      return part;
    }
    // The box is in the order of memory, where rows and columns are exchanged if products read the matrix transposed.
    bool alongRows = rowsContracted != from.transposed;
    Value &offset = alongRows ? part.box.row : part.box.col;
    offset = c.b.createOrFold<arith::AddIOp>(loc, offset, at);
    if (from.scales) {
      MemoryBox box = *from.scales;
      Value blocks = c.b.createOrFold<arith::DivUIOp>(loc, at, constant(c, kBlockLength));
      box.col = c.b.createOrFold<arith::AddIOp>(loc, box.col, blocks);
      part.scales = std::make_shared<const MemoryBox>(box);
    }
    (rowsContracted ? part.extents.rows : part.extents.cols) = piece;
    (rowsContracted ? part.extents.validRows : part.extents.validCols) = length;
    bool transposed = part.transposed;
    if (transposed) {
      std::swap(part.extents.rows, part.extents.cols);
      std::swap(part.extents.validRows, part.extents.validCols);
      part.transposed = false;
    }
    Tile loaded = loadMatrix(c, part, transposed, loc);
    loaded.extents = part.extents;
    if (transposed) {
      std::swap(loaded.extents.rows, loaded.extents.cols);
      std::swap(loaded.extents.validRows, loaded.extents.validCols);
    }
    return loaded;
  };
  Tile left = cut(a, false), right = cut(b, true);
  // Inside, the steps of the operand buffers; the accumulator begins with the first step of the
  // first piece.
  multiply(c, left, right, out, begins, loc);
  c.rotations.pop_back();
}

static llvm::StringRef leftLayout(const KernelContext &c) {
  const MemorySpace *left = c.machine.space("left");
  return left ? llvm::StringRef(left->usualLayout()) : "zz";
}

} // namespace ptl::block
