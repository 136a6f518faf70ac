#include "codegen/source/block_views.h"

#include "codegen/source/block_shared.h"
#include "codegen/source/tile_expressions.h"
#include "ir/dialect/pto_dialect.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

/// Extents and strides of an array as its type says; none where that names what the kernel does not
/// have.
static const ArrayShape &shapeOf(BlockCode &code, BlockArgument argument) {
  auto [found, isNew] = code.arrays().try_emplace(argument);
  ArrayShape &tensor = found->second;
  Value operand = isNew ? code.given(argument.getArgNumber()).operand : Value();
  if (!operand)
    return tensor;
  llvm::SmallVector<Dim> extents;
  for (const ir::Extent &extent : ir::extentsOf(operand.getType()))
    extents.push_back(extent.isConstant() ? code.positions().constant(extent.length)
                                          : code.positions().named(extent.symbol.getValue()));
  // A length that no argument says cannot be written, so the array is shown by its view.
  if (llvm::any_of(extents, [](Dim extent) { return !extent; }))
    return tensor;
  tensor.extents = extents;
  tensor.strides.assign(extents.size(), code.positions().constant(1));
  for (size_t axis = extents.size(); axis-- > 1;)
    tensor.strides[axis - 1] = code.positions().dims().mul(tensor.strides[axis], extents[axis]);
  return tensor;
}

static std::pair<Value, Dim> pointerOf(BlockCode &code, Value pointer) {
  Dim offset = code.positions().constant(0);
  while (auto moved = pointer.getDefiningOp<pto::AddPtrOp>()) {
    offset = code.positions().add(offset, code.positions().of(moved.getOffset()));
    pointer = moved.getPointer();
  }
  return {pointer, offset};
}

std::string spanText(BlockCode &code, Dim offset, Dim size, const char *start, const char *length) {
  Dim end = code.positions().add(offset, size);
  if (offset.isConstant() && end.isConstant())
    return std::to_string(*offset.constant()) + ":" + std::to_string(*end.constant());
  if (offset.isConstant(0))
    return "0:" + dimText(code, size, length).as(Precedence::Or);
  // An element is a number of few bits, whose sums wrap: a part of known length begins at a position.
  auto startText = [&] {
    Expression text = dimText(code, offset, start);
    return code.positions().isElement(offset) ? Expression{"int(" + text.text + ")"} : text;
  };
  std::string from = startText().as(Precedence::Or);
  // The first run counts how often each text is written, so all of them are asked for even if the
  // result is shorter.
  if (code.isCounting()) {
    dimText(code, offset, start);
    dimText(code, size, length);
    return from;
  }
  Expression count = dimText(code, size, length);
  bool isSum = end.terms().size() == offset.terms().size() + size.terms().size();
  return from + ":" +
         (isSum ? binary(startText(), "+", count) : code.positions().text(end, [&](Value leaf) {
           return valueText(code, leaf);
         })).text;
}

/// The multiple of a product that a term is; unknown if it is none.
static Dim multipleOf(DimContext &dims, const DimTerm &term, Dim stride) {
  if (stride.terms().size() != 1)
    return Dim();
  const DimTerm &unit = stride.terms()[0];
  // The stride has to divide the term with its number and with all its factors.
  if (term.coefficient % unit.coefficient != 0)
    return Dim();
  Dim rest = dims.constant(term.coefficient / unit.coefficient);
  std::vector<DimFactor> open(unit.monomial->factors.begin(), unit.monomial->factors.end());
  for (DimFactor factor : term.monomial->factors) {
    for (DimFactor &own : open)
      if (own.atom == factor.atom) {
        uint32_t taken = std::min(own.power, factor.power);
        own.power -= taken;
        factor.power -= taken;
      }
    for (uint32_t i = 0; i < factor.power; ++i)
      rest = dims.mul(rest, dims.atomDim(*factor.atom));
  }
  return llvm::all_of(open, [](const DimFactor &own) { return own.power == 0; }) ? rest : Dim();
}

/// How often a stride goes into a term that differs from it by a number alone. The term keeps the
/// rest, which is a position of an inner axis: with rows of 3, row 4 of all is row 1 of block 1.
static Dim takenFrom(DimContext &dims, DimTerm &term, Dim stride) {
  if (stride.terms().size() != 1)
    return Dim();
  int64_t unit = stride.terms()[0].coefficient;
  DimTerm alike = term;
  alike.coefficient = unit;
  if (unit <= 0 || term.coefficient < unit || !multipleOf(dims, alike, stride).isConstant(1))
    return Dim();
  Dim times = dims.constant(term.coefficient / unit);
  term.coefficient %= unit;
  return times;
}

/// `a[h, i:i + n, :]`, where the view is of two axes of the array as they lie, at a position of the
/// others.
static std::optional<std::string> indexOfArray(BlockCode &code, Value value) {
  auto part = value.getDefiningOp<pto::PartitionViewOp>();
  auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
  if (!view || (view.getLayout() && *view.getLayout() != pto::ViewLayout::nd) ||
      view.getShape().size() != 2)
    return std::nullopt;
  auto [base, offset] = pointerOf(code, view.getPointer());
  auto argument = dyn_cast<BlockArgument>(base);
  if (!argument)
    return std::nullopt;
  const ArrayShape &tensor = shapeOf(code, argument);
  size_t rank = tensor.extents.size();
  if (rank == 0)
    return std::nullopt;
  Dim shape[2], strides[2], from[2], size[2];
  for (unsigned i = 0; i < 2; ++i) {
    shape[i] = code.positions().of(view.getShape()[i]);
    strides[i] = code.positions().of(view.getStrides()[i]);
    from[i] = code.positions().of(part.getOffsets()[i]);
    size[i] = code.positions().of(part.getSizes()[i]);
  }
  auto axisOf = [&](unsigned i, size_t below) -> std::optional<size_t> {
    for (size_t axis = below; axis-- > 0;)
      if (tensor.extents[axis] == shape[i] && tensor.strides[axis] == strides[i])
        return axis;
    return std::nullopt;
  };
  std::optional<size_t> col = axisOf(1, rank), row;
  // A view of one row may be of any axis before the columns, which is then one of the positions.
  bool isRow = shape[0].isConstant(1) && from[0].isConstant(0) && size[0].isConstant(1);
  if (col && !(rank == 1 && isRow))
    row = axisOf(0, *col);
  if (!col || (!row && !(isRow && strides[0] == shape[1])))
    return std::nullopt;
  llvm::SmallVector<Dim> positions(rank, code.positions().constant(0));
  // The offset of the pointer is a sum of positions times strides. Each term has to be a multiple
  // of the stride of an axis that the view does not have, the outer ones first.
  for (DimTerm term : offset.terms()) {
    bool isTaken = false;
    for (size_t axis = 0; axis < rank && !isTaken; ++axis) {
      if (axis == *col || (row && axis == *row))
        continue;
      DimContext &dims = code.positions().dims();
      Dim times = multipleOf(dims, term, tensor.strides[axis]);
      isTaken = static_cast<bool>(times);
      if (!times)
        times = takenFrom(dims, term, tensor.strides[axis]);
      if (times)
        positions[axis] = code.positions().add(positions[axis], times);
    }
    if (!isTaken)
      return std::nullopt;
  }
  std::vector<std::string> items;
  for (size_t axis = 0; axis < rank; ++axis) {
    bool isCol = axis == *col;
    if (!isCol && !(row && axis == *row)) {
      items.push_back(dimText(code, positions[axis], "at").text);
      continue;
    }
    unsigned i = isCol ? 1 : 0;
    bool isWhole = from[i].isConstant(0) && size[i] == tensor.extents[axis];
    items.push_back(
        isWhole ? ":"
                : spanText(code, from[i], size[i], isCol ? "col" : "row", isCol ? "cols" : "rows"));
  }
  return valueText(code, argument).text + "[" + llvm::join(items, ", ") + "]";
}

Expression tensorViewText(BlockCode &code, Value value) {
  auto view = value.getDefiningOp<pto::MakeTensorViewOp>();
  auto [base, offset] = pointerOf(code, view.getPointer());
  auto list = [&](ValueRange values) {
    std::vector<std::string> texts;
    for (Value each : values)
      texts.push_back(indexText(code, each, "n").text);
    return "[" + llvm::join(texts, ", ") + "]";
  };
  std::string text = "make_tensor_view(" + valueText(code, base).text + ", " +
                     dimText(code, offset, "offset").text + ", " + list(view.getShape()) + ", " +
                     list(view.getStrides());
  if (view.getLayout() && *view.getLayout() != pto::ViewLayout::nd)
    text += ", layout: ." + pto::stringifyViewLayout(*view.getLayout()).str();
  return {text + ")"};
}

Expression viewText(BlockCode &code, Value value) {
  auto part = value.getDefiningOp<pto::PartitionViewOp>();
  if (!part) {
    code.unwritable(value.getDefiningOp(), "a view is not part of a tensor");
    return {"0"};
  }
  if (std::optional<std::string> text = indexOfArray(code, value))
    return {*text};
  auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
  std::string key = "view ";
  auto [base, offset] = pointerOf(code, view.getPointer());
  // The address only tells values apart within this run; it is never printed or sorted by.
  key += std::to_string(reinterpret_cast<uintptr_t>(base.getAsOpaquePointer())) + "+" +
         std::to_string(offset.id());
  for (Value each : view->getOperands().drop_front())
    key += "," + std::to_string(code.positions().of(each).id());
  // Views of one pointer with different layouts are different views.
  if (view.getLayout())
    key += pto::stringifyViewLayout(*view.getLayout()).str();
  std::string name = shareText(code, key,
                               {SharedText::Kind::View, Dim(), view.getResult(),
                                valueText(code, base).text + "_view"})
                         .text;
  std::vector<std::string> items;
  static constexpr const char *hints[2][2] = {{"row", "rows"}, {"col", "cols"}};
  for (auto [i, offset] : llvm::enumerate(part.getOffsets())) {
    const auto &hint = hints[i + 1 == part.getOffsets().size()];
    items.push_back(spanText(code, code.positions().of(offset),
                             code.positions().of(part.getSizes()[i]), hint[0], hint[1]));
  }
  return {name + "[" + llvm::join(items, ", ") + "]"};
}

std::string elementOperands(BlockCode &code, Value at, Value offset) {
  auto [base, first] = pointerOf(code, at);
  Dim position = code.positions().add(first, code.positions().of(offset));
  return valueText(code, base).text + ", " + dimText(code, position, "at").text;
}

} // namespace ptl::source
