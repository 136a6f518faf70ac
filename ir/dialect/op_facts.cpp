#include "ir/dialect/op_facts.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ptl::ir {

/// Every record under its name in IR.
static const llvm::StringMap<OpId> &idsByName() {
  static const llvm::StringMap<OpId> ids = [] {
    llvm::StringMap<OpId> map;
    for (const OpRecord &record : allOps())
      map["ptl." + std::string(record.mnemonic)] = record.id;
    return map;
  }();
  return ids;
}

std::optional<OpId> opIdOf(llvm::StringRef name) {
  auto found = idsByName().find(name);
  return found == idsByName().end() ? std::nullopt : std::optional(found->getValue());
}

std::optional<OpId> opIdOf(Operation *op) { return opIdOf(op->getName().getStringRef()); }

llvm::StringRef operationName(OpId id) {
  std::string_view mnemonic = opRecord(id).mnemonic;
  return idsByName().find("ptl." + std::string(mnemonic))->getKey();
}

std::optional<OpId> combinerNamed(llvm::StringRef word) {
  return llvm::StringSwitch<std::optional<OpId>>(word)
      .Case("add", OpId::Add)
      .Case("max", OpId::Max)
      .Case("min", OpId::Min)
      .Default(std::nullopt);
}

const OpLowering *loweringOf(Operation *op) {
  std::optional<OpId> id = opIdOf(op);
  return id ? &opLowering(*id) : nullptr;
}

} // namespace ptl::ir
