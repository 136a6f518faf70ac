#include "codegen/pto/emit_cpp_views.h"

#include "codegen/pto/cpp_expressions.h"
#include "codegen/pto/names.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

/// Scales of lines of blocks, which lie side by side in pairs: lines, pairs, and two in each.
void emitScales(CppCode &code, PartitionViewOp op, MakeTensorViewOp view, ViewLayout layout) {
  CppView type;
  type.element = op.getType().getElementType();
  bool isRight = layout == ViewLayout::mx_b_dn;
  type.layout = isRight ? "MX_B_DN" : "MX_A_ND";
  // The view of a right operand is transposed: its lines are columns.
  unsigned line = isRight ? 1 : 0, block = 1 - line;
  std::optional<int64_t> lines = getConstantIntValue(op.getSizes()[line]),
                         blocks = getConstantIntValue(op.getSizes()[block]),
                         stride = getConstantIntValue(view.getStrides()[line]);
  type.shape[2] = lines.value_or(kDynamic);
  type.shape[3] = blocks ? *blocks / 2 : kDynamic;
  type.shape[4] = 2;
  type.strides[2] = stride.value_or(kDynamic);
  type.strides[3] = 2;
  CppExpression at = expression(code, view.getPointer());
  CppExpression row = expression(code, op.getOffsets()[line]),
                distance = expression(code, view.getStrides()[line]);
  at = sumOf(at, {row.within(Precedence::Product) + " * " + distance.within(Precedence::Unary),
                  Precedence::Product});
  at = sumOf(at, expression(code, op.getOffsets()[block]));
  std::string alias = code.types().view(type), sizes;
  code.setType(op, alias);
  if (!lines)
    sizes = textOf(code, op.getSizes()[line]);
  if (!blocks)
    sizes += (sizes.empty() ? "" : ", ") +
             expression(code, op.getSizes()[block]).within(Precedence::Product) + " / 2";
  std::string arguments = "reinterpret_cast<__gm__ float8_e8m0_t *>(" + at.text + ")";
  if (!sizes.empty() || !stride)
    arguments += ", " + alias + "::Shape(" + sizes + ")";
  if (!stride)
    arguments += ", " + alias + "::Stride(" + textOf(code, view.getStrides()[line]) + ")";
  code.line(op, alias + " " + code.names().of(op) + "(" + arguments + ");");
}

/// The parts of an array: a pointer to its first element, extents and distances.
void emitPart(CppCode &code, PartitionViewOp op) {
  auto view = op.getSource().getDefiningOp<MakeTensorViewOp>();
  if (!view)
    return code.missing(op, "a part of a part has no spelling in C++");
  if (auto layout = view.getLayoutAttr(); layout && (layout.getValue() == ViewLayout::mx_a_nd ||
                                                     layout.getValue() == ViewLayout::mx_b_dn))
    return emitScales(code, op, view, layout.getValue());
  CppView type;
  type.element = op.getType().getElementType();
  size_t rank = op.getSizes().size();
  if (rank > 5)
    return code.missing(op, "views have up to five axes in PTO-ISA");
  std::string sizes, strides;
  CppExpression at = expression(code, view.getPointer());
  for (size_t i = 0; i < rank; ++i) {
    // Views of the library have five axes, of which the last ones are used.
    size_t axis = 5 - rank + i;
    auto number = static_cast<unsigned>(i);
    int64_t fixed = op.getType().getShape()[i];
    // A size that is constant becomes part of the type.
    std::optional<int64_t> size =
        fixed != kDynamic ? fixed : getConstantIntValue(op.getSizes()[number]);
    std::optional<int64_t> stride = getConstantIntValue(view.getStrides()[number]);
    type.shape[axis] = size.value_or(kDynamic);
    type.strides[axis] = stride.value_or(kDynamic);
    if (!size)
      sizes += (sizes.empty() ? "" : ", ") + textOf(code, op.getSizes()[number]);
    if (!stride)
      strides += (strides.empty() ? "" : ", ") + textOf(code, view.getStrides()[number]);
    // Positions of 0 move nothing.
    if (getConstantIntValue(op.getOffsets()[number]) == 0)
      continue;
    CppExpression offset = expression(code, op.getOffsets()[number]),
                  distance = expression(code, view.getStrides()[number]);
    // Neighbouring elements have a distance of 1, which needs no product.
    if (stride != 1)
      offset = {offset.within(Precedence::Product) + " * " + distance.within(Precedence::Unary),
                Precedence::Product};
    at = sumOf(at, offset);
  }
  if (auto layout = view.getLayoutAttr())
    type.layout = layout.getValue() == ViewLayout::dn   ? "DN"
                  : layout.getValue() == ViewLayout::nz ? "NZ"
                                                        : "ND";
  // Columns side by side with rows one apart are a transposed matrix.
  else if (type.strides[4] != 1 && type.strides[3] == 1)
    type.layout = "DN";
  std::string alias = code.types().view(type), arguments = at.text;
  code.setType(op, alias);
  // Extents that are not constant are given to the constructor, in order.
  if (!sizes.empty() || !strides.empty())
    arguments += ", " + alias + "::Shape(" + sizes + ")";
  if (!strides.empty())
    arguments += ", " + alias + "::Stride(" + strides + ")";
  code.line(op, alias + " " + code.names().of(op) + "(" + arguments + ");");
}

} // namespace

bool emitView(CppCode &code, Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<MakeTensorViewOp>([&](auto) { return true; }) // its parts say all
      .Case<PartitionViewOp>([&](PartitionViewOp part) { return emitPart(code, part), true; })
      .Case<LoadScalarOp>([&](LoadScalarOp load) {
        return code.line(op, "const " + cppElement(load.getValue().getType()) + " " +
                                 code.names().of(load) + " = " +
                                 expression(code, load.getPointer()).within(Precedence::Primary) +
                                 "[" + textOf(code, load.getOffset()) + "];"),
               true;
      })
      .Case<StoreScalarOp>([&](StoreScalarOp store) {
        return code.line(op, expression(code, store.getPointer()).within(Precedence::Primary) +
                                 "[" + textOf(code, store.getOffset()) +
                                 "] = " + textOf(code, store.getValue()) + ";"),
               true;
      })
      .Case<TrapOp>([&](TrapOp trap) {
        // The message is kept as a comment, since the device prints nothing.
        code.line(op,
                  "trap(); // " + trap.getStatus().str() + ": " + commentText(trap.getMessage()));
        return true;
      })
      .Case<GetBlockIdxOp, GetBlockNumOp, GetSubBlockIdxOp, GetSubBlockNumOp>([&](auto) {
        const char *call = isa<GetBlockIdxOp>(op)      ? "get_block_idx()"
                           : isa<GetBlockNumOp>(op)    ? "get_block_num()"
                           : isa<GetSubBlockIdxOp>(op) ? "get_subblockid()"
                                                       : "get_subblockdim()";
        return code.line(op,
                         "const int64_t " + code.names().of(op->getResult(0)) + " = " + call + ";"),
               true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
