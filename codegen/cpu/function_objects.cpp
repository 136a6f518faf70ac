#include "codegen/cpu/function_objects.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace ptl::cpu {

static bool refersToData(const Function &function) {
  for (const Instruction &instruction : instructions(function))
    for (const Value *operand : instruction.operands())
      if (isa<Constant>(operand) && !isa<ConstantData>(operand) && !isa<Function>(operand))
        return true;
  return false;
}

/// The function alone, with declarations of what it calls.
static std::unique_ptr<Module> moduleOf(const Module &whole, const Function &function) {
  ValueToValueMapTy values;
  std::unique_ptr<Module> module =
      CloneModule(whole, values, [&](const GlobalValue *each) { return each == &function; });
  module->setModuleIdentifier(function.getName());
  module->setSourceFileName(function.getName());
  for (GlobalVariable &global : make_early_inc_range(module->globals()))
    if (global.use_empty())
      global.eraseFromParent();
  for (Function &each : make_early_inc_range(*module))
    if (each.isDeclaration() && each.use_empty())
      each.eraseFromParent();
  return module;
}

Expected<JitCode::Objects> FunctionObjects::take(Module &module, TargetMachine &machine,
                                                 int level) {
  SmallVector<Function *> taken;
  for (Function &function : module)
    if (!function.isDeclaration() && function.hasLocalLinkage() &&
        function.hasFnAttribute(Attribute::NoInline) && !refersToData(function))
      taken.push_back(&function);
  for (Function *function : taken)
    function->setLinkage(GlobalValue::ExternalLinkage);
  JitCode::Objects objects;
  for (Function *function : taken) {
    std::unique_ptr<Module> alone = moduleOf(module, *function);
    std::string text;
    raw_string_ostream out(text);
    alone->print(out, nullptr);
    auto &object = objects_[{level, text}];
    if (!object) {
      optimise(*alone, machine, level);
      Expected<std::string> code = emitOutput(*alone, machine, OutputKind::Object);
      if (!code)
        return code.takeError();
      object = std::make_shared<const std::string>(std::move(*code));
    }
    objects.push_back(object);
  }
  for (Function *function : taken)
    function->deleteBody();
  return objects;
}

} // namespace ptl::cpu
