// The cube side: operands staged in `mat`, cut to the operand buffers, multiplied into the
// accumulator.
#include "passes/analysis/source_place.h"
#include "passes/lower_block/cross_operands.h"
#include "passes/lower_block/lowering.h"
#include "passes/lower_block/product_steps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

static int64_t roundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

int64_t usableBytes(const Machine &machine, llvm::StringRef place) {
  const MemorySpace *space = machine.space(std::string_view(place));
  return space ? space->usableBytes() : 0;
}

/// Whether a loaded value is read transposed by products; nothing if no product reads it.
static std::optional<bool> productUse(Value value, bool transposed = false) {
  for (Operation *user : value.getUsers()) {
    if (isa<ir::MatmulOp>(user))
      return transposed;
    if (isa<ir::TransposeOp>(user))
      if (auto use = productUse(user->getResult(0), !transposed))
        return use;
    if (isa<ir::CastOp, ir::NewAxisOp>(user) && !isHanded(user))
      if (auto use = productUse(user->getResult(0), transposed))
        return use;
  }
  return std::nullopt;
}

llvm::DenseSet<Value> streamedOperands(ir::ParallelOp grid, int64_t count) {
  struct Operand {
    Value value;
    int64_t bytes;
  };
  llvm::SmallVector<Operand> operands;
  llvm::DenseMap<StringAttr, int64_t> capacities = capacitiesOf(grid);
  grid.walk([&](Operation *op) {
    if (!isa<ir::SliceOp, ir::LoadOp>(op) || !op->getParentOfType<scf::ForOp>() ||
        !productUse(op->getResult(0)))
      return;
    int64_t bytes = pto::elementBytes(ir::elementTypeOf(op->getResult(0).getType()));
    for (const ir::Extent &extent : ir::extentsOf(op->getResult(0).getType()))
      bytes *= extent.isConstant() ? extent.length : capacities.lookup(extent.symbol);
    operands.push_back({op->getResult(0), bytes});
  });
  std::reverse(operands.begin(), operands.end());
  llvm::stable_sort(operands, [](const Operand &a, const Operand &b) { return a.bytes > b.bytes; });
  llvm::DenseSet<Value> chosen;
  for (const Operand &operand : operands)
    if (static_cast<int64_t>(chosen.size()) < count)
      chosen.insert(operand.value);
  return chosen;
}

/// A value that products read: loaded to `mat` where it is cut from memory. What has no bound stays
/// in memory, and the product loads it piece by piece.
void KernelLowering::stage(Operation *slice, const Tile &memory) {
  Value result = slice->getResult(0);
  std::optional<bool> transposed = productUse(result);
  if (!transposed)
    return;
  Tile tile = memory;
  const int64_t unknown = ir::Extent::kUnknown;
  bool bounded = tile.extents.rows != unknown && tile.extents.cols != unknown;
  int64_t bytes =
      bounded ? tile.extents.rows * tile.extents.cols * pto::elementBytes(tile.element) : 0;
  bool isWritten = cores_.written.contains(operandsOf(slice).array); // read where it stands
  if (!bounded && isWritten)
    return fail(slice, "an operand of a product without a static bound, from an array that the "
                       "kernel stores to,");
  if (!bounded ||
      (!isWritten && (bytes > usableBytes(machine_, "mat") / 4 || streamed_.contains(result)))) {
    setTile(result, tile);
    return;
  }
  Tile loaded = loadMatrix(memory, *transposed, named(result));
  loaded.transposed = *transposed;
  setTile(result, loaded);
}

/// A staged matrix as a product reads it. Where its buffer holds the transposed matrix, the same
/// bytes are the matrix itself in the other order of boxes.
Tile KernelLowering::asProductReads(const Tile &tile) {
  if (tile.form != Form::Matrix || !tile.transposed)
    return tile;
  Tile seen = tile;
  seen.transposed = false;
  bool byRows = cast<pto::TileBufType>(tile.buffer.getType()).getLayout().box ==
                pto::Layout::RowMajor; // `zn`
  seen.buffer = reshape(tile.buffer,
                        tileType(ir::Place::Mat, byRows ? "nz" : "zn", tile.extents, tile.element),
                        tile.extents.validRows, tile.extents.validCols);
  return seen;
}

/// From memory to `mat`. Transposed, the matrix that products see is loaded: column-major memory in
/// `zn` boxes.
Tile KernelLowering::loadMatrix(const Tile &memory, bool transposed, Location loc) {
  Tile tile = memory;
  tile.form = Form::Matrix;
  Extents2 seen = memory.extents;
  if (transposed) {
    std::swap(seen.rows, seen.cols);
    std::swap(seen.validRows, seen.validCols);
  }
  tile.buffer = allocate(ir::Place::Mat, transposed ? "zn" : "nz", seen, memory.element, loc,
                         /*rotates=*/true);
  Value view = partition(memory.box, seen, memory.element, loc, transposed);
  emit(loc, InstructionId::TLoad, {view}, {tile.buffer});
  return tile;
}

void KernelLowering::lowerCube(Operation *op) {
  if (isa<ir::MatmulOp>(op))
    return lowerMatmul(op);
  Value result = op->getResult(0);
  if (isa<ir::AddOp>(op)) { // the product has been added where it was made
    const Tile *sum = tileOf(op->getOperand(0));
    setTile(result, sum ? *sum : *tileOf(op->getOperand(1)));
    return;
  }
  if (isa<ir::ConvertOp>(op)) { // done by the store
    setTile(result, *tileOf(op->getOperand(0)));
    return;
  }
  fail(op, "`" + op->getName().stripDialect().str() + "` on the cube core");
}

/// The accumulator of a variable that a loop carries. It begins with the first product, so nothing
/// fills it.
Tile KernelLowering::accumulatorTile(scf::ForOp loop, Value argument) {
  Tile tile;
  std::optional<Extents2> extents = extentsOf(loop, argument.getType());
  if (!extents)
    return tile;
  tile.form = Form::Acc;
  tile.extents = *extents;
  tile.element = ir::elementTypeOf(argument.getType());
  Location loc = loc_;
  for (Value init : loop.getInitArgs())
    if (init.getType() == argument.getType())
      loc = named(init);
  tile.buffer = allocate(ir::Place::Acc, "acc", tile.extents, tile.element, loc);
  Type operand;
  loop.walk(
      [&](ir::MatmulOp product) { operand = ir::elementTypeOf(product->getOperand(0).getType()); });
  zeroIfEmpty(scalarOf(loop.getLowerBound()), scalarOf(loop.getUpperBound()), tile, operand);
  return tile;
}

/// The length of the range that a loop is at: `min(end - at, size)`, which is never 0.
static bool isRangeLength(Value length) {
  auto least = length.getDefiningOp<arith::MinSIOp>();
  auto rest = least ? least.getLhs().getDefiningOp<arith::SubIOp>() : nullptr;
  IntegerAttr size;
  auto at = rest ? dyn_cast<BlockArgument>(rest.getRhs()) : nullptr;
  auto loop = at ? dyn_cast<scf::ForOp>(at.getOwner()->getParentOp()) : nullptr;
  return loop && at == loop.getInductionVar() && rest.getLhs() == loop.getUpperBound() &&
         matchPattern(least.getRhs(), m_Constant(&size)) && size.getInt() > 0;
}

/// Zeros in an accumulator whose loop may not run: the product of zeros, since nothing else writes
/// there.
void KernelLowering::zeroIfEmpty(Value lower, Value upper, const Tile &out, Type operand) {
  IntegerAttr first, last;
  if (matchPattern(lower, m_Constant(&first)) && matchPattern(upper, m_Constant(&last)) &&
      first.getInt() < last.getInt())
    return;
  if (matchPattern(lower, m_Zero()) && isRangeLength(upper))
    return;
  // What is made in the branch is for it alone.
  PartOf part = std::exchange(part_, {});
  llvm::SmallVector<Rotation> rotations = std::exchange(rotations_, {});
  auto done = llvm::make_scope_exit([&] {
    part_ = part;
    rotations_ = rotations;
  });
  Value empty = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sge, lower, upper);
  auto branch = b_.create<scf::IfOp>(loc_, empty, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&branch.getThenRegion().front());
  int64_t step = std::max<int64_t>(16, 32 / pto::elementBytes(operand));
  Extents2 left{out.extents.rows, step, out.extents.validRows, constant(step)};
  Extents2 right{step, out.extents.cols, constant(step), out.extents.validCols};
  auto zeros = [&](const Extents2 &extents) {
    Value tile = allocate(ir::Place::Mat, "nz", extents, operand, loc_);
    Value filled = fullView(tile);
    Type wide = operand.isF16() || operand.isF32() ? operand : b_.getIntegerType(16);
    if (wide != operand) { // the same bytes as a type that can be filled
      auto type = cast<pto::TileBufType>(filled.getType());
      int64_t cols = type.getCols() * pto::elementBytes(operand) / 2;
      auto as = pto::TileBufType::get(b_.getContext(), type.getPlace(), type.getRows(), cols, wide,
                                      type.getRows(), cols, type.getLayout());
      filled = b_.create<pto::BitcastOp>(loc_, as, filled, Value(), Value());
    }
    emit(loc_, InstructionId::TExpands, {constantOf(wide, 0)}, {filled});
    return tile;
  };
  Tile a, b;
  a.buffer = zeros(left);
  b.buffer = zeros(right);
  a.element = b.element = operand;
  multiplyStep(a, b, out, {}, constant(0), constant(step), step, loc_);
}

void KernelLowering::lowerMatmul(Operation *op) {
  Location loc = op->getLoc();
  Value result = op->getResult(0);
  part_ = partOf(result);
  productRotations_ = rotations_.size();
  productBuffers_ = 0;
  auto done = llvm::make_scope_exit([&] { part_ = {}; });
  const Tile *a = tileOf(op->getOperand(0)), *b = tileOf(op->getOperand(1));
  if (!a || !b)
    return fail(op, "this operand of a product");
  if (ir::rankOf(result.getType()) != 2)
    return fail(op, "a batch of products in one kernel");
  // Added onto what a loop carries, or a product by itself.
  Operation *user = result.hasOneUse() ? *result.getUsers().begin() : nullptr;
  bool isAdded = user && isa<ir::AddOp>(user) && cores_.coreOf(user) == CoreKind::Cube;
  Value sum = isAdded ? user->getOperand(user->getOperand(0) == result ? 1 : 0) : Value();
  Tile out;
  Value first; // an i1: nothing has been accumulated yet
  if (sum && tileOf(sum)) {
    out = *tileOf(sum);
    auto loop = dyn_cast<scf::ForOp>(sum.getParentBlock()->getParentOp());
    first = isa<BlockArgument>(sum) ? b_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq,
                                                               scalarOf(loop.getInductionVar()),
                                                               scalarOf(loop.getLowerBound()))
                                          .getResult()
                                    : b_.create<arith::ConstantIntOp>(loc, 0, 1).getResult();
  } else {
    out.form = Form::Acc;
    std::optional<Extents2> extents = extentsOf(op, result.getType());
    if (!extents)
      return;
    out.extents = *extents;
    out.element = ir::elementTypeOf(result.getType());
    out.buffer =
        allocate(ir::Place::Acc, "acc", out.extents, out.element, named(result), /*rotates=*/true);
  }
  Tile left = asProductReads(*a), right = asProductReads(*b);
  if (!pinStep(op, left, out))
    return;
  multiply(left, right, out, first, loc);
  setTile(result, out);
}

/// `l0 rows, columns, contracted positions` of a schedule: a step through the operand buffers. Rows
/// and columns of a tile go through them whole.
bool KernelLowering::pinStep(Operation *op, const Tile &a, const Tile &out) {
  pinnedStep_ = 0;
  auto said = op->getAttrOfType<ArrayAttr>("ptl.l0");
  if (!said)
    return true;
  auto sizes = cast<DenseI64ArrayAttr>(said[0]);
  auto [rows, cols, step] = std::tuple(sizes[0], sizes[1], sizes[2]);
  std::string why;
  int64_t bytes = pto::elementBytes(a.element), box = std::max<int64_t>(16, 32 / bytes);
  auto number = [](int64_t value) { return std::to_string(value); };
  auto tooSmall = [&](const char *what, int64_t given, int64_t own) {
    if (why.empty() && given < own)
      why = "the tile has " + number(own) + " " + what +
            ", which go through the operand buffers together: make the tile smaller";
  };
  auto tooLarge = [&](const char *place, int64_t lines) {
    int64_t needed = roundUp(lines, 16) * step * bytes, there = usableBytes(machine_, place);
    if (why.empty() && needed > there)
      why = number(needed) + " bytes of `" + place + "` are needed, `" + machine_.name + "` has " +
            number(there);
  };
  tooSmall("rows", rows, out.extents.rows);
  tooSmall("columns", cols, out.extents.cols);
  if (why.empty() && step % box != 0)
    why = "contracted positions go in boxes of " + number(box);
  tooLarge("left", out.extents.rows);
  tooLarge("right", out.extents.cols);
  if (why.empty()) {
    pinnedStep_ = step;
    return true;
  }
  report_(DiagId::ScheduleCannot, cast<LocationAttr>(said[1]),
          {"l0 " + number(rows) + ", " + number(cols) + ", " + number(step), why});
  failed_ = true;
  return false;
}

static std::string_view nameOf(Type element) {
  return element.isF32() ? "f32" : element.isF16() ? "f16" : element.isBF16() ? "bf16" : "i8";
}

/// The contracted extent in one step of the operand buffers. A contraction without a bound is long.
int64_t KernelLowering::contractedStep(const Tile &a, int64_t rows, int64_t cols) const {
  constexpr int64_t longest = 4096;
  int64_t contracted = a.extents.cols > 0 ? a.extents.cols : longest;
  return stepOf(
      {rows, cols, contracted, pto::elementBytes(a.element), nameOf(a.element), cores_.numProducts},
      machine_);
}

/// `first` null: the accumulator begins with this product.
void KernelLowering::multiply(const Tile &a, const Tile &b, const Tile &out, Value first,
                              Location loc) {
  int64_t step = pinnedStep_ ? pinnedStep_ : contractedStep(a, out.extents.rows, out.extents.cols);
  int64_t contracted = a.extents.cols;
  if (out.extents.rows == 0 || out.extents.cols == 0)
    return;
  if (contracted == 0) { // zeros, where anything begins
    Value begins =
        first ? b_.createOrFold<arith::IndexCastUIOp>(loc, b_.getIndexType(), first) : constant(1);
    return zeroIfEmpty(begins, constant(1), out, a.element);
  }
  if (a.form == Form::Memory || b.form == Form::Memory) {
    multiplyFromMemory(a, b, out, first, loc, step);
    return;
  }
  if (contracted <= step) {
    multiplyStep(a, b, out, first, constant(0), a.extents.validCols, contracted, loc);
    return;
  }
  Value zero = constant(0);
  if (!first)
    zeroIfEmpty(zero, a.extents.validCols, out, a.element);
  auto loop = b_.create<scf::ForOp>(loc, zero, a.extents.validCols, constant(step));
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value rest = b_.create<arith::SubIOp>(loc, a.extents.validCols, at);
  Value length = minimum(rest, constant(step));
  Value begins = b_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, at, zero);
  if (first)
    begins = b_.create<arith::AndIOp>(loc, first, begins);
  rotations_.push_back({loop, iterationOf(loop), 2});
  multiplyStep(a, b, out, begins, at, length, step, loc);
  rotations_.pop_back();
}

/// One step from `mat` through the operand buffers. `begins`: an i1 that says whether the
/// accumulator begins here; null: it does.
void KernelLowering::multiplyStep(const Tile &a, const Tile &b, const Tile &out, Value begins,
                                  Value at, Value length, int64_t step, Location loc) {
  Extents2 leftExtents{out.extents.rows, step, out.extents.validRows, length};
  Extents2 rightExtents{step, out.extents.cols, length, out.extents.validCols};
  ProductShape shape{out.extents.rows,  out.extents.cols,  step, pto::elementBytes(a.element),
                     nameOf(a.element), cores_.numProducts};
  bool rotates = (begins || !rotations_.empty()) && fitsTwice(shape, step, machine_);
  // The name is that of the product.
  Location plain = withoutName(loc);
  Value left = allocate(ir::Place::Left, leftLayout(), leftExtents, a.element, plain, rotates);
  Value right = allocate(ir::Place::Right, "zn", rightExtents, b.element, plain, rotates);
  Value zero = constant(0);
  auto from = [&](Value start) {
    return start ? b_.createOrFold<arith::AddIOp>(loc, start, at) : at;
  };
  emit(loc, InstructionId::TExtract, {a.buffer, zero, from(a.start)}, {left});
  emit(loc, InstructionId::TExtract, {b.buffer, from(b.start), zero}, {right});
  if (!begins) {
    emit(loc, InstructionId::TMatmul, {left, right}, {out.buffer});
    return;
  }
  auto branch = b_.create<scf::IfOp>(loc, begins, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(&branch.getThenRegion().front());
  emit(loc, InstructionId::TMatmul, {left, right}, {out.buffer});
  b_.setInsertionPointToStart(&branch.getElseRegion().front());
  emit(loc, InstructionId::TMatmulAcc, {out.buffer, left, right}, {out.buffer});
}

/// The contracted extent of a piece: some steps, as many as leave room for other values in `mat`.
int64_t KernelLowering::contractedPiece(const Tile &a, const Tile &b, const Tile &out,
                                        int64_t step) const {
  int64_t line = 0; // bytes that one position of the contracted axis takes
  if (a.form == Form::Memory)
    line += roundUp(std::max<int64_t>(out.extents.rows, 1), 16) * pto::elementBytes(a.element);
  if (b.form == Form::Memory)
    line += roundUp(std::max<int64_t>(out.extents.cols, 1), 16) * pto::elementBytes(b.element);
  int64_t room = usableBytes(machine_, "mat") / 4 / std::max<int64_t>(1, cores_.numProducts);
  return step * std::clamp<int64_t>(room / (line * step), 1, 4);
}

/// A contraction of what stays in memory, because it has no bound or is large: pieces of it are
/// loaded to `mat` in a loop.
void KernelLowering::multiplyFromMemory(const Tile &a, const Tile &b, const Tile &out, Value first,
                                        Location loc, int64_t step) {
  int64_t piece = contractedPiece(a, b, out, step);
  Value total = a.form == Form::Memory ? a.extents.validCols : b.extents.validRows;
  Value zero = constant(0);
  if (!first)
    zeroIfEmpty(zero, total, out, a.element);
  auto loop = b_.create<scf::ForOp>(loc, zero, total, constant(piece));
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  Value at = loop.getInductionVar();
  Value length = minimum(b_.create<arith::SubIOp>(loc, total, at), constant(piece));
  Value begins = b_.create<arith::CmpIOp>(loc, arith::CmpIPredicate::eq, at, zero);
  if (first)
    begins = b_.create<arith::AndIOp>(loc, first, begins);
  rotations_.push_back({loop, iterationOf(loop), 2});
  auto cut = [&](const Tile &from, bool rowsContracted) {
    // `from` holds extents as the product sees them; its box is in the order of memory.
    Tile part = from;
    if (from.form != Form::Memory) {
      (rowsContracted ? part.extents.rows : part.extents.cols) = piece;
      (rowsContracted ? part.extents.validRows : part.extents.validCols) = length;
      part.start = at;
      return part;
    }
    bool alongRows = rowsContracted != from.transposed;
    Value &offset = alongRows ? part.box.row : part.box.col;
    offset = b_.createOrFold<arith::AddIOp>(loc, offset, at);
    (rowsContracted ? part.extents.rows : part.extents.cols) = piece;
    (rowsContracted ? part.extents.validRows : part.extents.validCols) = length;
    bool transposed = part.transposed;
    if (transposed) {
      std::swap(part.extents.rows, part.extents.cols);
      std::swap(part.extents.validRows, part.extents.validCols);
      part.transposed = false;
    }
    Tile loaded = loadMatrix(part, transposed, loc);
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
  multiply(left, right, out, begins, loc);
  rotations_.pop_back();
}

llvm::StringRef KernelLowering::leftLayout() const {
  const MemorySpace *left = machine_.space("left");
  return left ? llvm::StringRef(left->usualLayout()) : "zz";
}

} // namespace ptl::block
