#include "lsp/ide/move_files.h"

#include "frontend/sema/declarations/check_module.h"
#include "frontend/syntax/typed_nodes.h"
#include "lsp/ide/module_exports.h"
#include "lsp/ide/symbol.h"

#include <filesystem>

namespace ptl::ide {

namespace fs = std::filesystem;

namespace {

/// The moves and what they change.
struct Moving {
  Workspace &workspace;
  std::span<const FileMove> moves;
  std::vector<std::pair<Location, std::string>> edits;

  std::string moved(const std::string &path) const;
  void importsOf(File &file);
  void import(File &file, const Place &place, NodeId item);
  std::string written(const File &file, const ImportRequest &request, const File &target,
                      bool asText) const;
  void usesOf(File &file, const File &module, const std::string &name);
};

} // namespace

/// The path that a file has afterwards.
std::string Moving::moved(const std::string &path) const {
  for (const FileMove &move : moves) {
    if (path == move.from)
      return move.to;
    if (path.starts_with(move.from) && path[move.from.size()] == '/')
      return move.to + path.substr(move.from.size());
  }
  return path;
}

/// `dir.layers`, or nothing when a part is no name or the first would mean the library.
static std::string asDottedPath(const fs::path &path) {
  fs::path stem = path;
  stem.replace_extension();
  std::string text;
  for (const fs::path &part : stem) {
    if (!isIdentifier(part.string()) || (text.empty() && part == "std"))
      return "";
    text += (text.empty() ? "" : ".") + part.string();
  }
  return text;
}

/// The path of an import of `target` as it has to be; empty where it stays as it is.
std::string Moving::written(const File &file, const ImportRequest &request, const File &target,
                            bool asText) const {
  std::string from = moved(file.path()), to = moved(target.path());
  // The folder that the import was found from.
  size_t found = 0;
  while (found < request.places.size() &&
         request.places[found].lexically_normal().string() != target.path())
    ++found;
  if (found == request.places.size())
    return "";
  fs::path ownFolder = fs::path(from).parent_path();
  fs::path base = found == 0 ? ownFolder : fs::path(workspace.options().importPaths[found - 1]);
  fs::path relative = fs::path(to).lexically_relative(base.lexically_normal());
  if (found > 0 && (relative.empty() || *relative.begin() == ".."))
    relative = fs::path(to).lexically_relative(ownFolder);
  std::string dotted = asText ? "" : asDottedPath(relative);
  return dotted.empty() ? "\"" + relative.string() + "\"" : dotted;
}

/// The names before the dots, where all of a module is imported.
void Moving::usesOf(File &file, const File &module, const std::string &name) {
  auto places = file.document.places();
  for (size_t i = 0; i < places.size(); ++i)
    for (const NameUse &use : namesOf(*places[i].chunk).uses) {
      std::string_view word = places[i].chunk->file.text().substr(use.begin, use.end - use.begin);
      if (word != module.index.name || use.space == NameSpace::ImportPath)
        continue;
      auto symbol = resolve(workspace, file, i, use);
      if (symbol && symbol->type == SymbolType::Module && symbol->file == &module)
        edits.push_back({{&file, symbol->range}, name});
    }
}

void Moving::import(File &file, const Place &place, NodeId item) {
  const Tree &tree = *place.chunk->tree;
  File *target = importedFile(workspace, file, tree, item);
  ImportRequest request = importRequest(tree, item, file.path(), workspace.options());
  bool isLibrary = target && target->path().starts_with(workspace.options().stdPath + "/");
  if (!target || target->isMissing || isLibrary)
    return;
  if (moved(target->path()) == target->path() && moved(file.path()) == file.path())
    return;
  NodeId path = ImportDeclView(tree, item).path();
  bool asText = tree.is(path, NodeKind::StringLiteral);
  std::string text = written(file, request, *target, asText);
  Range range{place.begin + request.span.begin, place.begin + request.span.end};
  if (!text.empty() && text != file.document.text(range))
    edits.push_back({{&file, range}, text});
  std::string stem = fs::path(moved(target->path())).stem().string();
  if (ImportDeclView(tree, item).names() == kNoNode && stem != target->index.name &&
      isIdentifier(stem))
    usesOf(file, *target, stem);
}

void Moving::importsOf(File &file) {
  for (const Place &place : file.document.places()) {
    const Tree &tree = *place.chunk->tree;
    if (!place.chunk->hasImports)
      continue;
    for (NodeId item : tree.children(tree.root()))
      if (tree.is(item, NodeKind::ImportDecl))
        import(file, place, item);
  }
}

std::vector<std::pair<Location, std::string>> editsForMoves(Workspace &workspace,
                                                            std::span<const FileMove> moves,
                                                            std::span<const std::string> paths) {
  for (const std::string &path : paths)
    workspace.load(path);
  std::vector<File *> files;
  for (const auto &[path, file] : workspace.files())
    if (!file->isMissing)
      files.push_back(file.get());
  Moving moving{workspace, moves, {}};
  for (File *file : files)
    moving.importsOf(*file);
  return std::move(moving.edits);
}

} // namespace ptl::ide
