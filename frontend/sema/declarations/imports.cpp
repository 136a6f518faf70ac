#include "frontend/sema/declarations/imports.h"

#include "frontend/lex/literal.h"
#include "frontend/parse/parse.h"
#include "frontend/sema/declarations/bind_import.h"
#include "frontend/sema/declarations/check_module.h"
#include "frontend/sema/declarations/declare_module.h"
#include "frontend/sema/names/lookup.h"

#include <algorithm>
#include <filesystem>

namespace ptl {
namespace {

namespace fs = std::filesystem;

struct Loader {
  ProgramState &state;
  std::unordered_map<std::string, CheckedModule *> modules; ///< by normal path
  std::vector<CheckedModule *> active;                      ///< being loaded: cycles

  CheckedModule *load(FileId file, std::string name);
  void loadImport(CheckedModule &module, NodeId node);
  CheckedModule *find(const ImportRequest &request);
  bool reportCycle(const CheckedModule &importer, const CheckedModule *imported,
                   const ImportRequest &request);
  void bind(CheckedModule &importer, NodeId node, CheckedModule &imported,
            const ImportRequest &request);
};

} // namespace

static std::string normalPath(const fs::path &path) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error);
  return (error ? path : absolute).lexically_normal().string();
}

CheckedModule *Loader::find(const ImportRequest &request) {
  std::string why;
  for (const fs::path &place : request.places) {
    std::string path = normalPath(place);
    // Modules are known by their normal path, so a module that two others import is checked once
    // and its types are the same in both.
    if (auto known = modules.find(path); known != modules.end())
      return known->second;
    std::optional<FileId> file;
    // The unsaved text of an editor comes before the file.
    auto overlay = state.options.overlays.find(place.string());
    if (overlay == state.options.overlays.end())
      overlay = state.options.overlays.find(path);
    std::error_code error;
    if (overlay != state.options.overlays.end())
      file = state.sources.add(place.string(), overlay->second);
    else if (fs::is_regular_file(place, error))
      file = state.sources.load(place.lexically_normal().string(), &why);
    if (file)
      return load(*file, request.bound);
  }
  reportModuleNotFound(request, why, state.sink);
  return nullptr;
}

bool Loader::reportCycle(const CheckedModule &importer, const CheckedModule *imported,
                         const ImportRequest &request) {
  auto start = std::find(active.begin(), active.end(), imported);
  if (start == active.end())
    return false;
  std::vector<std::string> cycle;
  for (auto it = start; it != active.end(); ++it)
    cycle.push_back((*it)->name);
  reportImportCycle(request, cycle, state.sink);
  return true;
}

void Loader::bind(CheckedModule &importer, NodeId node, CheckedModule &imported,
                  const ImportRequest &request) {
  ModuleScope &scope = *state.scopes.at(&importer);
  Context ctx(state, importer, *importer.tree);
  bindNames(*importer.tree, node, request, scope.modules, scope.names, scope.failed,
            ImportedName{&imported, {}}, state.sink, [&](const std::string &name, Span span) {
              if (moduleExports(ctx, imported, name))
                return true;
              reportNotInModule(ctx, imported, name, span);
              return false;
            });
}

void Loader::loadImport(CheckedModule &module, NodeId node) {
  const std::string &path = state.sources.file(module.file).path();
  ImportRequest wanted = importRequest(*module.tree, node, path, state.options);
  if (wanted.places.empty())
    return; // the parser has reported it
  CheckedModule *imported = find(wanted);
  if (!imported || reportCycle(module, imported, wanted))
    return failNames(*module.tree, node, wanted, state.scopes.at(&module)->failed);
  if (std::find(module.imports.begin(), module.imports.end(), imported) == module.imports.end())
    module.imports.push_back(imported);
  bind(module, node, *imported, wanted);
}

CheckedModule *Loader::load(FileId file, std::string name) {
  const SourceFile &source = state.sources.file(file);
  state.program.modules.push_back(std::make_unique<CheckedModule>());
  CheckedModule *module = state.program.modules.back().get();
  module->file = file;
  module->name = std::move(name);
  module->tree = std::make_shared<const Tree>(parse(source, state.sink));
  modules[normalPath(source.path())] = module;
  state.scopes[module] = std::make_unique<ModuleScope>();
  active.push_back(module);
  for (NodeId item : module->tree->children(module->tree->root()))
    if (module->tree->is(item, NodeKind::ImportDecl))
      loadImport(*module, item);
  active.pop_back();
  declareModule(state, *module);
  state.order.push_back(module);
  return module;
}

void loadModules(ProgramState &state, FileId root) {
  Loader loader{state, {}, {}};
  loader.load(root, fs::path(state.sources.file(root).path()).stem().string());
}

} // namespace ptl
