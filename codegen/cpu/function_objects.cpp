#include "codegen/cpu/function_objects.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace ptl::cpu {

static bool refersToData(const Constant &constant) {
  if (isa<ConstantData>(constant) || isa<Function>(constant))
    return false;
  // A vector or an expression refers to what its parts refer to.
  return isa<GlobalValue>(constant) || any_of(constant.operands(), [](const Use &part) {
           return refersToData(*cast<Constant>(part));
         });
}

static bool refersToData(const Function &function) {
  for (const Instruction &instruction : llvm::instructions(function))
    for (const Value *operand : instruction.operands())
      if (const auto *constant = dyn_cast<Constant>(operand); constant && refersToData(*constant))
        return true;
  return false;
}

/// Whether the function calls one of the module's own that stays there.
static bool callsOthers(const Function &function, const SmallPtrSetImpl<Function *> &taken) {
  for (const Instruction &instruction : llvm::instructions(function))
    for (const Value *operand : instruction.operands())
      if (const auto *callee = dyn_cast<Function>(operand);
          callee && callee->hasLocalLinkage() && !taken.contains(callee))
        return true;
  return false;
}

/// A function that is compiled when it is called first must not have its arguments in registers that are not saved meanwhile:
/// those of vectors.
static bool takesOnlyScalars(const Function &function) {
  auto isScalar = [](const Type *type) { return type->isSingleValueType() && !type->isVectorTy(); };
  return (function.getReturnType()->isVoidTy() || isScalar(function.getReturnType())) &&
         all_of(function.args(), [&](const Argument &each) { return isScalar(each.getType()); });
}

/// The functions that can be compiled by themselves.
static SmallVector<Function *> separateFunctions(Module &module) {
  SmallVector<Function *> separate;
  for (Function &function : module)
    if (!function.isDeclaration() && function.hasLocalLinkage() &&
        function.hasFnAttribute(Attribute::NoInline) && takesOnlyScalars(function) &&
        !refersToData(function))
      separate.push_back(&function);
  SmallPtrSet<Function *, 16> taken(separate.begin(), separate.end());
  // A function that stays in the module keeps its callers there, too.
  auto stays = [&](Function *function) { return callsOthers(*function, taken); };
  // Each removal may bind further callers to the module, so this goes on until nothing changes.
  for (auto *found = find_if(separate, stays); found != separate.end();
       found = find_if(separate, stays)) {
    taken.erase(*found);
    separate.erase(found);
  }
  return separate;
}

/// The function alone, with declarations of what it calls.
static std::unique_ptr<Module> moduleOf(const Module &whole, const Function &function) {
  ValueToValueMapTy values;
  std::unique_ptr<Module> module =
      CloneModule(whole, values, [&](const GlobalValue *each) { return each == &function; });
  module->setModuleIdentifier(function.getName());
  module->setSourceFileName(function.getName());
  // Unused declarations would make equal functions of different modules differ.
  for (GlobalVariable &global : make_early_inc_range(module->globals()))
    if (global.use_empty())
      global.eraseFromParent();
  for (Function &each : make_early_inc_range(*module))
    if (each.isDeclaration() && each.use_empty())
      each.eraseFromParent();
  return module;
}

SeparateFunctions takeFunctions(Module &module) {
  SmallVector<Function *> taken = separateFunctions(module);
  for (Function *function : taken)
    // The linker of the process has to find them from the object that calls them.
    function->setLinkage(GlobalValue::ExternalLinkage);
  SeparateFunctions functions;
  for (Function *function : taken) {
    functions.push_back({function->getName().str(), ""});
    raw_string_ostream out(functions.back().bitcode);
    WriteBitcodeToFile(*moduleOf(module, *function), out);
  }
  for (Function *function : taken)
    function->deleteBody();
  return functions;
}

Expected<std::string> compileFunction(const SeparateFunction &function, TargetMachine &machine,
                                      int level) {
  LLVMContext context;
  auto module = parseBitcodeFile(MemoryBufferRef(function.bitcode, function.name), context);
  if (!module)
    return module.takeError();
  optimise(**module, machine, level);
  return emitOutput(**module, machine, OutputKind::Object);
}

Expected<JitCode::Objects> FunctionObjects::objects(const SeparateFunctions &functions,
                                                    const Processor &processor, int level,
                                                    CodeQuality quality) {
  JitCode::Objects objects;
  std::unique_ptr<TargetMachine> machine;
  for (const SeparateFunction &function : functions) {
    // The bitcode is the key, so that no hash collision can give the code of another function.
    auto &object = objects_[{level, quality, function.bitcode}];
    if (!object) {
      if (!machine) {
        auto made = makeTargetMachine(processor, quality);
        if (!made)
          return made.takeError();
        machine = std::move(*made);
      }
      Expected<std::string> code = compileFunction(function, *machine, level);
      if (!code)
        return code.takeError();
      object = std::make_shared<const std::string>(std::move(*code));
    }
    objects.push_back(object);
  }
  return objects;
}

} // namespace ptl::cpu
