#include "frontend/sema/check_chunk.h"

#include "frontend/sema/check_decl.h"
#include "frontend/sema/on_demand.h"

namespace ptl {

/// A callable that is not the first of its name, or has that of a struct, is in error: the file
/// reports it (`reportDuplicates`), and the declaration reports less (`markSyntaxErrors`).
static void markDuplicates(ProgramState &state, const CheckedModule &module,
                           const ModuleIndex &index) {
  for (CallableDecl *decl : module.callables) {
    DeclSpace space;
    if (!isNamed(*module.tree, decl->syntax, space) || decl->name.empty())
      continue;
    DeclSite site = index.find(space, decl->name);
    DeclSite clash = index.find(DeclSpace::Struct, decl->name);
    auto &dependencies = state.onDemand->dependencies;
    dependencies.push_back({&index, space, decl->name, false, site.signature});
    dependencies.push_back({&index, DeclSpace::Struct, decl->name, false, clash.signature});
    bool isFirst = site.tree == module.tree.get() && site.node == decl->syntax;
    decl->hasErrors |= !isFirst || clash;
  }
}

/// The phases of `checkFile`, for the declarations of one tree.
static void checkDeclarations(ProgramState &state, CheckedModule &module,
                              const ModuleIndex &index) {
  declareModule(state, module);
  // Declarations that are made on the way are checked as far as they are used.
  std::vector<DeclState *> decls;
  for (const auto &decl : state.decls)
    decls.push_back(decl.get());
  completeModule(state, module);
  for (DeclState *decl : decls)
    checkDeclSignature(*decl);
  for (DeclState *decl : decls)
    checkDeclConditions(*decl);
  markSyntaxErrors(state);
  markDuplicates(state, module, index);
  for (DeclState *decl : decls)
    checkDeclBody(*decl);
  checkSchedules(state, module);
}

static std::vector<ChunkCheck::Calls> callsIn(ProgramState &state, const CheckedModule &module) {
  std::vector<ChunkCheck::Calls> all;
  for (const CallableDecl *decl : module.callables) {
    ChunkCheck::Calls calls{decl, {}};
    for (const auto &[callee, span] : state.stateOf.at(decl)->calls)
      if (callee->module == &module)
        calls.calls.push_back({callee->name, span});
    all.push_back(std::move(calls));
  }
  return all;
}

static std::vector<std::string> usedImports(const ModuleScope &scope) {
  std::vector<std::string> used;
  for (const auto *map : {&scope.modules, &scope.names})
    for (const auto &[name, import] : *map)
      if (import.used)
        used.push_back(name);
  return used;
}

std::unique_ptr<ChunkCheck> checkChunk(std::shared_ptr<const Tree> tree, const SourceFile &file,
                                       const DiagnosticSink &syntax, const ModuleIndex &index,
                                       const CheckOptions &options) {
  auto check = std::make_unique<ChunkCheck>();
  check->program = std::make_unique<CheckedProgram>();
  check->program->dims = std::make_shared<DimContext>();
  SourceManager noSources; // imports are resolved in the index
  DiagnosticSink sink = syntax;
  ProgramState state(noSources, options, sink, *check->program);
  OnDemand onDemand{*tree};
  state.onDemand = &onDemand;
  CheckedModule &module = *moduleOf(state, index);
  module.tree = tree;
  checkDeclarations(state, module, index);
  removeConsequences(state, [&](Span span) {
    return span.file == file.id() ? file.lineColumn(span.begin).line : 0;
  });
  sink.sort();
  removeRepeated(state);
  check->diagnostics = sink.all();
  check->dependencies = std::move(onDemand.dependencies);
  check->readsAllNames = onDemand.readsAllNames;
  check->usedImports = usedImports(*state.scopes.at(&module));
  check->calls = callsIn(state, module);
  return check;
}

} // namespace ptl
