#include "passes/analysis/machine_types.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace ptl::ir {

std::string machineTypeName(Type type) {
  if (type.isBF16())
    return "bf16";
  if (isa<Float8E4M3FNType>(type))
    return "f8e4m3";
  if (isa<Float8E5M2Type>(type))
    return "f8e5m2";
  if (type.isInteger(1))
    return "bool";
  bool isFloat = isa<FloatType>(type);
  return (isFloat                    ? "f"
          : type.isUnsignedInteger() ? "u"
                                     : "i") +
         std::to_string(type.isIndex() ? 64 : type.getIntOrFloatBitWidth());
}

} // namespace ptl::ir
