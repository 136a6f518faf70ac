#include "ir/dialect/attributes.h"

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::attrs {
namespace {

/// What the verifier knows of an attribute: a row of `ir/ops/attributes.td`.
struct Row {
  llvm::StringLiteral key;
  unsigned carriers;
  bool (*isOfType)(mlir::Attribute value);
  llvm::StringLiteral type;  ///< in words
  llvm::StringLiteral words; ///< between spaces, the only values; empty: any
};

template <typename AttrT> bool isOfType(mlir::Attribute value) {
  if constexpr (std::is_same_v<AttrT, IntegerAttr>) {
    auto number = dyn_cast<IntegerAttr>(value);
    return number && number.getType().isSignlessInteger(64);
  } else {
    return isa<AttrT>(value);
  }
}

constexpr Row rows[] = {
#define PTL_ATTRIBUTE(HELPER, OBJECT, CARRIERS, TYPE, WORDS)                                       \
  {OBJECT.key(), CARRIERS, isOfType<decltype(OBJECT)::Type>, TYPE, WORDS},
#include "ir/dialect/attributes.inc"
#undef PTL_ATTRIBUTE
};

constexpr std::pair<Carrier, llvm::StringLiteral> carrierNames[] = {
    {Module, "modules"},
    {Function, "functions"},
    {Argument, "arguments of functions"},
    {Grid, "grids"},
    {Loop, "loops"},
    {Branch, "branches"},
    {Call, "calls"},
    {Instruction, "instructions"},
    {Operation, "operations in a function"},
};

bool isCarrier(mlir::Operation *op, unsigned carriers) {
  mlir::Operation *around = op->getParentOp();
  return ((carriers & Operation) && !isa<ModuleOp>(op) && !isa_and_nonnull<ModuleOp>(around)) ||
         ((carriers & Grid) && isa<ir::ParallelOp>(op)) ||
         ((carriers & Instruction) && isa_and_nonnull<pto::PtoDialect>(op->getDialect())) ||
         ((carriers & Loop) && isa<LoopLikeOpInterface>(op)) ||
         ((carriers & Branch) && isa<scf::IfOp>(op)) ||
         ((carriers & Function) && isa<FunctionOpInterface>(op)) ||
         ((carriers & Call) && isa<CallOpInterface>(op)) ||
         ((carriers & Module) && isa<ModuleOp>(op));
}

std::string namesOf(unsigned carriers) {
  std::string names;
  for (auto [carrier, name] : carrierNames)
    if (carriers & carrier)
      names += (names.empty() ? "" : " and ") + name.str();
  return names;
}

/// The attribute on what it may stand on. `where`: what it stands on, for the message.
LogicalResult verifyValue(mlir::Operation *op, NamedAttribute attribute, const Row &row,
                          llvm::StringRef where) {
  auto complain = [&] { return op->emitOpError() << where << "has `" << row.key << "`, which "; };
  if (!row.isOfType(attribute.getValue()))
    return complain() << "must be a " << row.type << ", not " << attribute.getValue();
  if (row.words.empty())
    return success();
  llvm::StringRef word = cast<StringAttr>(attribute.getValue()).getValue();
  llvm::SmallVector<llvm::StringRef> words;
  llvm::SplitString(row.words, words);
  if (llvm::is_contained(words, word))
    return success();
  return complain() << "must be one of `" << llvm::join(words, "`, `") << "`, not `" << word << "`";
}

} // namespace
} // namespace ptl::attrs

namespace ptl::ir {

void PtlDialect::registerAttributes() {
  for (auto [number, row] : llvm::enumerate(attrs::rows))
    attributeNumbers[StringAttr::get(getContext(), row.key)] = static_cast<unsigned>(number);
}

/// Its row in the table; null, after an error, if there is none.
static const attrs::Row *rowOf(Operation *op, NamedAttribute attribute,
                               const llvm::DenseMap<StringAttr, unsigned> &numbers) {
  auto known = numbers.find(attribute.getName());
  if (known != numbers.end())
    return &attrs::rows[known->second];
  op->emitOpError() << "has `" << attribute.getName().getValue()
                    << "`, which is no attribute of the dialect";
  return nullptr;
}

LogicalResult PtlDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  const attrs::Row *row = rowOf(op, attribute, attributeNumbers);
  if (!row)
    return failure();
  if (!attrs::isCarrier(op, row->carriers))
    return op->emitOpError() << "has `" << row->key << "`, which is for "
                             << attrs::namesOf(row->carriers);
  return attrs::verifyValue(op, attribute, *row, "");
}

LogicalResult PtlDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                   NamedAttribute attribute) {
  const attrs::Row *row = rowOf(op, attribute, attributeNumbers);
  if (!row)
    return failure();
  std::string where = "argument " + std::to_string(argument) + " ";
  if (!(row->carriers & attrs::Argument))
    return op->emitOpError() << where << "has `" << row->key << "`, which is for "
                             << attrs::namesOf(row->carriers);
  return attrs::verifyValue(op, attribute, *row, where);
}

LogicalResult PtlDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned result,
                                                      NamedAttribute attribute) {
  return op->emitOpError() << "result " << result << " has `" << attribute.getName().getValue()
                           << "`: results have no attributes of the dialect";
}

} // namespace ptl::ir
