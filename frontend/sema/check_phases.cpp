#include "frontend/sema/check_phases.h"

#include "frontend/sema/declarations/check_decl.h"
#include "frontend/sema/declarations/check_module.h"
#include "frontend/sema/declarations/check_schedule.h"
#include "frontend/sema/declarations/declare_module.h"
#include "frontend/sema/declarations/on_demand.h"
#include "frontend/sema/placement/place_program.h"
#include "frontend/sema/placement/placement.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace ptl {

// ---- Declarations in error ----------------------------------------------------------------------

/// Marks declarations in which the parser found errors: they cannot be executed.
static void markSyntaxErrors(ProgramState &state) {
  if (state.sink.hasErrors())
    for (const auto &decl : state.decls)
      decl->decl->hasErrors |= isMisread(decl->context->tree, decl->decl->syntax, state.sink.all());
}

/// A callable that is not the first of its name, or has that of a struct, is in error: the file
/// says so (`reportDuplicates`), and the declaration says less (`markSyntaxErrors`).
static void markDuplicates(ProgramState &state, const CheckedModule &module) {
  const ModuleIndex &index = *state.scopes.at(&module)->index;
  for (CallableDecl *decl : module.callables) {
    DeclSpace space;
    if (!isNamed(*module.tree, decl->syntax, space) || decl->name.empty())
      continue;
    DeclSite site = index.find(space, decl->name);
    DeclSite clash = index.find(DeclSpace::Struct, decl->name);
    auto &dependencies = state.onDemand->dependencies;
    dependencies.push_back(
        {&index, space, decl->name, Dependency::Part::Signature, site.signature});
    dependencies.push_back(
        {&index, DeclSpace::Struct, decl->name, Dependency::Part::Signature, clash.signature});
    bool isFirst = site.tree == module.tree.get() && site.node == decl->syntax;
    decl->hasErrors |= !isFirst || clash;
  }
}

// ---- Placement ----------------------------------------------------------------------------------

/// Checks the bodies of what a declaration calls, and what those call: placement goes through them.
static void checkCalled(ProgramState &state, const DeclState &decl,
                        std::set<const CallableDecl *> &seen) {
  for (const auto &[callee, span] : decl.calls)
    if (auto found = state.stateOf.find(callee);
        found != state.stateOf.end() && seen.insert(callee).second) {
      checkBodyOf(state, *callee);
      checkCalled(state, *found->second, seen);
    }
}

/// Judges where the arrays of programs lie whose headers say so.
static void checkPlacements(ProgramState &state, std::span<DeclState *const> decls) {
  for (DeclState *decl : decls) {
    const Tree &tree = decl->context->tree;
    bool isShown = state.onDemand && &tree == &state.onDemand->target;
    if (decl->decl->kind != DeclKind::Program || (decl->decl->hasErrors && !isShown) ||
        !isPlaced(tree, decl->decl->syntax))
      continue;
    std::set<const CallableDecl *> seen;
    checkCalled(state, *decl, seen);
    DiagnosticSink quiet; // What is wrong with it has been said.
    DiagnosticSink &sink = decl->decl->hasErrors ? quiet : decl->context->sink;
    size_t errors = sink.errorCount();
    PlacedAsFar placed = placeAsFar(state.program, tree, *decl->decl, sink);
    if (isShown)
      state.onDemand->placed.push_back(std::move(placed));
    decl->decl->hasErrors |= sink.errorCount() > errors;
  }
}

// ---- The phases ---------------------------------------------------------------------------------

void checkDeclarations(ProgramState &state, std::span<CheckedModule *const> modules) {
  bool isPart = state.onDemand != nullptr;
  // Declarations that are made on the way are checked as far as they are used.
  std::vector<DeclState *> decls;
  for (const auto &decl : state.decls)
    decls.push_back(decl.get());
  for (CheckedModule *module : modules)
    completeModule(state, *module);
  // Any declaration may call any other one, so all signatures are there before the first condition or body is checked.
  for (DeclState *decl : decls)
    checkDeclSignature(*decl);
  for (DeclState *decl : decls)
    checkDeclConditions(*decl);
  markSyntaxErrors(state);
  if (isPart)
    for (CheckedModule *module : modules)
      markDuplicates(state, *module);
  for (DeclState *decl : decls)
    checkDeclBody(*decl);
  if (!isPart)
    checkRecursion(state);
  checkPlacements(state, decls);
  for (CheckedModule *module : modules)
    checkSchedules(state, *module);
  if (!isPart && !state.sink.hasErrors())
    warnUnusedImports(state, *state.program.modules.front());
}

// ---- Diagnostics --------------------------------------------------------------------------------

static bool isSyntax(const Diagnostic &diagnostic) {
  std::string_view code = diagInfo(diagnostic.id).code;
  return isSyntaxError(diagnostic.id) || code.starts_with("W10") || code.starts_with("W11");
}

/// What is wrong beside a syntax error is most often the same mistake: the part that was not
/// understood is missing. So the line of one says nothing else, and its declaration misses no
/// names.
static void removeConsequences(ProgramState &state,
                               const std::function<uint32_t(Span)> &lineOfSpan) {
  state.sink.removeIf([](const Diagnostic &diagnostic) { return diagnostic.isConsequence; });
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
    // A declaration with a syntax error may have lost the line that declares a name or gives the
    // result, so what misses one is dropped in all of it; other reports only in the same line.
    bool missesLine =
        diagnostic.id == DiagId::UnknownName || diagnostic.id == DiagId::UnknownFunction ||
        diagnostic.id == DiagId::MissingResult || diagnostic.id == DiagId::OutputNeverWritten ||
        diagnostic.id == DiagId::UnusedLocal;
    return missesLine && std::any_of(decls.begin(), decls.end(), [&](Span span) {
             return span.file == diagnostic.span.file && span.contains(diagnostic.span.begin);
           });
  });
}

/// A name that a declaration does not know is one mistake, however often it is used.
static void removeRepeated(ProgramState &state) {
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

void tidyDiagnostics(ProgramState &state, const std::function<uint32_t(Span)> &lineOf) {
  removeConsequences(state, lineOf);
  // In order, so that the first use of an unknown name is the one whose report is kept.
  state.sink.sort();
  removeRepeated(state);
}

} // namespace ptl
