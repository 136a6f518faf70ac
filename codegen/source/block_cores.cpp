#include "codegen/source/block_cores.h"

#include "codegen/source/origins.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/pto_dialect.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

std::string SharedByCores::fresh(const std::string &wanted) const {
  auto isTaken = [&](const std::string &name) {
    auto isIt = [&](const auto &each) { return each.second.name == name; };
    return llvm::any_of(queues, isIt) || llvm::any_of(events, isIt);
  };
  std::string name = wanted;
  for (unsigned number = 2; isTaken(name); ++number)
    name = wanted + "_" + std::to_string(number);
  return name;
}

std::optional<Location> declarationOf(Operation *op) {
  auto places = dyn_cast<FusedLoc>(op->getLoc()); // of the call and of the declaration
  bool isDeclared = attrs::event.isOn(op) && places && places.getLocations().size() == 2;
  return isDeclared ? std::optional<Location>(places.getLocations()[1]) : std::nullopt;
}

std::string SharedByCores::declarations(const Unwritable &unwritable) const {
  std::string text;
  for (const auto &[flag, queue] : queues)
    text += queue.declaration + "\n";
  for (const auto &[number, event] : events) {
    if (event.from.empty() || event.to.empty())
      unwritable(event.op, "the other end of an event between cores is not there");
    std::string count = event.count > 1 ? "[" + std::to_string(event.count) + "]" : "";
    std::string own = "event " + event.name + count + ": " + event.from + " -> " + event.to +
                      " id " + std::to_string(event.first);
    std::optional<Location> declared = declarationOf(event.op);
    text += (declared ? withOrigin(own, *declared) : own) + "\n";
  }
  return text;
}

} // namespace ptl::source
