#include "compile/simulate/host_values.h"

#include "codegen/reference/scalar_ops.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/element_types.h"
#include "ir/dialect/scalar_values.h"
#include "passes/analysis/op_info.h"
#include "runtime/elem.h"
#include "runtime/format_value.h"
#include "runtime/sim/load/load.h"

#include "ir/build/build_ir.h"
#include "ir/dialect/pto_dialect.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace mlir;

namespace ptl {

int64_t hostBytes(const std::vector<int64_t> &extents, mlir::Type type) {
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  return elements * pto::elementBytes(ir::elementTypeOf(type));
}

// ---- boxes --------------------------------------------------------------------------------------

static std::vector<int64_t> stridesOf(const std::vector<int64_t> &extents) {
  std::vector<int64_t> strides(extents.size(), 1);
  for (size_t axis = extents.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * extents[axis];
  return strides;
}

static bool liesInside(const HostArray &array, const HostBox &box) {
  if (box.offsets.size() != array.extents.size())
    return false;
  for (size_t axis = 0; axis < array.extents.size(); ++axis) {
    int64_t last = box.offsets[axis] + (box.lengths[axis] - 1) * box.steps[axis];
    if (box.lengths[axis] > 0 && (box.offsets[axis] < 0 || last >= array.extents[axis]))
      return false;
  }
  return true;
}

bool copyBox(const HostArray &from, const HostBox &box, int64_t elementBytes, uint8_t *to) {
  if (!liesInside(from, box))
    return false;
  std::vector<int64_t> strides = stridesOf(from.extents), at(box.lengths.size(), 0);
  int64_t count = 1;
  for (int64_t length : box.lengths)
    count *= length;
  auto bytes = static_cast<size_t>(elementBytes);
  for (int64_t i = 0; i < count; ++i) {
    int64_t element = 0;
    for (size_t axis = 0; axis < at.size(); ++axis)
      element += (box.offsets[axis] + at[axis] * box.steps[axis]) * strides[axis];
    std::memcpy(to + static_cast<size_t>(i) * bytes,
                from.data + static_cast<size_t>(element) * bytes, bytes);
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < box.lengths[axis])
        break;
      at[axis] = 0;
    }
  }
  return true;
}

uint8_t *elementAt(const HostArray &array, const HostBox &box, int64_t elementBytes) {
  if (!liesInside(array, box))
    return nullptr;
  std::vector<int64_t> strides = stridesOf(array.extents);
  int64_t element = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis)
    element += box.offsets[axis] * strides[axis];
  return array.data + element * elementBytes;
}

// ---- scalars ------------------------------------------------------------------------------------

static ElemKind kindOf(mlir::Type type) {
  std::optional<ElemKind> kind = ir::registerKindOf(type);
  return kind ? *kind : ir::elemKindOf(type);
}

Attribute readHostScalar(const uint8_t *memory, mlir::Type type) {
  return ir::constantOf(loadElem(memory, kindOf(type)), type);
}

int32_t elemCodeOf(ElemKind kind) {
  std::optional<PtlElem> code = rt::elemFromName(elemName(kind));
  return static_cast<int32_t>(code.value_or(PTL_I64));
}

PtlValue hostValue(mlir::Type type, Attribute value) {
  PtlValue shown{};
  shown.elem = elemCodeOf(kindOf(type));
  writeHostScalar(reinterpret_cast<uint8_t *>(&shown.as.scalar), type, value);
  return shown;
}

void writeHostScalar(uint8_t *memory, mlir::Type type, Attribute value) {
  storeElem(memory, kindOf(type), *ir::scalarOf(value));
}

ValueRange whatDecides(Operation *op) {
  if (isa<scf::ForOp>(op))
    return op->getOperands().take_front(3);
  if (isa<ir::StoreOp>(op))
    return op->getOperands().drop_front();
  bool decides = isa<ir::AllocOp, ir::ViewOp, ir::LoadOp, ir::SliceOp, ir::ReshapeOp>(op);
  return decides ? ValueRange(op->getOperands()) : ValueRange();
}

static std::string shownArray(const HostArray &array, mlir::Type elem) {
  std::vector<int64_t> strides = stridesOf(array.extents);
  return rt::formatArray({array.data, static_cast<int64_t>(array.extents.size()),
                          array.extents.data(), strides.data(), elemCodeOf(kindOf(elem))});
}

void printHostLine(ir::PrintOp print, const llvm::DenseMap<Value, HostArray> &arrays,
                   llvm::function_ref<Attribute(Value)> scalarOf) {
  std::vector<std::string> parts;
  if (!print.getMessage().empty())
    parts.push_back(print.getMessage().str());
  ArrayAttr texts = attrs::texts.of(print);
  for (auto [number, value] : llvm::enumerate(print.getXs())) {
    auto array = arrays.find(value);
    Attribute scalar = scalarOf(value);
    if (auto among = texts ? dyn_cast<StringAttr>(texts[number]) : StringAttr())
      parts.push_back(among.str());
    else if (array != arrays.end() && (array->second.data || array->second.bytes == 0))
      parts.push_back(shownArray(array->second, ir::elementTypeOf(value.getType())));
    else if (array == arrays.end() && isa_and_nonnull<TypedAttr>(scalar))
      parts.push_back(rt::formatValue(hostValue(value.getType(), scalar)));
    else
      return;
  }
  std::string line = llvm::join(parts, " ") + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fflush(stdout);
}

static RoundMode roundingOf(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("round");
  std::optional<RoundMode> mode = name ? roundModeByName(name.getValue()) : std::nullopt;
  return mode.value_or(RoundMode::Even);
}

/// A built-in of the language; none for other operations.
static std::optional<Scalar> evaluateBuiltin(Operation *op, llvm::ArrayRef<Scalar> operands) {
  const OpRecord *record = ir::recordOf(op);
  if (!record)
    return std::nullopt;
  ElemKind to = kindOf(op->getResult(0).getType());
  if (isa<ir::ConvertOp>(op)) {
    auto saturate = op->getAttrOfType<BoolAttr>("saturate");
    return convertScalar(operands[0], kindOf(op->getOperand(0).getType()), to, roundingOf(op),
                         saturate && saturate.getValue());
  }
  ElemKind elem = kindOf(op->getOperands().back().getType());
  Scalar result;
  if (!reference::isScalarOp(record->id) ||
      reference::evalScalar(record->id, elem, operands, result) != reference::EvalStatus::Ok)
    return std::nullopt;
  return roundScalar(result, to);
}

Attribute evaluateHostScalar(Operation *op, llvm::ArrayRef<Attribute> operands) {
  if (operands.empty() || op->getNumResults() != 1)
    return {};
  llvm::SmallVector<Scalar> values;
  for (Attribute operand : operands) {
    std::optional<Scalar> value = ir::scalarOf(operand);
    if (!value)
      return {};
    values.push_back(*value);
  }
  std::optional<ArithUse> use = ir::arithUseOf(op);
  std::optional<Scalar> value = use ? evaluate(*use, values) : evaluateBuiltin(op, values);
  return value ? ir::constantOf(*value, op->getResult(0).getType()) : Attribute();
}

std::pair<PtlStatus, std::string> whyNoValue(Operation *op, llvm::ArrayRef<Attribute> operands) {
  // Of positions, and of integers of the program.
  bool divides = isa<arith::FloorDivSIOp, arith::CeilDivSIOp, arith::DivSIOp, arith::DivUIOp,
                     arith::RemSIOp, arith::RemUIOp, ir::DivOp, ir::RemOp, ir::CdivOp>(op);
  auto divisor = divides ? dyn_cast_or_null<IntegerAttr>(operands[1]) : IntegerAttr();
  if (divisor && divisor.getValue().isZero())
    return {PTL_ERROR_ARITHMETIC, "division by zero"};
  return {PTL_ERROR_INTERNAL,
          "the simulator's host cannot run `" + op->getName().getStringRef().str() + "`"};
}

Attribute evaluateHostFact(Operation *op, const HostArray &array) {
  if (!isa<ir::UniqueOp, ir::SortedOp>(op))
    return {};
  mlir::Type elem = ir::elementTypeOf(op->getOperand(0).getType());
  int64_t bytes = pto::elementBytes(elem);
  std::vector<int64_t> values;
  for (int64_t at = 0; at < array.bytes; at += bytes)
    values.push_back(loadElem(array.data + at, kindOf(elem)).i);
  // Numbers of 64 bits without a sign are held as the same bits with one.
  bool isUnsigned = elem.isUnsignedInteger();
  bool holds = std::is_sorted(values.begin(), values.end(), [&](int64_t a, int64_t b) {
    return isUnsigned ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  });
  if (isa<ir::UniqueOp>(op)) {
    std::sort(values.begin(), values.end());
    holds = std::adjacent_find(values.begin(), values.end()) == values.end();
  }
  return BoolAttr::get(op->getContext(), holds);
}

} // namespace ptl
