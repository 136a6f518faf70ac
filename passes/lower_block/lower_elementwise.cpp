// Elementwise operations, comparisons, selection and conversion as vector instructions.
#include "passes/analysis/machine_types.h"
#include "passes/lower_block/lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

/// The instructions of a binary operation: of two tiles, of a tile and a scalar, and of a tile and
/// a column or a row.
struct BinaryForms {
  llvm::StringLiteral op;
  InstructionId tiles, scalar, column, row;
  bool commutes;
};

static constexpr BinaryForms binaryForms[] = {
    {"ptl.add", InstructionId::TAdd, InstructionId::TAdds, InstructionId::TRowExpandAdd,
     InstructionId::TColExpandAdd, true},
    {"ptl.sub", InstructionId::TSub, InstructionId::TSubs, InstructionId::TRowExpandSub,
     InstructionId::TColExpandSub, false},
    {"ptl.mul", InstructionId::TMul, InstructionId::TMuls, InstructionId::TRowExpandMul,
     InstructionId::TColExpandMul, true},
    {"ptl.div", InstructionId::TDiv, InstructionId::TDivs, InstructionId::TRowExpandDiv,
     InstructionId::TColExpandDiv, false},
    {"ptl.max", InstructionId::TMax, InstructionId::TMaxs, InstructionId::TRowExpandMax,
     InstructionId::TColExpandMax, true},
    {"ptl.min", InstructionId::TMin, InstructionId::TMins, InstructionId::TRowExpandMin,
     InstructionId::TColExpandMin, true},
};

struct UnaryForm {
  llvm::StringLiteral op;
  InstructionId id;
};
static constexpr UnaryForm unaryForms[] = {
    {"ptl.exp", InstructionId::TExp},          {"ptl.log", InstructionId::TLog},
    {"ptl.sqrt", InstructionId::TSqrt},        {"ptl.rsqrt", InstructionId::TRsqrt},
    {"ptl.reciprocal", InstructionId::TRecip}, {"ptl.abs", InstructionId::TAbs},
    {"ptl.neg", InstructionId::TNeg},          {"ptl.bit_not", InstructionId::TNot},
};

struct CompareForm {
  llvm::StringLiteral op;
  pto::CmpMode mode, swapped;
};
static constexpr CompareForm compareForms[] = {
    {"ptl.eq", pto::CmpMode::eq, pto::CmpMode::eq}, {"ptl.ne", pto::CmpMode::ne, pto::CmpMode::ne},
    {"ptl.lt", pto::CmpMode::lt, pto::CmpMode::gt}, {"ptl.le", pto::CmpMode::le, pto::CmpMode::ge},
    {"ptl.gt", pto::CmpMode::gt, pto::CmpMode::lt}, {"ptl.ge", pto::CmpMode::ge, pto::CmpMode::le},
};

struct ReductionForm {
  llvm::StringLiteral op;
  InstructionId row, column;
};
static constexpr ReductionForm reductionForms[] = {
    {"ptl.reduce_sum", InstructionId::TRowSum, InstructionId::TColSum},
    {"ptl.reduce_max", InstructionId::TRowMax, InstructionId::TColMax},
    {"ptl.reduce_min", InstructionId::TRowMin, InstructionId::TColMin},
    {"ptl.reduce_prod", InstructionId::TRowProd, InstructionId::TColProd},
    {"ptl.reduce_argmax", InstructionId::TRowArgMax, InstructionId::TColArgMax},
    {"ptl.reduce_argmin", InstructionId::TRowArgMin, InstructionId::TColArgMin},
};

template <typename Row, size_t n> static const Row *rowOf(const Row (&table)[n], Operation *op) {
  for (const Row &row : table)
    if (row.op == op->getName().getStringRef())
      return &row;
  return nullptr;
}

bool KernelLowering::lowerVector(Operation *op) {
  if (op->getNumResults() == 0)
    return false;
  if (lowerShared(op) || lowerBits(op) || lowerMove(op) || lowerOrder(op))
    return true;
  if (const ReductionForm *form = rowOf(reductionForms, op)) {
    lowerReduction(op, form->row, form->column);
    return true;
  }
  return lowerByInstruction(op) || lowerByElements(op);
}

/// Elementwise operations that the machine has an instruction for on these element types.
bool KernelLowering::lowerByInstruction(Operation *op) {
  Type element = ir::elementTypeOf(op->getOperand(op->getNumOperands() - 1).getType());
  Type result = ir::elementTypeOf(op->getResult(0).getType());
  if (const BinaryForms *forms = rowOf(binaryForms, op)) {
    if (takes(forms->tiles, {element}))
      return lowerBinary(op, *forms), true;
  } else if (const UnaryForm *form = rowOf(unaryForms, op)) {
    if (takes(form->id, {element}))
      return lowerUnary(op, form->id), true;
  } else if (const CompareForm *form = rowOf(compareForms, op)) {
    bool scalar = isScalar(op->getOperand(0)) || isScalar(op->getOperand(1));
    std::string name = scalar ? "tcmps" : "tcmp";
    std::string type = ir::machineTypeName(element);
    if (machine_.supports(name, {std::string_view(type)}) ||
        (isa<ir::EqOp>(op) && machine_.supports(name + ".eq", {std::string_view(type)})))
      return lowerCompare(op, form->mode, form->swapped), true;
  } else if (isa<ir::SelectOp>(op)) {
    if (takes(InstructionId::TSel, {element}) && takes(InstructionId::TSels, {element}))
      return lowerSelect(op), true;
  } else if (isa<ir::RoundOp, ir::FloorOp, ir::CeilOp, ir::TruncOp>(op)) {
    if (takes(InstructionId::TCvt, {element, element}))
      return lowerConvert(op), true;
  } else if (isa<ir::ConvertOp>(op)) {
    if (element == result || takes(InstructionId::TCvt, {element, result}))
      return lowerConvert(op), true;
  }
  return false;
}

/// Operands as tiles of the result's shape, or narrower; scalars as splats.
std::optional<Tile> KernelLowering::operandTile(Operation *op, Value operand) {
  Tile tile;
  if (isScalar(operand)) {
    tile.form = Form::Splat;
    tile.scalar = scalarOf(operand);
    tile.element = operand.getType();
    if (!tile.scalar) {
      fail(op, "a scalar that another core computes");
      return std::nullopt;
    }
    return tile;
  }
  const Tile *found = tileOf(operand);
  if (!found) {
    fail(op, "`" + op->getName().stripDialect().str() + "` of this value");
    return std::nullopt;
  }
  return found->form == Form::Memory ? materialise(*found, op->getLoc()) : *found;
}

std::optional<Tile> KernelLowering::resultTile(Operation *op) {
  Type type = op->getResult(0).getType();
  std::optional<Extents2> extents = extentsOf(op, type);
  if (!extents)
    return std::nullopt;
  Tile tile;
  tile.extents = *extents;
  tile.element = ir::elementTypeOf(type);
  tile.form = extents->cols == 1 && extents->rows > 1 ? Form::Column : Form::Whole;
  return tile;
}

void KernelLowering::lowerUnary(Operation *op, InstructionId id) {
  std::optional<Tile> in = operandTile(op, op->getOperand(0)), out = resultTile(op);
  if (!in || !out)
    return;
  Tile source = materialise(*in, op->getLoc());
  bool inPlace = instructionInfo(id).has(InstructionInfo::InPlace);
  out->buffer = inPlace ? destination(op, *out, {0}) : destination(op, *out);
  emit(op->getLoc(), id, {source.buffer}, {out->buffer});
  setTile(op->getResult(0), *out);
}

static bool sameShape(const Tile &a, const Tile &b) {
  return a.form != Form::Splat && a.extents.rows == b.extents.rows &&
         a.extents.cols == b.extents.cols;
}

/// A value of one element as a scalar, where an instruction takes one.
void KernelLowering::scalarise(Tile &tile, const Tile &result) {
  bool single = tile.form != Form::Splat && tile.extents.rows == 1 && tile.extents.cols == 1 &&
                !sameShape(tile, result);
  if (!single)
    return;
  tile.scalar = b_.create<pto::TGetValOp>(loc_, tile.element, tile.buffer, constant(0));
  tile.form = Form::Splat;
  tile.buffer = {};
}

void KernelLowering::lowerBinary(Operation *op, const BinaryForms &forms) {
  Location loc = op->getLoc();
  Value first = op->getOperand(0), second = op->getOperand(1);
  std::optional<Tile> a = operandTile(op, first), b = operandTile(op, second), out = resultTile(op);
  if (!a || !b || !out)
    return;
  scalarise(*a, *out);
  scalarise(*b, *out);
  if (a->form == Form::Splat && b->form == Form::Splat) {
    a->extents = out->extents;
    *a = materialise(*a, loc);
  }
  Value result = op->getResult(0);
  unsigned left = 0, right = 1;                 // which operands they are
  if (!sameShape(*a, *out) && forms.commutes) { // the whole tile to the left
    std::swap(a, b);
    std::swap(first, second);
    std::swap(left, right);
  }
  if (!sameShape(*a, *out)) {
    bool scalarByTile =
        a->form == Form::Splat && sameShape(*b, *out) && forms.tiles == InstructionId::TDiv;
    if (scalarByTile) {
      out->buffer = destination(op, *out, {right});
      emit(loc, InstructionId::TDivs, {a->scalar, b->buffer}, {out->buffer});
      return setTile(result, *out);
    }
    a = materialise(spread(*a, first.getType(), result.getType(), op), loc);
    first = {};
  }
  if (b->form == Form::Splat && !takes(forms.scalar, {out->element})) {
    b->extents = out->extents;
    b = materialise(*b, loc);
    second = {};
  }
  bool column = b->form == Form::Column && b->extents.rows == out->extents.rows &&
                takes(forms.column, {out->element});
  bool row = b->form == Form::Whole && b->extents.rows == 1 &&
             b->extents.cols == out->extents.cols && takes(forms.row, {out->element});
  if (b->form != Form::Splat && !sameShape(*b, *out) && !column && !row) {
    b = spread(*b, second.getType(), result.getType(), op);
    second = {};
  }
  llvm::SmallVector<unsigned> inPlace;
  if (first)
    inPlace.push_back(left);
  Value other;
  InstructionId id;
  if (b->form == Form::Splat) {
    id = forms.scalar;
    other = b->scalar;
  } else if (sameShape(*b, *out)) {
    id = forms.tiles;
    other = b->buffer;
    if (second)
      inPlace.push_back(right);
  } else if (column) {
    id = forms.column;
    other = columnView(*b);
  } else {
    id = forms.row;
    other = b->buffer;
  }
  out->buffer = destination(op, *out, inPlace);
  emit(loc, id, {a->buffer, other}, {out->buffer});
  setTile(result, *out);
}

void KernelLowering::lowerCompare(Operation *op, pto::CmpMode mode, pto::CmpMode swapped) {
  Location loc = op->getLoc();
  std::optional<Tile> a = operandTile(op, op->getOperand(0)),
                      b = operandTile(op, op->getOperand(1)), out = resultTile(op);
  if (!a || !b || !out)
    return;
  bool swaps = a->form == Form::Splat;
  if (swaps) {
    std::swap(a, b);
    mode = swapped;
  }
  auto whole = [&](const Tile &tile, Value operand) {
    return materialise(spread(tile, operand.getType(), op->getResult(0).getType(), op), loc);
  };
  a = whole(*a, swaps ? op->getOperand(1) : op->getOperand(0));
  out->form = Form::Mask;
  out->element = b_.getI1Type();
  out->buffer = allocateLike(*out, loc);
  auto attribute = b_.getNamedAttr("cmpMode", pto::CmpModeAttr::get(b_.getContext(), mode));
  if (b->form == Form::Splat)
    emit(loc, InstructionId::TCmps, {a->buffer, b->scalar}, {out->buffer}, {attribute});
  else
    emit(loc, InstructionId::TCmp,
         {a->buffer, whole(*b, swaps ? op->getOperand(0) : op->getOperand(1)).buffer},
         {out->buffer}, {attribute});
  setTile(op->getResult(0), *out);
}

void KernelLowering::lowerSelect(Operation *op) {
  Location loc = op->getLoc();
  std::optional<Tile> a = operandTile(op, op->getOperand(1)),
                      b = operandTile(op, op->getOperand(2)), out = resultTile(op);
  const Tile *mask = tileOf(op->getOperand(0));
  if (!a || !b || !out)
    return;
  if (!mask || mask->form != Form::Mask || mask->extents.rows != out->extents.rows ||
      mask->extents.cols != out->extents.cols)
    return fail(op, "`select` by a condition of another shape");
  Extents2 one{1, 32, constant(1), constant(32)};
  Value scratch = allocate(ir::Place::Vec, "nd", one, b_.getI8Type(), loc);
  Type type = op->getResult(0).getType();
  auto whole = [&](const Tile &tile, unsigned number) {
    return materialise(spread(tile, op->getOperand(number).getType(), type, op), loc).buffer;
  };
  Value first = whole(*a, 1);
  out->buffer = destination(op, *out);
  if (b->form == Form::Splat)
    emit(loc, InstructionId::TSels, {mask->buffer, first, scratch, b->scalar}, {out->buffer});
  else
    emit(loc, InstructionId::TSel, {mask->buffer, first, whole(*b, 2), scratch}, {out->buffer});
  setTile(op->getResult(0), *out);
}

static pto::RoundMode roundMode(llvm::StringRef round) {
  if (round == "down" || round == "floor")
    return pto::RoundMode::FLOOR;
  if (round == "up" || round == "ceil")
    return pto::RoundMode::CEIL;
  if (round == "zero" || round == "trunc")
    return pto::RoundMode::TRUNC;
  if (round == "away")
    return pto::RoundMode::ROUND;
  return pto::RoundMode::RINT;
}

void KernelLowering::lowerConvert(Operation *op) {
  std::optional<Tile> in = operandTile(op, op->getOperand(0)), out = resultTile(op);
  if (!in || !out)
    return;
  Tile source = materialise(*in, op->getLoc());
  if (source.element == out->element && isa<ir::ConvertOp>(op)) {
    setTile(op->getResult(0), source);
    return;
  }
  out->buffer = allocateLike(*out, op->getLoc());
  auto round = op->getAttrOfType<StringAttr>("round");
  // Roundings within a type are named after their direction.
  pto::RoundMode mode =
      roundMode(isa<ir::ConvertOp>(op) ? (round ? round.getValue() : llvm::StringRef())
                                       : op->getName().stripDialect());
  emit(op->getLoc(), InstructionId::TCvt, {source.buffer}, {out->buffer},
       {b_.getNamedAttr("rmode", pto::RoundModeAttr::get(b_.getContext(), mode))});
  setTile(op->getResult(0), *out);
}

// ---- reductions
// -------------------------------------------------------------------------------------------

void KernelLowering::lowerReduction(Operation *op, InstructionId row, InstructionId column) {
  Location loc = op->getLoc();
  std::optional<Tile> in = operandTile(op, op->getOperand(0));
  if (!in)
    return;
  bool search = isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op);
  Type position = b_.getI32Type();
  auto has = [&](InstructionId id) {
    return search ? takes(id, {in->element, position}) : takes(id, {in->element});
  };
  if (!has(row))
    return reduceByElements(op);
  Tile source = materialise(*in, loc);
  int64_t rank = ir::rankOf(op->getOperand(0).getType());
  llvm::SmallVector<int64_t> axes;
  if (auto list = op->getAttrOfType<DenseI64ArrayAttr>("axes"))
    axes.append(list.asArrayRef().begin(), list.asArrayRef().end());
  else if (auto one = op->getAttrOfType<IntegerAttr>("axis"))
    axes.push_back(one.getInt());
  bool last = axes.size() == 1 && axes[0] == rank - 1,
       above = axes.size() == 1 && axes[0] == rank - 2;
  if (isScalar(op->getResult(0)))
    return search ? reduceByElements(op) : reduceAll(op, source, row);
  std::optional<Tile> out = resultTile(op);
  if (!out)
    return;
  if ((!last && !above) || (above && (rank != 2 || !has(column))))
    return reduceByElements(op);
  if (source.extents.cols == 1 && last && !search) {
    setTile(op->getResult(0), source);
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
  out->buffer = allocateLike(*out, loc);
  OpBuilder::InsertionGuard guard(b_);
  beginUnlessEmpty(last ? source.extents.validCols : source.extents.validRows, op, *out);
  if (last) {
    Tile scratch = source;
    Value tmp = allocateLike(scratch, loc);
    emit(loc, row, {source.buffer, tmp},
         {out->form == Form::Column ? columnView(*out) : out->buffer});
  } else if (column == InstructionId::TColArgMax || column == InstructionId::TColArgMin) {
    emit(loc, column, {source.buffer, allocateLike(source, loc)}, {out->buffer});
  } else {
    emit(loc, column, {source.buffer}, {out->buffer});
  }
  setTile(op->getResult(0), *out);
}

/// Where nothing may be reduced the result is what a reduction begins with, and the instructions,
/// which want an element, stand in a branch.
void KernelLowering::beginUnlessEmpty(Value length, Operation *op, const Tile &out) {
  IntegerAttr number;
  bool constant0 = matchPattern(length, m_Constant(&number)) && number.getInt() == 0;
  if (!constant0 && !isa<BlockArgument>(length))
    return;
  auto argument = dyn_cast<BlockArgument>(length);
  if (argument && argument.getOwner() != &function_.getBody().front())
    return;
  bool search = isa<ir::ReduceArgmaxOp, ir::ReduceArgminOp>(op);
  fillWith(out, search ? constantOf(out.element, 0) : identityOf(combinationOf(op), out.element),
           op->getLoc());
  Value any = b_.create<arith::CmpIOp>(loc_, arith::CmpIPredicate::sgt, length, constant(0));
  auto branch = b_.create<scf::IfOp>(loc_, any, /*withElseRegion=*/false);
  b_.setInsertionPointToStart(&branch.getThenRegion().front());
}

/// To one scalar: along the rows, then along the column of their results.
void KernelLowering::reduceAll(Operation *op, Tile source, InstructionId row) {
  Location loc = op->getLoc();
  auto along = [&](const Tile &from) {
    Tile to = from;
    to.extents.cols = 1;
    to.extents.validCols = constant(1);
    to.form = to.extents.rows > 1 ? Form::Column : Form::Whole;
    to.buffer = allocateLike(to, loc);
    emit(loc, row, {from.buffer, allocateLike(from, loc)},
         {to.form == Form::Column ? columnView(to) : to.buffer});
    return to;
  };
  if (source.form != Form::Column && source.extents.cols > 1)
    source = along(source);
  if (source.form == Form::Column) {
    Tile line = source;
    line.form = Form::Whole;
    std::swap(line.extents.rows, line.extents.cols);
    std::swap(line.extents.validRows, line.extents.validCols);
    source = along(line);
  }
  scalars_[op->getResult(0)] =
      b_.create<pto::TGetValOp>(loc, source.element, source.buffer, constant(0));
}

} // namespace ptl::block
