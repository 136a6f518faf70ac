#include "frontend/sema/check_chunk.h"

#include "frontend/sema/check_phases.h"
#include "frontend/sema/declarations/declare_module.h"
#include "frontend/sema/declarations/on_demand.h"

#include <array>

namespace ptl {

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
  declareModule(state, module);
  checkDeclarations(state, std::array{&module});
  tidyDiagnostics(state, [&](Span span) {
    return span.file == file.id() ? file.lineColumn(span.begin).line : 0;
  });
  check->diagnostics = sink.all();
  check->dependencies = std::move(onDemand.dependencies);
  check->placed = std::move(onDemand.placed);
  check->readsAllNames = onDemand.readsAllNames;
  check->usedImports = usedImports(*state.scopes.at(&module));
  check->calls = callsIn(state, module);
  for (const CallableDecl *decl : module.callables)
    check->labels.emplace_back(decl->name, state.stateOf.at(decl)->labels);
  return check;
}

bool Dependency::holds() const {
  DeclSite site = module->find(space, name);
  if (part == Part::Signature)
    return site.signature == hash;
  return site.text == hash || (part == Part::Labels && site.labels != 0 && site.labels == labels);
}

bool Dependency::isDoubtful() const {
  DeclSite site = module->find(space, name);
  return part == Part::Labels && site && site.text != hash && site.labels == 0;
}

bool ChunkCheck::holds() const {
  for (const Dependency &dependency : dependencies)
    if (!dependency.holds())
      return false;
  return true;
}

} // namespace ptl
