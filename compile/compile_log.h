// The log of a compilation: how it reports, and how its own errors are told from those of programs.
#pragma once

#include "compile/compiler_options.h"
#include "frontend/base/diagnostic.h"

#include <string>

namespace ptl {

/// Where the stages of a compilation report: diagnostics go to a sink, and the IR of each phase to
/// numbered files in `CompilerOptions::dumpFolder`. The log is only appended to, and the results of
/// stages do not depend on it.
class CompileLog {
public:
  /// All three must outlive the log.
  CompileLog(const SourceManager &sources, const CompilerOptions &options, DiagnosticSink &sink)
      : sources_(sources), options_(options), sink_(sink) {}
  CompileLog(const CompileLog &) = delete;
  CompileLog &operator=(const CompileLog &) = delete;

  DiagnosticSink &sink() { return sink_; }

  /// Reports an internal error of the compiler (E0808) in a stage whose input was `module` (may be
  /// null). `CompilerOptions::keepFault` is called for the first one. `at` is the place in the
  /// source at which the error is reported; `details` are for the reproducer.
  void reportFault(const std::string &stage, const std::string &message, mlir::ModuleOp module = {},
                   Span at = kNoSpan, const std::string &details = "");
  /// True if an error was the compiler's own.
  bool hadInternalError() const { return internalError_; }

  /// Whether files of the phases are requested.
  bool dumps() const { return !options_.dumpFolder.empty(); }
  /// Writes the next file; its name ends in `phase`. Precondition: `dumps()`.
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
