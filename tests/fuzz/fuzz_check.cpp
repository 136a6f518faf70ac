// The whole front end takes any text, in bounded time, and its tree is as wide as the errors allow.
#include "frontend/sema/check.h"
#include "tests/fuzz/fuzz_input.h"

using namespace ptl;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  FileId root = sources.add("<fuzz>", std::string(reinterpret_cast<const char *>(data), size));
  DiagnosticSink sink;
  std::unique_ptr<CheckedProgram> program = checkFile(sources, root, CheckOptions(), sink);
  fuzz::require(program != nullptr, "no program");
  for (const Diagnostic &diagnostic : sink.all()) {
    fuzz::require(diagnostic.span.file < sources.size(), "a diagnostic outside all files");
    fuzz::require(diagnostic.span.end <= sources.file(diagnostic.span.file).text().size(),
                  "a diagnostic outside its file");
  }
  return 0;
}
