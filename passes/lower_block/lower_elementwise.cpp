// Elementwise operations, comparisons, selection and conversion as vector instructions.
#include "passes/lower_block/lower_elementwise.h"
#include "ir/dialect/element_types.h"
#include "ir/dialect/op_facts.h"
#include "ir/ops/conversion_facts.h"
#include "passes/analysis/machine_types.h"
#include "passes/lower_block/buffers.h"
#include "passes/lower_block/elements.h"
#include "passes/lower_block/lower_bits.h"
#include "passes/lower_block/lower_moves.h"
#include "passes/lower_block/lower_order.h"
#include "passes/lower_block/lower_reduction.h"
#include "passes/lower_block/lower_scalars.h"
#include "passes/lower_block/lower_shape.h"
#include "passes/lower_block/tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace ptl::block {

using Form = Tile::Form;

/// The instructions of a binary operation; null for others.
static const VectorForms *binaryForms(Operation *op) {
  const OpLowering *lowering = ir::loweringOf(op);
  return lowering && lowering->forms.column ? &lowering->forms : nullptr;
}

/// The instruction of an operation on the elements of one tile; none for others.
static std::optional<InstructionId> unaryForm(Operation *op) {
  const OpLowering *lowering = ir::loweringOf(op);
  bool isUnary = lowering && op->getNumOperands() == 1 && !lowering->forms.onBits;
  return isUnary ? lowering->forms.tiles : std::nullopt;
}

/// How an instruction compares for a comparison with that record.
static std::optional<pto::CmpMode> compareMode(std::optional<OpId> id) {
  bool isComparison = id && opRecord(*id).opClass == OpClass::Comparison;
  return isComparison ? pto::symbolizeCmpMode(opRecord(*id).mnemonic) : std::nullopt;
}

static void lowerUnary(KernelContext &c, mlir::Operation *op, InstructionId id);
static void lowerBinary(KernelContext &c, mlir::Operation *op, const VectorForms &forms);
static void lowerCompare(KernelContext &c, mlir::Operation *op, pto::CmpMode mode,
                         pto::CmpMode swapped);
static void lowerSelect(KernelContext &c, Operation *op);
static void lowerConvert(KernelContext &c, Operation *op);

/// The element type by which instructions are chosen: that of the last operand.
static Type elementOf(Operation *op) {
  return ir::elementTypeOf(op->getOperands().back().getType());
}

static constexpr InstructionPattern kBinary = {
    [](Operation *op, const Machine &machine) -> llvm::StringRef {
      const VectorForms *forms = binaryForms(op);
      bool has = forms && takes(machine, *forms->tiles, {elementOf(op)});
      return has ? instructionInfo(*forms->tiles).mnemonic : "";
    },
    [](KernelContext &c, Operation *op) { lowerBinary(c, op, *binaryForms(op)); }};

static constexpr InstructionPattern kUnary = {
    [](Operation *op, const Machine &machine) -> llvm::StringRef {
      std::optional<InstructionId> form = unaryForm(op);
      bool has = form && takes(machine, *form, {elementOf(op)});
      return has ? instructionInfo(*form).mnemonic : "";
    },
    [](KernelContext &c, Operation *op) { lowerUnary(c, op, *unaryForm(op)); }};

static constexpr InstructionPattern kCompare = {
    [](Operation *op, const Machine &machine) -> llvm::StringRef {
      if (!compareMode(ir::opIdOf(op)))
        return "";
      bool scalar = !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<ir::ArrayType>);
      std::string_view name =
          instructionInfo(scalar ? InstructionId::TCmps : InstructionId::TCmp).mnemonic;
      std::string type = ir::machineTypeName(elementOf(op));
      // Some machines compare for equality in more types than for order, which their tables list as `.eq`.
      bool has = machine.supports(name, {std::string_view(type)}) ||
                 (isa<ir::EqOp>(op) &&
                  machine.supports(std::string(name) + ".eq", {std::string_view(type)}));
      return has ? name : "";
    },
    [](KernelContext &c, Operation *op) {
      lowerCompare(c, op, *compareMode(ir::opIdOf(op)), *compareMode(ir::loweringOf(op)->swapped));
    }};

static constexpr InstructionPattern kSelect = {
    [](Operation *op, const Machine &machine) -> llvm::StringRef {
      bool has = isa<ir::SelectOp>(op) && takes(machine, InstructionId::TSel, {elementOf(op)}) &&
                 takes(machine, InstructionId::TSels, {elementOf(op)});
      return has ? instructionInfo(InstructionId::TSel).mnemonic : "";
    },
    lowerSelect};

static constexpr InstructionPattern kConvert = {
    [](Operation *op, const Machine &machine) -> llvm::StringRef {
      if (!isa<ir::RoundOp, ir::FloorOp, ir::CeilOp, ir::TruncOp, ir::ConvertOp>(op))
        return "";
      Type from = elementOf(op), to = ir::elementTypeOf(op->getResult(0).getType());
      if (isa<ir::ConvertOp>(op) && from == to)
        // Nothing is converted, so the result is the operand itself.
        return "view";
      return takes(machine, InstructionId::TCvt, {from, to})
                 ? instructionInfo(InstructionId::TCvt).mnemonic
                 : "";
    },
    lowerConvert};

InstructionPatterns elementwisePatterns() {
  static constexpr InstructionPattern patterns[] = {kBinary, kUnary, kCompare, kSelect, kConvert};
  return patterns;
}

std::optional<Tile> operandTile(KernelContext &c, Operation *op, Value operand) {
  Tile tile;
  if (isScalar(c, operand)) {
    tile.form = Form::Splat;
    tile.scalar = scalarOf(c, operand);
    tile.element = operand.getType();
    if (!tile.scalar) {
      fail(c, op, "a scalar that another core computes");
      return std::nullopt;
    }
    return tile;
  }
  const Tile *found = tileOf(c, operand);
  if (!found) {
    fail(c, op, "`" + op->getName().stripDialect().str() + "` of this value");
    return std::nullopt;
  }
  // What is still in memory is loaded when the first instruction wants it.
  return found->form == Form::Memory ? materialise(c, *found, op->getLoc()) : *found;
}

std::optional<Tile> resultTile(KernelContext &c, Operation *op) {
  std::optional<Tile> tile = tileFor(c, op, op->getResult(0).getType());
  if (tile)
    tile->form = formOf(tile->extents);
  return tile;
}

static void lowerUnary(KernelContext &c, Operation *op, InstructionId id) {
  std::optional<Tile> in = operandTile(c, op, op->getOperand(0)), out = resultTile(c, op);
  if (!in || !out)
    return;
  Tile source = materialise(c, *in, op->getLoc());
  bool inPlace = instructionInfo(id).has(InstructionInfo::InPlace);
  // Only instructions that work in place may write to the buffer of their operand.
  out->buffer = inPlace ? destination(c, op, *out, {0}) : destination(c, op, *out);
  emit(c, op->getLoc(), id, {source.buffer}, {out->buffer});
  setTile(c, op->getResult(0), *out);
}

static bool sameShape(const Tile &a, const Tile &b) {
  return a.form != Form::Splat && a.extents.rows == b.extents.rows &&
         a.extents.cols == b.extents.cols;
}

/// A value of one element as a scalar, where an instruction takes one.
static void scalarise(KernelContext &c, Tile &tile, const Tile &result) {
  bool single = tile.form != Form::Splat && tile.extents.rows == 1 && tile.extents.cols == 1 &&
                !sameShape(tile, result);
  if (!single)
    return;
  tile.scalar = c.b.create<pto::TGetValOp>(c.loc, tile.element, tile.buffer, constant(c, 0));
  tile.form = Form::Splat;
  tile.buffer = {};
}

/// The right operand in a form that an instruction takes beside a whole tile: that instruction, and
/// what it is given. `value` becomes null where the operand is a copy.
static std::pair<InstructionId, Value> rightForm(KernelContext &c, Operation *op,
                                                 const VectorForms &forms, const Tile &out, Tile &b,
                                                 Value &value) {
  // Without an instruction for a scalar, the scalar fills a tile.
  if (b.form == Form::Splat && !takes(c, *forms.scalar, {out.element})) {
    b.extents = out.extents;
    b = materialise(c, b, op->getLoc());
    value = {};
  }
  bool column = b.form == Form::Column && b.extents.rows == out.extents.rows &&
                takes(c, *forms.column, {out.element});
  bool row = b.form == Form::Whole && b.extents.rows == 1 && b.extents.cols == out.extents.cols &&
             takes(c, *forms.row, {out.element});
  // No form fits, so the operand is repeated to the whole shape.
  if (b.form != Form::Splat && !sameShape(b, out) && !column && !row) {
    b = spread(c, b, value.getType(), op->getResult(0).getType(), op);
    value = {};
  }
  if (b.form == Form::Splat)
    return {*forms.scalar, b.scalar};
  if (sameShape(b, out))
    return {*forms.tiles, b.buffer};
  if (column)
    return {*forms.column, columnView(c, b)};
  return {*forms.row, b.buffer};
}

static void lowerBinary(KernelContext &c, Operation *op, const VectorForms &forms) {
  Location loc = op->getLoc();
  Value first = op->getOperand(0), second = op->getOperand(1);
  std::optional<Tile> a = operandTile(c, op, first), b = operandTile(c, op, second),
                      out = resultTile(c, op);
  if (!a || !b || !out)
    return;
  // A scalar operand takes no buffer.
  scalarise(c, *a, *out);
  scalarise(c, *b, *out);
  if (a->form == Form::Splat && b->form == Form::Splat) {
    // Some operand has to be a tile.
    a->extents = out->extents;
    *a = materialise(c, *a, loc);
  }
  Value result = op->getResult(0);
  bool commutes = ir::loweringOf(op)->swapped == ir::opIdOf(op);
  unsigned left = 0, right = 1;           // which operands they are
  if (!sameShape(*a, *out) && commutes) { // the whole tile to the left
    std::swap(a, b);
    std::swap(first, second);
    std::swap(left, right);
  }
  // The left operand of an instruction is always a whole tile.
  if (!sameShape(*a, *out)) {
    // Division is the one instruction that also takes its left operand as a scalar.
    bool scalarByTile =
        a->form == Form::Splat && sameShape(*b, *out) && forms.tiles == InstructionId::TDiv;
    if (scalarByTile) {
      out->buffer = destination(c, op, *out, {});
      emit(c, loc, InstructionId::TDivs, {a->scalar, b->buffer}, {out->buffer});
      return setTile(c, result, *out);
    }
    a = materialise(c, spread(c, *a, first.getType(), result.getType(), op), loc);
    first = {};
  }
  auto [id, other] = rightForm(c, op, forms, *out, *b, second);
  llvm::SmallVector<unsigned> inPlace;
  // A copy is not the operand, so its number says nothing about the buffer. A quotient with a scalar
  // needs one of its own.
  if (first && id != InstructionId::TDivs)
    inPlace.push_back(left);
  if (second && sameShape(*b, *out))
    inPlace.push_back(right);
  out->buffer = destination(c, op, *out, inPlace);
  emit(c, loc, id, {a->buffer, other}, {out->buffer});
  setTile(c, result, *out);
}

static void lowerCompare(KernelContext &c, Operation *op, pto::CmpMode mode, pto::CmpMode swapped) {
  Location loc = op->getLoc();
  std::optional<Tile> a = operandTile(c, op, op->getOperand(0)),
                      b = operandTile(c, op, op->getOperand(1)), out = resultTile(c, op);
  if (!a || !b || !out)
    return;
  // The instruction takes a scalar on the right only.
  bool swaps = a->form == Form::Splat;
  if (swaps) {
    std::swap(a, b);
    mode = swapped;
  }
  auto whole = [&](const Tile &tile, Value operand) {
    return materialise(c, spread(c, tile, operand.getType(), op->getResult(0).getType(), op), loc);
  };
  a = whole(*a, swaps ? op->getOperand(1) : op->getOperand(0));
  out->form = Form::Mask;
  out->element = c.b.getI1Type();
  out->buffer = allocateLike(c, *out, loc);
  auto attribute = c.b.getNamedAttr("cmpMode", pto::CmpModeAttr::get(c.b.getContext(), mode));
  if (b->form == Form::Splat)
    emit(c, loc, InstructionId::TCmps, {a->buffer, b->scalar}, {out->buffer}, {attribute});
  else
    emit(c, loc, InstructionId::TCmp,
         {a->buffer, whole(*b, swaps ? op->getOperand(0) : op->getOperand(1)).buffer},
         {out->buffer}, {attribute});
  setTile(c, op->getResult(0), *out);
}

static void lowerSelect(KernelContext &c, Operation *op) {
  Location loc = op->getLoc();
  std::optional<Tile> a = operandTile(c, op, op->getOperand(1)),
                      b = operandTile(c, op, op->getOperand(2)), out = resultTile(c, op);
  const Tile *mask = tileOf(c, op->getOperand(0));
  if (!a || !b || !out)
    return;
  if (!mask || mask->form != Form::Mask || mask->extents.rows != out->extents.rows ||
      mask->extents.cols != out->extents.cols)
    return fail(c, op, "`select` by a condition of another shape");
  // The instruction wants a scratch buffer of one block.
  Extents2 one{1, 32, constant(c, 1), constant(c, 32)};
  Value scratch = allocate(c, ir::Place::Vec, "nd", one, c.b.getI8Type(), loc);
  Type type = op->getResult(0).getType();
  auto whole = [&](const Tile &tile, unsigned number) {
    return materialise(c, spread(c, tile, op->getOperand(number).getType(), type, op), loc).buffer;
  };
  Value first = whole(*a, 1);
  out->buffer = destination(c, op, *out);
  if (b->form == Form::Splat)
    emit(c, loc, InstructionId::TSels, {mask->buffer, first, scratch, b->scalar}, {out->buffer});
  else
    emit(c, loc, InstructionId::TSel, {mask->buffer, first, whole(*b, 2), scratch}, {out->buffer});
  setTile(c, op->getResult(0), *out);
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

/// What a number beyond a shorter integer becomes: floats saturate, and between integers the low bits stay, as the language has it. That is
/// said where the library would do something else untold.
static std::optional<pto::SaturationMode> saturationOf(Type from, Type to) {
  if (!isa<IntegerType>(to))
    return std::nullopt;
  bool isNarrowing =
      isa<FloatType>(from) || to.getIntOrFloatBitWidth() < from.getIntOrFloatBitWidth();
  bool saturates = isa<FloatType>(from);
  if (!isNarrowing || saturatesUntold(ir::elemKindOf(from), ir::elemKindOf(to)) == saturates)
    return std::nullopt;
  return saturates ? pto::SaturationMode::ON : pto::SaturationMode::OFF;
}

static void lowerConvert(KernelContext &c, Operation *op) {
  std::optional<Tile> in = operandTile(c, op, op->getOperand(0)), out = resultTile(c, op);
  if (!in || !out)
    return;
  Tile source = materialise(c, *in, op->getLoc());
  if (source.element == out->element && isa<ir::ConvertOp>(op)) {
    setTile(c, op->getResult(0), source);
    return;
  }
  // Elements may change their size, so this does not work in place.
  out->buffer = allocateLike(c, *out, op->getLoc());
  auto round = op->getAttrOfType<StringAttr>("round");
  // Roundings within a type are named after their direction.
  pto::RoundMode mode =
      roundMode(isa<ir::ConvertOp>(op) ? (round ? round.getValue() : llvm::StringRef())
                                       : op->getName().stripDialect());
  llvm::SmallVector<NamedAttribute> attributes = {
      c.b.getNamedAttr("rmode", pto::RoundModeAttr::get(c.b.getContext(), mode))};
  if (std::optional<pto::SaturationMode> saturation = saturationOf(source.element, out->element))
    attributes.push_back(
        c.b.getNamedAttr("sat_mode", pto::SaturationModeAttr::get(c.b.getContext(), *saturation)));
  emit(c, op->getLoc(), InstructionId::TCvt, {source.buffer}, {out->buffer}, attributes);
  setTile(c, op->getResult(0), *out);
}

} // namespace ptl::block
