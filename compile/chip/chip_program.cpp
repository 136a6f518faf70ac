#include "compile/chip/chip_program.h"

#include "ir/dialect/ptl_dialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ptl {

ChipProgram copyOf(const ChipProgram &program) {
  ChipProgram copy;
  copy.program.host = program.program.host.get().clone();
  copy.program.grids = program.program.grids.get().clone();
  for (const mlir::OwningOpRef<mlir::ModuleOp> &kernel : program.program.kernels)
    copy.program.kernels.push_back(kernel.get().clone());
  copy.ledger = program.ledger;
  copy.sync = program.sync;
  copy.proof = program.proof;
  copy.halvings = program.halvings;
  copy.avoid = program.avoid;
  copy.statements = program.statements;
  return copy;
}

void dropRequirements(mlir::ModuleOp kernel) {
  llvm::SmallVector<mlir::Operation *> open;
  kernel.walk([&](ir::CheckOp check) { open.push_back(check); });
  for (bool isCheck = true; !open.empty(); isCheck = false) {
    llvm::SmallVector<mlir::Operation *> next;
    for (mlir::Operation *op : open) {
      if (!isCheck && !mlir::isOpTriviallyDead(op))
        continue;
      for (mlir::Value operand : op->getOperands())
        if (mlir::Operation *made = operand.getDefiningOp();
            made && !llvm::is_contained(next, made))
          next.push_back(made);
      op->erase();
      llvm::erase(next, op);
    }
    open = std::move(next);
  }
}

} // namespace ptl
