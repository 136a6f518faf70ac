// What a compilation says while it goes on, and how its own faults are told from those of programs.
#pragma once

#include "compile/compiler_options.h"
#include "frontend/base/diagnostic.h"

#include <string>

namespace ptl {

/// Where the stages of a compilation write: diagnostics go to a sink, and the IR of each phase to
/// numbered files where `CompilerOptions::dumpFolder` asks for them. The log only grows, and what a
/// stage makes does not depend on it.
class CompileLog {
public:
  /// All three must outlive the log.
  CompileLog(const SourceManager &sources, const CompilerOptions &options, DiagnosticSink &sink)
      : sources_(sources), options_(options), sink_(sink) {}
  CompileLog(const CompileLog &) = delete;
  CompileLog &operator=(const CompileLog &) = delete;

  DiagnosticSink &sink() { return sink_; }

  /// Reports an error of the compiler itself (E0808), in a stage that was given `module` (null:
  /// none). `CompilerOptions::keepFault` is called for the first of them. `at`: the place in the
  /// source that the error shows at; `details`: more, for what is kept.
  void reportFault(const std::string &stage, const std::string &message, mlir::ModuleOp module = {},
                   Span at = kNoSpan, const std::string &details = "");
  /// True if an error was the compiler's own.
  bool hadInternalError() const { return internalError_; }

  /// Whether files of the phases are wanted.
  bool dumps() const { return !options_.dumpFolder.empty(); }
  /// Writes the next file, whose name ends in `phase`. Precondition: `dumps()`.
  void dump(const std::string &phase, const std::string &text);

private:
  const SourceManager &sources_;
  const CompilerOptions &options_;
  DiagnosticSink &sink_;
  unsigned dumps_ = 0;
  bool internalError_ = false;
};

/// IR as text.
std::string textOf(mlir::ModuleOp module);

} // namespace ptl
