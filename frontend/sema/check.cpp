#include "frontend/sema/check.h"

#include "frontend/sema/declarations/check_decl.h"
#include "frontend/sema/declarations/import_edit.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace ptl {

/// Marks declarations in which the parser found errors: they cannot be executed.
void markSyntaxErrors(ProgramState &state) {
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

static bool isSyntax(const Diagnostic &diagnostic) {
  std::string_view code = diagInfo(diagnostic.id).code;
  return isSyntaxError(diagnostic.id) || code.starts_with("W10") || code.starts_with("W11");
}

/// What is wrong beside a syntax error is most often the same mistake: the part that was not
/// understood is missing. So the line of one says nothing else, and its declaration misses no
/// names.
void removeConsequences(ProgramState &state, const std::function<uint32_t(Span)> &lineOfSpan) {
  std::set<std::pair<FileId, uint32_t>> lines;
  std::vector<Span> decls;
  auto lineOf = [&](Span span) { return std::pair(span.file, lineOfSpan(span)); };
  for (const Diagnostic &diagnostic : state.sink.all()) {
    if (!isSyntaxError(diagnostic.id) || diagnostic.span.file == kNoFile)
      continue;
    lines.insert(lineOf(diagnostic.span));
    for (const auto &decl : state.decls)
      if (decl->decl->span.file == diagnostic.span.file &&
          decl->decl->span.begin <= diagnostic.span.begin &&
          diagnostic.span.begin <= decl->decl->span.end)
        decls.push_back(decl->decl->span);
  }
  if (lines.empty())
    return;
  state.sink.removeIf([&](const Diagnostic &diagnostic) {
    if (isSyntax(diagnostic) || diagnostic.span.file == kNoFile)
      return false;
    if (lines.contains(lineOf(diagnostic.span)))
      return true;
    bool isMissingName =
        diagnostic.id == DiagId::UnknownName || diagnostic.id == DiagId::UnknownFunction;
    return isMissingName && std::any_of(decls.begin(), decls.end(), [&](Span span) {
             return span.file == diagnostic.span.file && span.contains(diagnostic.span.begin);
           });
  });
}

/// A name that a declaration does not know is one mistake, however often it is used.
void removeRepeated(ProgramState &state) {
  std::set<std::tuple<DiagId, std::string, const CallableDecl *>> seen;
  state.sink.removeIf([&](const Diagnostic &diagnostic) {
    if (diagnostic.id != DiagId::UnknownName && diagnostic.id != DiagId::UnknownFunction &&
        diagnostic.id != DiagId::UnknownType)
      return false;
    for (const auto &decl : state.decls)
      if (decl->decl->span.file == diagnostic.span.file &&
          decl->decl->span.contains(diagnostic.span.begin))
        return !seen.insert({diagnostic.id, diagnostic.message, decl->decl}).second;
    return false;
  });
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
  checkAll(state);
  removeConsequences(
      state, [&](Span span) { return sources.file(span.file).lineColumn(span.begin).line; });
  own.sort();
  removeRepeated(state);
  placeImports(*program, own);
  sink.append(own);
  return program;
}

} // namespace ptl
