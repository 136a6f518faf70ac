#include "frontend/sema/check.h"

#include "frontend/sema/check_phases.h"
#include "frontend/sema/declarations/import_edit.h"
#include "frontend/sema/declarations/imports.h"

namespace ptl {

/// Says where the imports go that fixes need, now that the files are read.
static void placeImports(const CheckedProgram &program, DiagnosticSink &sink) {
  for (Diagnostic &diagnostic : sink.all())
    for (Fix &fix : diagnostic.fixes)
      for (const auto &module : program.modules)
        if (fix.import && fix.edits.empty() && module->file == diagnostic.span.file)
          fix.edits = importEdits(*module->tree, {{fix.import->module, {fix.import->name}}});
}

std::unique_ptr<CheckedProgram> checkFile(SourceManager &sources, FileId root,
                                          const CheckOptions &options, DiagnosticSink &sink) {
  auto program = std::make_unique<CheckedProgram>();
  program->dims = std::make_shared<DimContext>();
  // Several phases report; the reader wants them in the order of the text.
  DiagnosticSink own;
  ProgramState state(sources, options, own, *program);
  loadModules(state, root);
  checkDeclarations(state, state.order);
  tidyDiagnostics(state,
                  [&](Span span) { return sources.file(span.file).lineColumn(span.begin).line; });
  placeImports(*program, own);
  sink.append(own);
  return program;
}

} // namespace ptl
