#include "compile/call/work_formula.h"

#include "ir/dialect/ptl_dialect.h"
#include "ir/ops/op_table.h"
#include "passes/analysis/op_info.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace ptl {

namespace {

using Extents = std::vector<int64_t>;

int64_t elementCount(const Extents &extents) {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

/// The dimension variables of a signature, if it fits those operands.
std::optional<std::map<std::string_view, int64_t>>
matchSignature(const Signature &signature, const std::vector<Extents> &operands) {
  if (signature.operands.size() < operands.size())
    return std::nullopt;
  std::map<std::string_view, int64_t> dims;
  for (size_t i = 0; i < operands.size(); ++i) {
    const ShapePattern &shape = signature.operands[i].shape;
    size_t named = shape.dims.size(), rank = operands[i].size();
    if (shape.kind != ShapePatternKind::Dims)
      continue;
    if (rank < named || (rank > named && !shape.hasRest))
      return std::nullopt;
    for (size_t axis = 0; axis < named; ++axis)
      // The named axes are the last ones; those in front of them are the rest.
      dims[signature.dimVars[shape.dims[axis]]] = operands[i][rank - named + axis];
  }
  return dims;
}

/// An index notation: combinations of positions of all letters, and operations for each of them.
struct IndexNotation {
  int64_t points = 1, terms = 0;

  IndexNotation(StringRef spec, const std::vector<Extents> &operands) {
    auto [inputs, result] = spec.split("->");
    std::map<char, int64_t> letters;
    llvm::SmallVector<StringRef> parts;
    inputs.split(parts, ',');
    for (size_t i = 0; i < parts.size() && i < operands.size(); ++i)
      for (auto [axis, letter] : llvm::enumerate(parts[i].trim()))
        if (axis < operands[i].size())
          letters[letter] = operands[i][axis];
    bool sums = false;
    for (auto [letter, extent] : letters) {
      points *= extent;
      sums |= !result.contains(letter);
    }
    // The factors of a point take one multiplication less than there are, and letters that are not in the result an addition.
    terms = static_cast<int64_t>(operands.size()) - 1 + (sums ? 1 : 0);
  }
};

/// A factor of a formula.
std::optional<int64_t> valueOf(StringRef name, Operation &op, const OpRecord &record,
                               const std::vector<Extents> &operands, const Extents &result) {
  int64_t number = 0;
  if (!name.getAsInteger(10, number))
    return number;
  if (name == "out")
    return elementCount(result);
  if (name == "in") {
    for (const Extents &extents : operands)
      number += elementCount(extents);
    return number;
  }
  if (auto spec = op.getAttrOfType<StringAttr>("spec")) {
    IndexNotation notation(spec, operands);
    return name == "points"  ? std::optional(notation.points)
           : name == "terms" ? std::optional(notation.terms)
                             : std::nullopt;
  }
  for (const Signature &signature : record.signatures)
    if (auto dims = matchSignature(signature, operands))
      if (auto found = dims->find(std::string_view(name)); found != dims->end())
        return found->second;
  return std::nullopt;
}

} // namespace

bool touchesElement(Operation &op, llvm::function_ref<bool(mlir::Type)> isWanted) {
  auto wanted = [&](mlir::Type type) { return isWanted(ir::elementTypeOf(type)); };
  return llvm::any_of(op.getOperandTypes(), wanted) || llvm::any_of(op.getResultTypes(), wanted);
}

/// A product counts as many sums as multiplications, one more than it has by itself: the addition
/// of its result to something is among them.
static bool isCountedByProduct(Operation &op) {
  return isa<ir::AddOp>(op) && llvm::any_of(op.getOperands(), [](Value operand) {
           return isa_and_nonnull<ir::MatmulOp, ir::EinsumOp>(operand.getDefiningOp()) &&
                  operand.hasOneUse();
         });
}

bool countsFlops(Operation &op) {
  const OpRecord *record = ir::recordOf(&op);
  return record && record->flops != "0" && !isCountedByProduct(op) &&
         touchesElement(op, [](mlir::Type type) { return isa<FloatType>(type); });
}

std::optional<int64_t> flopsOf(Operation &op, const ExtentsOf &extentsOf) {
  const OpRecord &record = *ir::recordOf(&op);
  std::vector<Extents> operands;
  for (mlir::Type type : op.getOperandTypes()) {
    if (isa<IndexType>(type)) // Lengths, not data.
      continue;
    std::optional<Extents> extents = extentsOf(type);
    if (!extents)
      return std::nullopt;
    operands.push_back(std::move(*extents));
  }
  Extents result;
  if (op.getNumResults() > 0) {
    std::optional<Extents> extents = extentsOf(op.getResult(0).getType());
    if (!extents)
      return std::nullopt;
    result = std::move(*extents);
  }
  int64_t product = 1;
  llvm::SmallVector<StringRef> factors;
  StringRef(record.flops).split(factors, '*');
  for (StringRef factor : factors) {
    std::optional<int64_t> value = valueOf(factor.trim(), op, record, operands, result);
    if (!value)
      return std::nullopt;
    product *= *value;
  }
  return product;
}

} // namespace ptl
