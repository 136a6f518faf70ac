#include "compile/compile_log.h"

#include "frontend/base/output.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdio>
#include <sys/stat.h>

namespace ptl {

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  return text;
}

void CompileLog::reportFault(const std::string &stage, const std::string &message,
                             mlir::ModuleOp module, Span at, const std::string &details) {
  std::string why = message.empty() ? "no reason was given" : message;
  DiagnosticBuilder builder = sink_.report(DiagId::CompilerFault, at, {stage, why});
  builder.note("this is an error in the compiler, not in the program: nothing was emitted");
  // The first fault alone is kept: later ones are most likely its consequences.
  if (!internalError_ && options_.keepFault)
    builder.note(options_.keepFault(sources_, {stage, details.empty() ? why : why + "\n" + details,
                                               module ? textOf(module) : ""}));
  internalError_ = true;
}

void CompileLog::dump(const std::string &phase, const std::string &text) {
  // The folder may be there already; if it cannot be made, the write below says why.
  ::mkdir(options_.dumpFolder.c_str(), 0777);
  char name[32];
  std::snprintf(name, sizeof name, "/%02u-", dumps_++);
  std::string reason, path = options_.dumpFolder + name + phase;
  if (!writeOutput(path, text, &reason))
    sink_.report(DiagId::CannotWriteFile, kNoSpan, {path, reason});
}

} // namespace ptl
