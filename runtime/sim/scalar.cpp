#include "runtime/sim/scalar.h"

#include "ir/ops/evaluate_arith.h"

namespace ptl::rt::sim {

static ptl::Scalar valueOf(const Scalar &scalar) { return {scalar.f, scalar.i}; }

bool evaluate(const Step &step, const Scalar *values, Scalar &result, std::string &error) {
  ptl::Scalar operands[3];
  size_t count = step.operands.size();
  for (size_t i = 0; i < count; ++i)
    operands[i] = valueOf(values[i]);
  std::optional<ptl::Scalar> value =
      ptl::evaluate({step.op, step.type.kind, step.operandType.kind, step.predicate},
                    std::span(operands).first(count));
  if (!value) {
    error = "divides by zero";
    return false;
  }
  result = {value->i, value->f};
  return true;
}

Scalar loadScalar(const uint8_t *memory, ElemKind kind) {
  ptl::Scalar value = loadElem(memory, kind);
  return {value.i, value.f};
}

void storeScalar(uint8_t *memory, ElemKind kind, Scalar value) {
  storeElem(memory, kind, valueOf(value));
}

} // namespace ptl::rt::sim
