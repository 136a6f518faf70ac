// Looking up declarations: all of them are there when a whole file is checked; when a chunk is,
// they are made from the index of their file.
#include "frontend/sema/declarations/on_demand.h"

#include "frontend/sema/declarations/check_decl.h"
#include "frontend/sema/declarations/declare_module.h"

namespace ptl {

CheckedModule *moduleOf(ProgramState &state, const ModuleIndex &index) {
  CheckedModule *&module = state.onDemand->modules[&index];
  if (!module) {
    state.program.modules.push_back(std::make_unique<CheckedModule>());
    module = state.program.modules.back().get();
    module->file = index.file;
    module->name = index.name;
    auto scope = std::make_unique<ModuleScope>();
    scope->index = &index;
    state.scopes[module] = std::move(scope);
  }
  return module;
}

/// The site of a name, noted as something that the check depends on.
static DeclSite lookUp(ProgramState &state, const ModuleIndex &index, DeclSpace space,
                       std::string_view name) {
  DeclSite site = index.find(space, name);
  state.onDemand->dependencies.push_back(
      {&index, space, std::string(name), Dependency::Part::Signature, site.signature});
  return site;
}

/// The entry of a name, made by `make` when the index has it; names without a declaration get a
/// null entry, so that they are looked up once.
template <typename Map, typename Make>
static auto findOrMake(ProgramState &state, ModuleScope &scope, Map &map, DeclSpace space,
                       std::string_view name, Make make) -> typename Map::mapped_type {
  if (auto found = map.find(name); found != map.end())
    return found->second;
  if (!scope.index || name.empty())
    return nullptr;
  DeclSite site = lookUp(state, *scope.index, space, name);
  if (!site)
    return map.emplace(name, nullptr).first->second;
  return make(*moduleOf(state, *scope.index), site);
}

CallableDecl *findCallable(ProgramState &state, ModuleScope &scope, std::string_view name) {
  return findOrMake(state, scope, scope.callables, DeclSpace::Callable, name,
                    [&](CheckedModule &module, const DeclSite &site) {
                      DeclState &decl = *makeCallable(state, module, *site.tree, site.node);
                      decl.hasSyntaxErrors = site.hasSyntaxErrors;
                      checkDeclSignature(decl);
                      checkDeclConditions(decl);
                      return decl.decl;
                    });
}

/// The same for a declaration that `make` declares and `complete(module, tree, declaration)` checks.
template <typename Decl, typename Complete>
static Decl *findOrComplete(ProgramState &state, ModuleScope &scope, StringMap<Decl *> &map,
                            DeclSpace space, std::string_view name,
                            Decl *(*make)(ProgramState &, CheckedModule &, const Tree &, NodeId),
                            Complete complete) {
  return findOrMake(state, scope, map, space, name,
                    [&](CheckedModule &module, const DeclSite &site) {
                      Decl *decl = make(state, module, *site.tree, site.node);
                      complete(module, *site.tree, *decl);
                      return decl;
                    });
}

StructDecl *findStruct(ProgramState &state, ModuleScope &scope, std::string_view name) {
  return findOrComplete(state, scope, scope.structs, DeclSpace::Struct, name, makeStruct,
                        [&](CheckedModule &module, const Tree &tree, StructDecl &decl) {
                          completeStruct(state, module, tree, decl);
                        });
}

TypeAliasDecl *findAlias(ProgramState &state, ModuleScope &scope, std::string_view name) {
  return findOrComplete(
      state, scope, scope.aliases, DeclSpace::Alias, name, makeAlias,
      [&](auto &, auto &, const TypeAliasDecl &decl) { completeAlias(state, decl); });
}

ConstDecl *findConst(ProgramState &state, ModuleScope &scope, std::string_view name) {
  return findOrComplete(state, scope, scope.consts, DeclSpace::Const, name, makeConst,
                        [&](auto &, auto &, const ConstDecl &decl) { completeConst(state, decl); });
}

// ---- Imports ------------------------------------------------------------------------------------

static const CheckedModule *findImport(ProgramState &state, StringMap<ImportedName> &bound,
                                       const StringMap<ModuleIndex::Import> *imports,
                                       std::string_view name) {
  auto found = bound.find(name);
  if (found == bound.end() && imports)
    if (auto import = imports->find(name); import != imports->end()) {
      CheckedModule *module = moduleOf(state, *import->second.module);
      found = bound.emplace(name, ImportedName{module, import->second.span}).first;
    }
  if (found == bound.end())
    return nullptr;
  found->second.used = true;
  return found->second.module;
}

const CheckedModule *findImportedModule(ProgramState &state, ModuleScope &scope,
                                        std::string_view name) {
  return findImport(state, scope.modules, scope.index ? &scope.index->modules : nullptr, name);
}

const CheckedModule *findImportedName(ProgramState &state, ModuleScope &scope,
                                      std::string_view name) {
  return findImport(state, scope.names, scope.index ? &scope.index->names : nullptr, name);
}

bool isFailedImport(const ModuleScope &scope, std::string_view name) {
  return (scope.index ? scope.index->failed : scope.failed).contains(name);
}

// ---- Lists of names -----------------------------------------------------------------------------

template <typename Map> static std::vector<std::string> keysOf(const Map &map) {
  std::vector<std::string> names;
  for (const auto &entry : map)
    names.push_back(entry.first);
  return names;
}

template <typename Map>
static void forEachKey(const Map &map, const std::function<void(std::string_view)> &visit) {
  for (const auto &entry : map)
    visit(entry.first);
}

void forEachDeclared(ProgramState &state, const ModuleScope &scope, DeclSpace space,
                     const std::function<void(std::string_view)> &visit) {
  if (scope.index) {
    // Any declaration that comes or goes may change what is read here.
    state.onDemand->readsAllNames = true;
    return forEachKey(scope.index->of(space), visit);
  }
  switch (space) {
  case DeclSpace::Callable:
    return forEachKey(scope.callables, visit);
  case DeclSpace::Struct:
    return forEachKey(scope.structs, visit);
  case DeclSpace::Alias:
    return forEachKey(scope.aliases, visit);
  case DeclSpace::Const:
    return forEachKey(scope.consts, visit);
  }
}

std::vector<std::string> declaredNames(ProgramState &state, const ModuleScope &scope,
                                       DeclSpace space) {
  std::vector<std::string> names;
  forEachDeclared(state, scope, space, [&](std::string_view name) { names.emplace_back(name); });
  return names;
}

std::vector<std::string> importedModules(ProgramState &, const ModuleScope &scope) {
  return scope.index ? keysOf(scope.index->modules) : keysOf(scope.modules);
}

void forEachImportedName(ProgramState &, const ModuleScope &scope,
                         const std::function<void(std::string_view)> &visit) {
  scope.index ? forEachKey(scope.index->names, visit) : forEachKey(scope.names, visit);
}

// ---- Bodies -------------------------------------------------------------------------------------

/// Checks a body of which the check of a chunk uses `part`. What the chunk declares itself is no
/// dependency.
static DeclState &checkPart(ProgramState &state, const CallableDecl &decl, Dependency::Part part) {
  DeclState &declState = *state.stateOf.at(&decl);
  if (!state.onDemand)
    return declState;
  if (!declState.bodyDone) {
    declState.decl->hasErrors |= declState.hasSyntaxErrors;
    checkDeclBody(declState);
  }
  Context &ctx = *declState.context;
  if (&ctx.tree != &state.onDemand->target) {
    const ModuleIndex &index = *ctx.moduleScope.index;
    DeclSite site = index.find(DeclSpace::Callable, decl.name);
    state.onDemand->dependencies.push_back(
        {&index, DeclSpace::Callable, decl.name, part, site.text, declState.labels});
  }
  return declState;
}

void checkBodyOf(ProgramState &state, const CallableDecl &decl) {
  checkPart(state, decl, Dependency::Part::Text);
}

const std::vector<LabelInfo> &labelsOf(ProgramState &state, const CallableDecl &decl) {
  return checkPart(state, decl, Dependency::Part::Labels).context->scope.labels;
}

} // namespace ptl
