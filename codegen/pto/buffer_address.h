// The addresses of buffers, for both printers.
#pragma once

#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace ptl::pto {

/// The address of a buffer if it is a constant. A buffer without an address is reported as missing, and
/// emission goes on with address 0, so that all that is missing is told at once.
template <typename Code>
std::optional<int64_t> addressOrMissing(Code &code, mlir::Operation *op, mlir::Value address) {
  if (!address) {
    code.missing(op, "the buffer has no address yet");
    return 0;
  }
  return mlir::getConstantIntValue(address);
}

/// The address of a buffer that has to be a constant.
template <typename Code>
int64_t constantAddress(Code &code, mlir::Operation *op, mlir::Value address) {
  std::optional<int64_t> constant = addressOrMissing(code, op, address);
  if (!constant)
    code.missing(op, "the buffer has no address yet");
  return constant.value_or(0);
}

} // namespace ptl::pto
