// The inputs that every stage of a compilation shares, and how a stage fails.
#pragma once

#include "compile/compile_log.h"
#include "compile/compiler_options.h"
#include "frontend/sema/check.h"
#include "passes/transform/simplify.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>
#include <string>

namespace ptl {

/// The context of a compilation of entries of one program: the program, the options, and MLIR's
/// context, which owns types and attributes. Stages are functions of the context and of a value;
/// they return the next value or nothing, and leave no state in the context. Values that hold IR
/// (`TensorModule` and what is made from it) must not outlive the context. Only one thread at a
/// time may use it.
///
/// A stage that returns nothing has reported the reason; if no error in the source was reported,
/// the error is the compiler's own (E0808).
class CompileContext {
public:
  /// `program`, `sources` and `sink` must outlive the context.
  CompileContext(const CheckedProgram &program, const SourceManager &sources,
                 CompilerOptions options, DiagnosticSink &sink);
  CompileContext(const CompileContext &) = delete;
  CompileContext &operator=(const CompileContext &) = delete;

  const CheckedProgram &program() const { return program_; }
  const SourceManager &sources() const { return sources_; }
  const CompilerOptions &options() const { return options_; }
  CompileLog &log() const { return *log_; }
  DiagnosticSink &sink() const { return log_->sink(); }
  /// These two are created on first use: code from a cache needs neither.
  mlir::MLIRContext &mlir() const;
  const ir::Simplifier &simplifier() const;

  /// Calls `CompilerOptions::onStep`.
  void step(const char *name) const {
    if (options_.onStep)
      options_.onStep(name);
  }

private:
  const CheckedProgram &program_;
  const SourceManager &sources_;
  const CompilerOptions options_;
  std::unique_ptr<CompileLog> log_;
  mutable std::unique_ptr<mlir::MLIRContext> mlir_;
  mutable std::unique_ptr<ir::Simplifier> simplifier_;
};

/// Collects the errors that MLIR reports during its lifetime; otherwise they would be dropped.
class StageMessages {
public:
  explicit StageMessages(const CompileContext &context);

  std::string text; ///< all errors; stages add those of other libraries

private:
  mlir::ScopedDiagnosticHandler handler_;
};

/// Runs a stage, `run`, with a text to which it adds the reasons of other libraries' failures. If
/// the stage returns nothing although no error was reported, an internal error is reported.
/// `module` is the stage's input, for that report; may be null.
template <typename Run>
auto runStage(const CompileContext &context, const std::string &stage, mlir::ModuleOp module,
              Run run) {
  StageMessages messages(context);
  size_t errors = context.sink().errorCount();
  auto result = run(messages.text);
  if (!result && context.sink().errorCount() == errors)
    context.log().reportFault(stage, messages.text, module);
  return result;
}

} // namespace ptl
