// Reductions as vector instructions. These want an element: where an axis may have none, the result
// is what a reduction begins with, and the instructions stand in a branch.
#include "passes/lower_block/lower_reduction.h"
#include "ir/dialect/op_facts.h"
#include "passes/analysis/op_kinds.h"
#include "passes/analysis/positive.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_elementwise.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_order.h"
#include "passes/lower_block/lower_scalars.h"
#include "passes/lower_block/lower_shape.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

/// The instructions of a reduction; null for operations that have none.
static const VectorForms *formOf(Operation *op) {
  const OpLowering *lowering = ir::loweringOf(op);
  return lowering && lowering->forms.alongRows ? &lowering->forms : nullptr;
}

namespace {
/// A length of a tile, of one axis or of all but the last.
struct Reduced {
  Value length;
  bool hasElements;
};
} // namespace

/// Whether all lengths are above 0; null where that is known.
static Value anyOf(KernelContext &c, llvm::ArrayRef<Reduced> lengths) {
  Value all;
  for (const Reduced &each : lengths) {
    // Only lengths that may be 0 need a test when the kernel runs.
    if (each.hasElements)
      continue;
    Value some = c.b.createOrFold<arith::CmpIOp>(c.loc, arith::CmpIPredicate::sgt, each.length,
                                                 constant(c, 0));
    all = all ? c.b.createOrFold<arith::AndIOp>(c.loc, all, some) : some;
  }
  return all;
}

/// The result of a reduction without elements.
static Value startOf(KernelContext &c, Operation *op, Type element) {
  bool search = isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op);
  return search ? constantOf(c, element, -1)
                : identityOf(c, *ir::loweringOf(op)->combiner, element);
}

/// Goes on in a branch that is taken where `any` holds.
static void beginWhere(KernelContext &c, Value any, Operation *op, const Tile &out) {
  // The result is there before the branch, which then overwrites it.
  fillWith(c, out, startOf(c, op, out.element), op->getLoc());
  auto branch = c.b.create<scf::IfOp>(c.loc, any, /*withElseRegion=*/false);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
}

/// All elements: along the rows, then along the column of their results.
static Value reduceTile(KernelContext &c, Operation *op, Tile source, InstructionId row) {
  Location loc = op->getLoc();
  auto along = [&](const Tile &from) {
    Tile to = from;
    to.extents.cols = 1;
    to.extents.validCols = constant(c, 1);
    to.form = to.extents.rows > 1 ? Form::Column : Form::Whole;
    to.buffer = allocateLike(c, to, loc);
    emit(c, loc, row, {from.buffer, allocateLike(c, from, loc)},
         {to.form == Form::Column ? columnView(c, to) : to.buffer});
    return to;
  };
  if (source.form != Form::Column && source.extents.cols > 1)
    source = along(source);
  // A column is kept as a row, so the same instruction reduces it.
  if (source.form == Form::Column) {
    Tile line = source;
    line.form = Form::Whole;
    std::swap(line.extents.rows, line.extents.cols);
    std::swap(line.extents.validRows, line.extents.validCols);
    source = along(line);
  }
  return c.b.create<pto::TGetValOp>(loc, source.element, source.buffer, constant(c, 0));
}

/// To one scalar.
static void reduceAll(KernelContext &c, Operation *op, const Tile &source, InstructionId row) {
  Value array = op->getOperand(0);
  int64_t last = ir::rankOf(array.getType()) - 1;
  auto isKnown = [&](int64_t axis) { return ir::hasElements(array, axis); };
  Value any =
      anyOf(c, {{source.extents.validRows, llvm::all_of(llvm::seq<int64_t>(0, last), isKnown)},
                {source.extents.validCols, isKnown(last)}});
  // It is known that there are elements.
  if (!any) {
    c.scalars[op->getResult(0)] = reduceTile(c, op, source, row);
    return;
  }
  auto branch = c.b.create<scf::IfOp>(c.loc, TypeRange(source.element), any,
                                      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(&branch.getThenRegion().front());
  Value whole = reduceTile(c, op, source, row);
  c.b.create<scf::YieldOp>(c.loc, whole);
  c.b.setInsertionPointToStart(&branch.getElseRegion().front());
  Value start = startOf(c, op, source.element);
  c.b.create<scf::YieldOp>(c.loc, start);
  c.scalars[op->getResult(0)] = branch.getResult(0);
}

/// The instruction by which a machine does a reduction, seen as rows and columns; nothing where it
/// has none for that.
static std::optional<InstructionId> instructionFor(Operation *op, const VectorForms &forms,
                                                   const Machine &machine) {
  bool search = isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op);
  Type type = op->getOperand(0).getType(), element = ir::elementTypeOf(type),
       position = IntegerType::get(op->getContext(), 32);
  auto has = [&](InstructionId id) {
    return search ? takes(machine, id, {element, position}) : takes(machine, id, {element});
  };
  if (!has(*forms.alongRows))
    return std::nullopt;
  if (!isa<ir::ArrayType>(op->getResult(0).getType()))
    // A position in the whole tile is not a position in a row.
    return search ? std::nullopt : forms.alongRows;
  int64_t rank = ir::rankOf(type);
  llvm::SmallVector<int64_t> axes = ir::foldedAxesOf(op);
  if (axes.size() == 1 && axes[0] == rank - 1)
    return forms.alongRows;
  // A tile of one column is kept as one row, in which no instruction finds the rows of several matrices. Its length may have a name.
  const ir::Extent &columns = ir::extentsOf(type).back();
  bool isColumn = rank > 2 && (columns.isOne() || columns.capacity == 1);
  if (axes.size() == 1 && axes[0] == rank - 2 && !isColumn && has(*forms.alongColumns))
    return forms.alongColumns;
  return std::nullopt;
}

/// Along the last axis but one: the instruction gets the rows of one matrix after the other.
static void reduceColumns(KernelContext &c, Operation *op, const Tile &source, const Tile &out,
                          InstructionId column) {
  bool search = column == InstructionId::TColArgMax || column == InstructionId::TColArgMin;
  Type type = op->getOperand(0).getType();
  auto reduceMatrix = [&](Value from, Value scratch, Value to) {
    SmallVector<Value> ins{from};
    if (search)
      ins.push_back(scratch);
    emit(c, c.loc, column, ins, {to});
  };
  // The searches need room for what they compare, as much as they read.
  Value scratch = search ? allocateLike(c, source, c.loc) : Value();
  if (ir::rankOf(type) == 2)
    return reduceMatrix(source.buffer, scratch, out.buffer);
  ShapedTile whole = shaped(c, source, type);
  Value length = whole.lengths[whole.lengths.size() - 2];
  int64_t rows = capacityOf(c, ir::extentsOf(type)[whole.lengths.size() - 2]);
  auto part = [&](Value buffer, Value row, int64_t capacity, Value valid, const Tile &tile) {
    int64_t cols = cast<pto::TileBufType>(buffer.getType()).getCols();
    return window(c, buffer, row, constant(c, 0), capacity, cols, valid, tile.extents.validCols);
  };
  // A tile of more axes has its matrices one below the other, `length` rows each, and the result a row for each matrix. The instruction
  // would fold all rows of the tile into one, so it gets a window of one matrix at a time.
  forEach(c, {out.extents.validRows}, [&](Indices at) {
    Value row = times(c, at[0], length);
    reduceMatrix(part(source.buffer, row, rows, length, source),
                 search ? part(scratch, row, rows, length, source) : Value(),
                 part(out.buffer, at[0], 1, constant(c, 1), out));
  });
}

/// By an instruction that takes the rows or the columns.
static void reduce(KernelContext &c, Operation *op) {
  const VectorForms *forms = formOf(op);
  InstructionId row = *forms->alongRows, column = *forms->alongColumns;
  Location loc = op->getLoc();
  std::optional<Tile> in = operandTile(c, op, op->getOperand(0));
  if (!in)
    return;
  bool search = isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op);
  Tile source = materialise(c, *in, loc);
  if (isScalar(c, op->getResult(0)))
    return reduceAll(c, op, source, row);
  llvm::SmallVector<int64_t> axes = ir::foldedAxesOf(op);
  bool last = axes[0] == ir::rankOf(op->getOperand(0).getType()) - 1, above = !last;
  std::optional<Tile> out = resultTile(c, op);
  if (!out)
    return;
  bool isFilled = ir::hasElements(op->getOperand(0), axes[0]);
  // Rows of one element: a column, which instructions would see as the one row that it is kept as.
  if (source.extents.cols == 1 && last) {
    // Without elements the result is the identity, which the way by elements gives.
    if (!isFilled)
      return reduceByElements(c, op);
    if (search) {
      out->buffer = allocateLike(c, *out, loc);
      fillWith(c, *out, constantOf(c, out->element, 0), loc);
    }
    setTile(c, op->getResult(0), search ? *out : source);
    return;
  }
  if (source.form == Form::Column && above) { // along the row that it is kept as
    Tile line = source;
    line.form = Form::Whole;
    std::swap(line.extents.rows, line.extents.cols);
    std::swap(line.extents.validRows, line.extents.validCols);
    source = line;
    last = true;
  }
  out->buffer = allocateLike(c, *out, loc);
  // The instructions may stand in a branch, behind which emission goes on.
  OpBuilder::InsertionGuard guard(c.b);
  Value length = last ? source.extents.validCols : source.extents.validRows;
  if (Value any = anyOf(c, {{length, isFilled}}))
    beginWhere(c, any, op, *out);
  if (last) {
    // The instruction needs a buffer as large as its operand for what is in between.
    Tile scratch = source;
    Value tmp = allocateLike(c, scratch, loc);
    emit(c, loc, row, {source.buffer, tmp},
         {out->form == Form::Column ? columnView(c, *out) : out->buffer});
  } else {
    reduceColumns(c, op, source, *out, column);
  }
  setTile(c, op->getResult(0), *out);
}

InstructionPatterns reductionPatterns() {
  static constexpr InstructionPattern patterns[] = {
      {[](Operation *op, const Machine &machine) -> llvm::StringRef {
         const VectorForms *forms = formOf(op);
         auto id = forms ? instructionFor(op, *forms, machine) : std::nullopt;
         return id ? instructionInfo(*id).mnemonic : "";
       },
       reduce},
      {[](Operation *op, const Machine &) -> llvm::StringRef {
         return formOf(op) ? kByElements : llvm::StringLiteral("");
       },
       reduceByElements}};
  return patterns;
}

} // namespace ptl::block
