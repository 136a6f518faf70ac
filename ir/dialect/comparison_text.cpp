#include "ir/dialect/comparison_text.h"

using namespace mlir;

namespace ptl::ir {

llvm::StringRef comparisonText(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq:
    return "==";
  case P::ne:
    return "!=";
  case P::slt:
  case P::ult:
    return "<";
  case P::sle:
  case P::ule:
    return "<=";
  case P::sgt:
  case P::ugt:
    return ">";
  case P::sge:
  case P::uge:
    return ">=";
  }
  return "==";
}

bool isUnsigned(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  return predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
}

llvm::StringRef comparisonText(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::OEQ:
  case P::UEQ:
  case P::ORD: // a number with itself
    return "==";
  case P::ONE:
  case P::UNE:
  case P::UNO: // the same
    return "!=";
  case P::OLT:
  case P::ULT:
    return "<";
  case P::OLE:
  case P::ULE:
    return "<=";
  case P::OGT:
  case P::UGT:
    return ">";
  default:
    return ">=";
  }
}

} // namespace ptl::ir
