#include "compile/simulate/host_places.h"

#include "ir/dialect/attributes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace ptl {

Location placeInProgram(Location location) {
  if (auto named = dyn_cast<NameLoc>(location))
    return placeInProgram(named.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return placeInProgram(call.getCaller());
  if (auto fused = dyn_cast<FusedLoc>(location); fused && !fused.getLocations().empty())
    return placeInProgram(fused.getLocations().front());
  return location;
}

std::string sourceName(Value value) {
  if (!value)
    return "";
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      if (auto name = attrs::firstOf(function, argument.getArgNumber(), attrs::name, attrs::output))
        return name.str();
  auto named = dyn_cast<NameLoc>(value.getLoc());
  return named ? named.getName().str() : "";
}

} // namespace ptl
