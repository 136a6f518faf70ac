#include "frontend/sema/check.h"

#include "frontend/sema/check_decl.h"

#include <algorithm>

namespace ptl {

/// Marks declarations in which the parser found errors: they cannot be executed.
static void markSyntaxErrors(ProgramState &state) {
  std::vector<Span> errors;
  for (const Diagnostic &diagnostic : state.sink.all())
    if (diagnostic.severity == Severity::Error)
      errors.push_back(diagnostic.span);
  if (errors.empty())
    return;
  for (const auto &decl : state.decls)
    for (Span span : errors)
      if (span.file == decl->decl->span.file && decl->decl->span.begin <= span.begin &&
          span.begin <= decl->decl->span.end)
        decl->decl->hasErrors = true;
}

static void checkAll(ProgramState &state) {
  for (CheckedModule *module : state.order)
    completeModule(state, *module);
  for (const auto &decl : state.decls)
    checkDeclSignature(*decl);
  for (const auto &decl : state.decls)
    checkDeclConditions(*decl);
  markSyntaxErrors(state);
  for (const auto &decl : state.decls)
    checkDeclBody(*decl);
  checkRecursion(state);
  for (CheckedModule *module : state.order)
    checkSchedules(state, *module);
  if (!state.sink.hasErrors())
    warnUnusedImports(state, *state.program.modules.front());
}

std::unique_ptr<CheckedProgram> checkFile(SourceManager &sources, FileId root,
                                          const CheckOptions &options, DiagnosticSink &sink) {
  auto program = std::make_unique<CheckedProgram>();
  program->dims = std::make_shared<DimContext>();
  // Several phases report; the reader wants them in the order of the text.
  DiagnosticSink own;
  ProgramState state(sources, options, own, *program);
  loadModules(state, root);
  checkAll(state);
  own.sort();
  sink.append(own);
  return program;
}

} // namespace ptl
