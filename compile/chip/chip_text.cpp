#include "compile/chip/chip_text.h"

#include "passes/lower_block/scalars.h"

using namespace mlir;

namespace ptl {

pto::Emitted cppText(const ChipProgram &program, const Machine &machine,
                     const pto::CppOptions &options) {
  llvm::SmallVector<ModuleOp> kernels;
  for (const OwningOpRef<ModuleOp> &kernel : program.program.kernels)
    kernels.push_back(kernel.get());
  OwningOpRef<ModuleOp> host = program.program.host.get().clone();
  auto function = *host->getOps<func::FuncOp>().begin();
  block::lowerScalars(function);
  return pto::emitCpp(kernels, function, machine, options);
}

} // namespace ptl
