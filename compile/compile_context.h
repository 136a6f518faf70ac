// What every stage of a compilation is given beside its input, and how a stage fails.
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

/// The surroundings of a compilation of entries of one program: the program, the options, and where
/// MLIR keeps types and attributes. Stages are functions of it and of a value, give the next value
/// or nothing, and leave nothing here. Values that hold IR (`TensorModule` and what is made of it)
/// must not outlive the context. One thread at a time may use it.
///
/// A stage that gives nothing has reported why; where no message in the source says so, the error is
/// the compiler's own (E0808).
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
  /// These two are made when they are first wanted: code that is kept from before needs neither.
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

/// Collects the errors that MLIR reports while this lives; without one they are dropped.
class StageMessages {
public:
  explicit StageMessages(const CompileContext &context);

  std::string text; ///< all errors; stages add those of other libraries

private:
  mlir::ScopedDiagnosticHandler handler_;
};

/// Runs what a stage does, `run`, with a text that it adds to when another library says why it
/// failed. If it gives nothing although no error was reported, that is an error of the compiler.
/// `module`: what the stage is given, for that report; may be null.
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
