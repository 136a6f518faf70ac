#include "codegen/pto/cpp_code.h"

using namespace mlir;

namespace ptl::pto {

CppCode::CppCode(func::FuncOp function, const Machine &machine, CppTypes &types,
                 CppHelpers &helpers, std::vector<Finding> &findings, CppExtension *extension)
    : function_(function), machine_(machine), types_(types), helpers_(helpers), findings_(findings),
      extension_(extension) {
  names_.keepForTiles(function);
}

void CppCode::open(Operation *op, const std::string &text) {
  line(op, text + " {");
  body_.indent(2);
}

void CppCode::close() {
  body_.dedent(2);
  body_.add("}");
}

void CppCode::missing(Operation *op, const std::string &what) {
  findings_.push_back({placeOf(op), 0, what, true});
}

const CppExpression *CppCode::addressOf(Value tile) const {
  auto found = addresses_.find(tile);
  return found == addresses_.end() ? nullptr : &found->second;
}

std::string CppCode::operandType(Value value) const {
  auto known = valueTypes_.find(value);
  return known == valueTypes_.end() ? cppElement(value.getType()) : known->second;
}

} // namespace ptl::pto
