#include "compile/compile_context.h"

#include "codegen/cpu/to_llvm.h"
#include "ir/dialect/ptl_dialect.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace ptl {

static std::unique_ptr<mlir::MLIRContext> makeContext(bool forChip) {
  mlir::DialectRegistry registry;
  registry.insert<ir::PtlDialect>();
  if (forChip) // without those of LLVM, of which there are many operations
    registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                    mlir::func::FuncDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                    mlir::ub::UBDialect, pto::PtoDialect>();
  else
    cpu::registerCpuDialects(registry);
  // Entries are small; the caller's threads are better spent on several of them.
  auto context =
      std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

CompileContext::CompileContext(const CheckedProgram &program, const SourceManager &sources,
                               CompilerOptions options, DiagnosticSink &sink)
    : program_(program), sources_(sources), options_(std::move(options)),
      log_(std::make_unique<CompileLog>(sources, options_, sink)) {}

mlir::MLIRContext &CompileContext::mlir() const {
  if (!mlir_) {
    mlir_ = makeContext(options_.chip.has_value());
    // Without a handler MLIR prints; what it says between stages is nobody's.
    mlir_->getDiagEngine().registerHandler([](mlir::Diagnostic &) {});
  }
  return *mlir_;
}

const ir::Simplifier &CompileContext::simplifier() const {
  if (!simplifier_)
    simplifier_ = std::make_unique<ir::Simplifier>(mlir());
  return *simplifier_;
}

StageMessages::StageMessages(const CompileContext &context)
    : handler_(&context.mlir(), [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
          text += (text.empty() ? "" : "; ") + diagnostic.str();
      }) {}

} // namespace ptl
