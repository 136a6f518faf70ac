#include "passes/analysis/source_place.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::block {

LedgerPlace placeOf(Location location) {
  return llvm::TypeSwitch<LocationAttr, LedgerPlace>(location)
      .Case([](FileLineColLoc at) {
        return LedgerPlace{at.getFilename().str(), at.getLine(), at.getColumn()};
      })
      .Case([](NameLoc name) { return placeOf(name.getChildLoc()); })
      .Case([](CallSiteLoc call) { return placeOf(call.getCaller()); })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (LedgerPlace place = placeOf(part); place.line)
            return place;
        return LedgerPlace();
      })
      .Default([](LocationAttr) { return LedgerPlace(); });
}

std::string nameOf(Location location) {
  return llvm::TypeSwitch<LocationAttr, std::string>(location)
      .Case([](NameLoc name) { return name.getName().str(); })
      .Case([](CallSiteLoc call) { return nameOf(call.getCallee()); })
      .Case([](FusedLoc fused) {
        for (Location part : fused.getLocations())
          if (std::string name = nameOf(part); !name.empty())
            return name;
        return std::string();
      })
      .Default([](LocationAttr) { return std::string(); });
}

Location withoutName(Location location) {
  if (auto named = dyn_cast<NameLoc>(location))
    return withoutName(named.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(location))
    return CallSiteLoc::get(withoutName(call.getCallee()), call.getCaller());
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused)
    return location;
  llvm::SmallVector<Location> parts;
  for (Location part : fused.getLocations())
    parts.push_back(withoutName(part));
  return FusedLoc::get(parts, fused.getMetadata(), location.getContext());
}

} // namespace ptl::block
