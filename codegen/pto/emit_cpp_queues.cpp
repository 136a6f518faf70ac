#include "codegen/pto/emit_cpp_queues.h"

#include "codegen/pto/cpp_expressions.h"
#include "codegen/pto/windows.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

void emitPipe(CppCode &code, Operation *op, Value memory, Value local) {
  auto number = [&](const char *key, int64_t otherwise) {
    auto attribute = op->getAttrOfType<IntegerAttr>(key);
    return attribute ? attribute.getInt() : otherwise;
  };
  int64_t direction = number("dir_mask", 1);
  bool nosplit = false;
  if (auto attribute = op->getAttrOfType<BoolAttr>("nosplit"))
    nosplit = attribute.getValue();
  std::string spelled = "TPipe<" + std::to_string(number("flag_base", 0)) + ", Direction::" +
                        (direction == 1   ? "DIR_C2V"
                         : direction == 2 ? "DIR_V2C"
                                          : "DIR_BOTH") +
                        ", " + std::to_string(slotStride(op)) + ", " +
                        std::to_string(number("slot_num", 8)) + ", " +
                        std::to_string(number("local_slot_num", 2)) + (nosplit ? ", true>" : ">");
  const std::string name = code.names().of(op->getResult(0));
  // The alias of the type is the name in camel case.
  std::string wanted;
  for (size_t i = 0; i < name.size(); ++i)
    if (name[i] != '_')
      wanted += i == 0 || name[i - 1] == '_' ? llvm::toUpper(name[i]) : name[i];
  std::string alias = code.types().pipe(spelled, wanted), address = textOf(code, local);
  code.setType(op->getResult(0), alias);
  std::string buffer = memory ? textOf(code, memory) : "(__gm__ void *)nullptr";
  code.line(op, alias + " " + name + "(" + buffer + ", " +
                    // The address stands for the consumer's side, and the other one is 0.
                    (direction == 2 ? "0, " + address : address + ", 0") + ");");
}

std::string splitName(int64_t split) {
  return split == 1   ? "TileSplitAxis::TILE_UP_DOWN"
         : split == 2 ? "TileSplitAxis::TILE_LEFT_RIGHT"
                      : "TileSplitAxis::TILE_NO_SPLIT";
}

} // namespace

bool emitQueue(CppCode &code, Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<InitializeL2G2LPipeOp>([&](auto made) {
        return emitPipe(code, op, made.getGmAddr(), made.getLocalAddr()), true;
      })
      .Case<InitializeL2LPipeOp>(
          [&](auto made) { return emitPipe(code, op, {}, made.getLocalAddr()), true; })
      .Case<TPushOp, TPopOp>([&](auto made) {
        const char *call = isa<TPushOp>(op) ? "TPUSH<" : "TPOP<";
        return code.line(op, call + code.operandType(made.getPipe()) + ", " +
                                 code.operandType(made.getTile()) + ", " +
                                 splitName(made.getSplit()) + ">(" + textOf(code, made.getPipe()) +
                                 ", " + textOf(code, made.getTile()) + ");"),
               true;
      })
      .Case<TFreeOp>([&](TFreeOp made) {
        return code.line(op, "TFREE<" + code.operandType(made.getPipe()) + ", " +
                                 splitName(made.getSplit()) + ">(" + textOf(code, made.getPipe()) +
                                 ");"),
               true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
