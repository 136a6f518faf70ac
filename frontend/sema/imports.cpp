// Files: the root and what it imports, each once, imported ones first.

#include "frontend/lex/literal.h"
#include "frontend/parse/parse.h"
#include "frontend/sema/check_decl.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <filesystem>

namespace ptl {
namespace {

namespace fs = std::filesystem;

/// An import as written, and where it may lie.
struct ImportRequest {
  std::string bound;            ///< the name that it binds
  std::string shown;            ///< for messages
  std::vector<fs::path> places; ///< in order of search
  Span span;
};

struct Loader {
  ProgramState &state;
  std::unordered_map<std::string, CheckedModule *> modules; ///< by normal path
  std::vector<CheckedModule *> active;                      ///< being loaded: cycles

  CheckedModule *load(FileId file, std::string name);
  void loadImport(CheckedModule &module, NodeId node);
  ImportRequest request(const CheckedModule &module, NodeId node);
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

ImportRequest Loader::request(const CheckedModule &module, NodeId node) {
  const Tree &tree = *module.tree;
  NodeId path = ImportDeclView(tree, node).path();
  ImportRequest request;
  request.span = tree.span(path);
  fs::path relative;
  bool isStd = false;
  if (tree.is(path, NodeKind::StringLiteral)) {
    relative = stringLiteralValue(tree.mainText(path));
    request.shown = relative.string();
    request.bound = relative.stem().string();
  } else if (tree.is(path, NodeKind::Path)) {
    for (NodeId part : tree.children(path)) {
      std::string word(tree.text(part));
      if (request.shown.empty() && word == "std")
        isStd = true;
      else
        relative /= word;
      request.shown += (request.shown.empty() ? "" : ".") + word;
      request.bound = word;
    }
    relative += ".ptl";
  } else {
    return request;
  }
  if (isStd) {
    request.places = {fs::path(state.options.stdPath) / relative};
  } else {
    request.places = {fs::path(state.sources.file(module.file).path()).parent_path() / relative};
    for (const std::string &folder : state.options.importPaths)
      request.places.push_back(fs::path(folder) / relative);
  }
  return request;
}

CheckedModule *Loader::find(const ImportRequest &request) {
  std::string why;
  for (const fs::path &place : request.places) {
    std::string path = normalPath(place);
    if (auto known = modules.find(path); known != modules.end())
      return known->second;
    std::optional<FileId> file;
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
  auto builder = state.sink.report(DiagId::ModuleNotFound, request.span, {request.shown});
  for (const fs::path &place : request.places)
    builder.note("looked for `" + place.lexically_normal().string() + "`");
  if (!why.empty())
    builder.note(why);
  return nullptr;
}

bool Loader::reportCycle(const CheckedModule &importer, const CheckedModule *imported,
                         const ImportRequest &request) {
  auto start = std::find(active.begin(), active.end(), imported);
  if (start == active.end())
    return false;
  if (imported == &importer) {
    state.sink.report(DiagId::ImportOfItself, request.span);
    return true;
  }
  std::string cycle;
  for (auto it = start; it != active.end(); ++it)
    cycle += "`" + (*it)->name + "` imports ";
  state.sink.report(DiagId::ImportCycle, request.span, {cycle + "`" + imported->name + "`"});
  return true;
}

void Loader::bind(CheckedModule &importer, NodeId node, CheckedModule &imported,
                  const ImportRequest &request) {
  const Tree &tree = *importer.tree;
  ModuleScope &scope = *state.scopes.at(&importer);
  NodeId names = ImportDeclView(tree, node).names();
  if (names == kNoNode) {
    auto [slot, isNew] =
        scope.modules.try_emplace(request.bound, ImportedName{&imported, request.span});
    if (!isNew)
      state.sink.report(DiagId::DuplicateImport, request.span, {request.bound})
          .label(slot->second.span, "first imported here");
    return;
  }
  const ModuleScope &theirs = *state.scopes.at(&imported);
  Context ctx(state, importer);
  for (NodeId nameNode : tree.children(names)) {
    std::string name(tree.text(nameNode));
    if (name.empty())
      continue;
    if (!moduleExports(theirs, name)) {
      reportNotInModule(ctx, imported, name, tree.span(nameNode));
      continue;
    }
    auto [slot, isNew] =
        scope.names.try_emplace(name, ImportedName{&imported, tree.span(nameNode)});
    if (!isNew)
      state.sink.report(DiagId::DuplicateImport, tree.span(nameNode), {name})
          .label(slot->second.span, "first imported here");
  }
}

void Loader::loadImport(CheckedModule &module, NodeId node) {
  ImportRequest wanted = request(module, node);
  if (wanted.places.empty())
    return; // the parser has reported it
  CheckedModule *imported = find(wanted);
  if (!imported || reportCycle(module, imported, wanted))
    return;
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
