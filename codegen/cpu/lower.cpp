#include "codegen/cpu/lower.h"
#include "codegen/cpu/lower_module.h"

#include "codegen/cpu/to_llvm.h"

namespace ptl::cpu {

llvm::Expected<LlvmModule> blocksToLlvm(mlir::ModuleOp blocks,
                                        const std::function<void(mlir::ModuleOp)> &onLowered) {
  if (auto error = lowerToLlvmDialect(blocks))
    return error;
  if (onLowered)
    onLowered(blocks);
  LlvmModule result{std::make_unique<llvm::LLVMContext>(), nullptr};
  auto module = translateToLlvm(blocks, *result.context);
  if (!module)
    return module.takeError();
  result.module = std::move(*module);
  return result;
}

llvm::Expected<LlvmModule> compileToLlvm(mlir::ModuleOp source, const Processor &processor,
                                         int optimisation) {
  auto machine = makeTargetMachine(processor);
  if (!machine)
    return machine.takeError();
  auto blocks = lowerToBlocks(source, processor);
  if (!blocks)
    return llvm::createStringError("the program could not be lowered to the CPU");
  auto result = blocksToLlvm(*blocks);
  if (result)
    optimise(*result->module, **machine, optimisation);
  return result;
}

llvm::Expected<JitCode> compileInProcess(mlir::ModuleOp source, const Processor &processor,
                                         const JitCode::Symbols &runtime, int optimisation) {
  auto module = compileToLlvm(source, processor, optimisation);
  if (!module)
    return module.takeError();
  return JitCode::create(std::move(module->context), std::move(module->module), processor, runtime);
}

} // namespace ptl::cpu
