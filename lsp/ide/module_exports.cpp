#include "lsp/ide/module_exports.h"

#include "frontend/base/word_char.h"
#include "frontend/sema/declarations/import_edit.h"
#include "frontend/syntax/typed_nodes.h"
#include "lsp/ide/symbol.h"

#include <algorithm>
#include <filesystem>

namespace ptl::ide {

namespace fs = std::filesystem;

std::vector<Export> exportsOf(const File &module) {
  std::vector<Export> exports;
  for (size_t i = 0; i < kDeclSpaces; ++i)
    for (const auto &[name, site] : module.index.of(static_cast<DeclSpace>(i)))
      if (site.tree->has(site.node, NodeFlag::Pub))
        exports.push_back({name, static_cast<DeclSpace>(i), site});
  std::sort(exports.begin(), exports.end(),
            [](const Export &a, const Export &b) { return a.name < b.name; });
  return exports;
}

bool isIdentifier(std::string_view text) {
  if (text.empty() || (text[0] >= '0' && text[0] <= '9'))
    return false;
  return wordKind(text) == TokenKind::Identifier &&
         std::all_of(text.begin(), text.end(), isWordChar);
}

static std::vector<fs::path> filesIn(const fs::path &folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".ptl")
      files.push_back(at->path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<ImportableModule> importableModules(Workspace &workspace, const File &file) {
  std::vector<ImportableModule> modules;
  for (const fs::path &path : filesIn(workspace.options().stdPath))
    if (File *module = workspace.load(path.string()); module && module != &file)
      modules.push_back({module, "std." + path.stem().string()});
  fs::path folder = fs::path(file.path()).parent_path();
  for (const auto &[path, module] : workspace.files()) {
    bool isKnown = std::any_of(modules.begin(), modules.end(), [&](const ImportableModule &each) {
      return each.file == module.get();
    });
    if (isKnown || module.get() == &file || !path.ends_with(".ptl"))
      continue;
    std::string relative = fs::path(path).lexically_relative(folder).string();
    // A path that leaves the folder would break when the project moves, so it is not offered.
    if (relative.empty() || relative.starts_with(".."))
      continue;
    std::string stem = fs::path(path).stem().string();
    // A file beside this one whose name is a word needs no quotes.
    bool isPlain = isIdentifier(stem) && relative == stem + ".ptl";
    modules.push_back({module.get(), isPlain ? stem : "\"" + relative + "\""});
  }
  return modules;
}

ImportSites importSites(const File &file,
                        const std::function<bool(const Tree &, NodeId)> &isOfModule) {
  ImportSites sites;
  sites.first = firstDeclaration(*file.document.places().front().chunk->tree);
  for (const Place &place : file.document.places()) {
    if (!place.chunk->hasImports)
      continue;
    const Tree &tree = *place.chunk->tree;
    for (NodeId item : tree.children(tree.root())) {
      if (!tree.is(item, NodeKind::ImportDecl))
        continue;
      sites.last = place.begin + tree.span(item).end;
      if (ImportDeclView(tree, item).names() != kNoNode && isOfModule(tree, item))
        sites.names = sites.last;
    }
  }
  return sites;
}

static Edit insertion(const PlacedText &placed) { return {{placed.at, placed.at}, placed.text}; }

std::vector<Edit> importEdits(const File &file, const ImportNeeds &needs) {
  auto sitesFor = [&](const std::string &module) {
    return importSites(file, [&](const Tree &tree, NodeId item) {
      return tree.text(ImportDeclView(tree, item).path()) == module;
    });
  };
  std::vector<Edit> edits;
  for (const PlacedText &placed : importTexts(needs, sitesFor))
    edits.push_back(insertion(placed));
  return edits;
}

std::vector<Edit> ImportWay::edits(std::string_view name) const {
  // The module is imported as a whole, so its names are written behind it.
  if (!qualifier.empty())
    return {};
  return {insertion(importText(sites, path, std::string(name)))};
}

ImportWay importWay(Workspace &workspace, File &file, const ImportableModule &module) {
  ImportWay way;
  way.path = module.path;
  way.sites = importSites(file, [&](const Tree &tree, NodeId item) {
    return importedFile(workspace, file, tree, item) == module.file;
  });
  for (const auto &[name, import] : file.index.modules)
    if (import.module == &module.file->index)
      way.qualifier = name + ".";
  return way;
}

std::vector<std::string> importPaths(const Workspace &workspace, const File &file) {
  std::vector<std::string> paths;
  for (const fs::path &path : filesIn(workspace.options().stdPath))
    paths.push_back("std." + path.stem().string());
  for (const fs::path &path : filesIn(fs::path(file.path()).parent_path()))
    if (path != fs::path(file.path()) && isIdentifier(path.stem().string()))
      paths.push_back(path.stem().string());
  return paths;
}

std::vector<std::string> importFiles(const File &file) {
  constexpr int deepest = 3;
  constexpr size_t most = 500, mostVisited = 5000;
  size_t visited = 0;
  std::vector<std::string> paths;
  fs::path folder = fs::path(file.path()).parent_path();
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error),
      end;
  for (; !error && at != end && paths.size() < most && ++visited < mostVisited;
       at.increment(error)) {
    // Completion must answer at once, whatever folder the file lies in.
    if (at.depth() >= deepest || at->path().filename().string().starts_with('.'))
      at.disable_recursion_pending();
    if (at->path().extension() == ".ptl" && at->path() != fs::path(file.path()))
      paths.push_back(at->path().lexically_relative(folder).string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

} // namespace ptl::ide
