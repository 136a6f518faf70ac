// Parts of arrays in global memory.
#include "codegen/source/block_body.h"
#include "codegen/source/tile_expressions.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

/// Extents and strides of an array as its type says; none where that names what the kernel does not
/// have.
const BlockBody::Tensor &BlockBody::tensorOf(BlockArgument argument) {
  auto [found, isNew] = tensors_.try_emplace(argument);
  Tensor &tensor = found->second;
  Value operand = isNew ? arguments_.lookup(argument.getArgNumber()).operand : Value();
  if (!operand)
    return tensor;
  llvm::SmallVector<Dim> extents;
  for (const ir::Extent &extent : ir::extentsOf(operand.getType()))
    extents.push_back(extent.isConstant() ? positions_.constant(extent.length)
                                          : positions_.named(extent.symbol.getValue()));
  if (llvm::any_of(extents, [](Dim extent) { return !extent; }))
    return tensor;
  tensor.extents = extents;
  tensor.strides.assign(extents.size(), positions_.constant(1));
  for (size_t axis = extents.size(); axis-- > 1;)
    tensor.strides[axis - 1] = positions_.dims().mul(tensor.strides[axis], extents[axis]);
  return tensor;
}

std::pair<Value, Dim> BlockBody::pointer(Value pointer) {
  Dim offset = positions_.constant(0);
  while (auto moved = pointer.getDefiningOp<pto::AddPtrOp>()) {
    offset = positions_.add(offset, positions_.of(moved.getOffset()));
    pointer = moved.getPointer();
  }
  return {pointer, offset};
}

/// `a:b`; the start has a name, since it stands there twice.
std::string BlockBody::span(Dim offset, Dim size, const char *start, const char *length) {
  Dim end = positions_.add(offset, size);
  if (offset.isConstant() && end.isConstant())
    return std::to_string(*offset.constant()) + ":" + std::to_string(*end.constant());
  if (offset.isConstant(0))
    return "0:" + dimText(size, length).as(Precedence::Or);
  std::string from = dimText(offset, start).as(Precedence::Or);
  if (code_.isCounting()) {
    dimText(offset, start);
    dimText(size, length);
    return from;
  }
  Expression count = dimText(size, length);
  bool isSum = end.terms().size() == offset.terms().size() + size.terms().size();
  return from + ":" +
         (isSum ? binary(dimText(offset, start), "+", count)
                : positions_.text(end, [&](Value leaf) { return valueText(code_, leaf); }))
             .text;
}

/// The multiple of a product that a term is; unknown if it is none.
static Dim multipleOf(DimContext &dims, const DimTerm &term, Dim stride) {
  if (stride.terms().size() != 1)
    return Dim();
  const DimTerm &unit = stride.terms()[0];
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

/// `a[h, i:i + n, :]`, where the view is of two axes of the array as they lie, at a position of the
/// others.
std::optional<std::string> BlockBody::indexed(Value value) {
  auto part = value.getDefiningOp<pto::PartitionViewOp>();
  auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
  if (!view || (view.getLayout() && *view.getLayout() != pto::ViewLayout::nd) ||
      view.getShape().size() != 2)
    return std::nullopt;
  auto [base, offset] = pointer(view.getPointer());
  auto argument = dyn_cast<BlockArgument>(base);
  if (!argument)
    return std::nullopt;
  const Tensor &tensor = tensorOf(argument);
  size_t rank = tensor.extents.size();
  if (rank == 0)
    return std::nullopt;
  Dim shape[2], strides[2], from[2], size[2];
  for (unsigned i = 0; i < 2; ++i) {
    shape[i] = positions_.of(view.getShape()[i]);
    strides[i] = positions_.of(view.getStrides()[i]);
    from[i] = positions_.of(part.getOffsets()[i]);
    size[i] = positions_.of(part.getSizes()[i]);
  }
  auto axisOf = [&](unsigned i, size_t below) -> std::optional<size_t> {
    for (size_t axis = below; axis-- > 0;)
      if (tensor.extents[axis] == shape[i] && tensor.strides[axis] == strides[i])
        return axis;
    return std::nullopt;
  };
  std::optional<size_t> col = axisOf(1, rank), row;
  bool isRow = shape[0].isConstant(1) && from[0].isConstant(0) && size[0].isConstant(1);
  if (col && !(rank == 1 && isRow))
    row = axisOf(0, *col);
  if (!col || (!row && !(isRow && strides[0] == shape[1])))
    return std::nullopt;
  llvm::SmallVector<Dim> positions(rank, positions_.constant(0));
  for (const DimTerm &term : offset.terms()) {
    bool isTaken = false;
    for (size_t axis = 0; axis < rank && !isTaken; ++axis) {
      if (axis == *col || (row && axis == *row))
        continue;
      Dim times = multipleOf(positions_.dims(), term, tensor.strides[axis]);
      if (!times)
        continue;
      positions[axis] = positions_.add(positions[axis], times);
      isTaken = true;
    }
    if (!isTaken)
      return std::nullopt;
  }
  std::vector<std::string> items;
  for (size_t axis = 0; axis < rank; ++axis) {
    bool isCol = axis == *col;
    if (!isCol && !(row && axis == *row)) {
      items.push_back(dimText(positions[axis], "at").text);
      continue;
    }
    unsigned i = isCol ? 1 : 0;
    bool isWhole = from[i].isConstant(0) && size[i] == tensor.extents[axis];
    items.push_back(
        isWhole ? ":" : span(from[i], size[i], isCol ? "col" : "row", isCol ? "cols" : "rows"));
  }
  return valueText(code_, argument).text + "[" + llvm::join(items, ", ") + "]";
}

Expression BlockBody::rawView(Value value) {
  auto view = value.getDefiningOp<pto::MakeTensorViewOp>();
  auto [base, offset] = pointer(view.getPointer());
  auto list = [&](ValueRange values) {
    std::vector<std::string> texts;
    for (Value each : values)
      texts.push_back(positionAs(each, "n").text);
    return "[" + llvm::join(texts, ", ") + "]";
  };
  std::string text = "make_tensor_view(" + valueText(code_, base).text + ", " +
                     dimText(offset, "offset").text + ", " + list(view.getShape()) + ", " +
                     list(view.getStrides());
  if (view.getLayout() && *view.getLayout() != pto::ViewLayout::nd)
    text += ", layout: ." + pto::stringifyViewLayout(*view.getLayout()).str();
  return {text + ")"};
}

Expression BlockBody::viewText(Value value) {
  auto part = value.getDefiningOp<pto::PartitionViewOp>();
  if (!part) {
    code_.unwritable(value.getDefiningOp(), "a view is no part of a tensor");
    return {"0"};
  }
  if (std::optional<std::string> text = indexed(value))
    return {*text};
  auto view = part.getSource().getDefiningOp<pto::MakeTensorViewOp>();
  std::string key = "view ";
  auto [base, offset] = pointer(view.getPointer());
  key += std::to_string(reinterpret_cast<uintptr_t>(base.getAsOpaquePointer())) + "+" +
         std::to_string(offset.id());
  for (Value each : view->getOperands().drop_front())
    key += "," + std::to_string(positions_.of(each).id());
  if (view.getLayout())
    key += pto::stringifyViewLayout(*view.getLayout()).str();
  std::string name = share(key, {Shared::Kind::View, Dim(), view.getResult(),
                                 valueText(code_, base).text + "_view"})
                         .text;
  std::vector<std::string> items;
  static constexpr const char *hints[2][2] = {{"row", "rows"}, {"col", "cols"}};
  for (auto [i, offset] : llvm::enumerate(part.getOffsets())) {
    const auto &hint = hints[i + 1 == part.getOffsets().size()];
    items.push_back(
        span(positions_.of(offset), positions_.of(part.getSizes()[i]), hint[0], hint[1]));
  }
  return {name + "[" + llvm::join(items, ", ") + "]"};
}

/// The array and the number of an element, as arguments.
std::string BlockBody::elementAt(Value at, Value offset) {
  auto [base, first] = pointer(at);
  Dim position = positions_.add(first, positions_.of(offset));
  return valueText(code_, base).text + ", " + dimText(position, "at").text;
}

} // namespace ptl::source
