#include "lsp/ide/navigation.h"
#include "lsp/ide/symbol_at.h"

#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ptl::ide {

// ---- Definitions --------------------------------------------------------------------------------

static std::optional<Link> linkTo(const Symbol &from, const Symbol &to) {
  if (!to.definition)
    return std::nullopt;
  return Link{from.range, to.definition, to.whole};
}

std::optional<Link> definition(Workspace &workspace, File &file, uint32_t offset) {
  auto symbol = symbolAt(workspace, file, offset);
  return symbol ? linkTo(*symbol, *symbol) : std::nullopt;
}

/// The type that is written in a declaration; `kNoNode` if none is.
static NodeId writtenType(const Tree &tree, NodeId decl) {
  switch (tree.kind(decl)) {
  case NodeKind::Param:
  case NodeKind::Result:
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
  case NodeKind::ConstDecl:
  case NodeKind::Field:
    return tree.child(decl, 1);
  case NodeKind::PipeStmt:
  case NodeKind::BufferStmt:
    return tree.child(decl, 2);
  default:
    return kNoNode;
  }
}

/// The declaration that a type names: a struct, alias or type parameter.
static std::optional<Symbol> namedType(Workspace &workspace, File &file, size_t place,
                                       NodeId type) {
  const Chunk &chunk = *file.document.places()[place].chunk;
  const Tree &tree = *chunk.tree;
  if (tree.is(type, NodeKind::ArrayType))
    type = ArrayTypeView(tree, type).base();
  if (!tree.is(type, NodeKind::NamedType))
    return std::nullopt;
  NodeId path = NamedTypeView(tree, type).path();
  if (!tree.is(path, NodeKind::Path))
    return std::nullopt;
  const NameUse *use = namesOf(chunk).at(tree.span(tree.children(path).back()).end);
  auto found = use ? resolve(workspace, file, place, *use) : std::nullopt;
  return found && found->chunk ? found : std::nullopt;
}

static bool isTypeName(SymbolType type) {
  return type == SymbolType::Struct || type == SymbolType::Alias || type == SymbolType::TypeParam;
}

std::optional<Link> typeDefinition(Workspace &workspace, File &file, uint32_t offset) {
  auto symbol = symbolAt(workspace, file, offset);
  if (!symbol)
    return std::nullopt;
  if (isTypeName(symbol->type))
    return linkTo(*symbol, *symbol);
  if (symbol->chunk) {
    NodeId type = writtenType(symbol->tree(), symbol->declNode);
    size_t place = symbol->file->document.placeAt(symbol->definition.range.begin);
    if (type != kNoNode)
      if (auto found = namedType(workspace, *symbol->file, place, type))
        return linkTo(*symbol, *found);
  }
  const Type *type = symbol->valueType;
  if (type && type->elem.param && type->kind != TypeKind::Struct)
    if (auto found = declaredAt(workspace, type->elem.param->span))
      return linkTo(*symbol, *found);
  if (!type || type->kind != TypeKind::Struct)
    return std::nullopt;
  auto found = declaredAt(workspace, type->structDecl->nameSpan);
  return found ? linkTo(*symbol, *found) : std::nullopt;
}

// ---- Everything that means the same -------------------------------------------------------------

/// Whether a name can mean only what its own chunk declares.
static bool isOfOwnChunk(const NameUse &use) {
  return use.space == NameSpace::Local || use.space == NameSpace::Label ||
         use.space == NameSpace::Declared || use.space == NameSpace::FieldDecl;
}

static void findInPlace(Workspace &workspace, File &file, size_t index, const Symbol &symbol,
                        std::vector<Mention> &found) {
  const Place &place = file.document.places()[index];
  std::string_view text = place.chunk->file.text();
  // `.T` is written `T`.
  std::string_view name = symbol.name;
  if (name.size() > 1 && name.starts_with('.'))
    name.remove_prefix(1);
  bool isHome = symbol.chunk && symbol.chunk->id() == place.chunk->id();
  for (const NameUse &use : namesOf(*place.chunk).uses) {
    std::string_view word = text.substr(use.begin, use.end - use.begin);
    bool isImport = use.space == NameSpace::ImportPath && symbol.type == SymbolType::Module;
    if (word != name && !isImport)
      continue;
    if (isOfOwnChunk(use) && !isHome)
      continue;
    auto other = resolve(workspace, file, index, use);
    if (other && isSame(*other, symbol))
      found.push_back({{&file, other->range}, use.access, index, use.node});
  }
}

/// Whether no other declaration can name such a symbol.
static bool isPrivate(SymbolType type) {
  switch (type) {
  case SymbolType::Output:
  case SymbolType::LocalConst:
  case SymbolType::Buffer:
  case SymbolType::Event:
  case SymbolType::Pipe:
    return true;
  default:
    return false;
  }
}

static void findInFile(Workspace &workspace, File &file, const Symbol &symbol,
                       std::vector<Mention> &found) {
  for (size_t i = 0; i < file.document.places().size(); ++i)
    findInPlace(workspace, file, i, symbol, found);
}

std::vector<Mention> highlights(Workspace &workspace, File &file, uint32_t offset) {
  std::vector<Mention> found;
  auto symbol = symbolAt(workspace, file, offset);
  if (!symbol || symbol->type == SymbolType::Keyword)
    return found;
  if (isPrivate(symbol->type) || symbol->type == SymbolType::BuiltIn)
    findInPlace(workspace, file, symbol->place, *symbol, found);
  else
    findInFile(workspace, file, *symbol, found);
  return found;
}

/// Loads the file at a path if it contains the name.
static void loadIfNamed(Workspace &workspace, const std::string &path, std::string_view name) {
  if (workspace.find(path))
    return;
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream && std::move(text).str().find(name) != std::string::npos)
    workspace.load(path);
}

std::vector<Mention> mentions(Workspace &workspace, const Symbol &symbol,
                              std::span<const std::string> paths) {
  std::vector<Mention> found;
  if (symbol.chunk && isPrivate(symbol.type)) {
    findInPlace(workspace, *symbol.file,
                symbol.file->document.placeAt(symbol.definition.range.begin), symbol, found);
    return found;
  }
  for (const std::string &path : paths)
    loadIfNamed(workspace, path, symbol.name);
  std::vector<File *> files;
  for (const auto &[path, file] : workspace.files())
    files.push_back(file.get());
  for (File *file : files)
    findInFile(workspace, *file, symbol, found);
  return found;
}

// ---- Imports ------------------------------------------------------------------------------------

std::vector<ImportLink> importLinks(Workspace &workspace, File &file) {
  std::vector<ImportLink> links;
  for (const Place &place : file.document.places()) {
    const Tree &tree = *place.chunk->tree;
    if (!place.chunk->hasImports)
      continue;
    for (NodeId item : tree.children(tree.root())) {
      if (!tree.is(item, NodeKind::ImportDecl))
        continue;
      Span span = tree.span(ImportDeclView(tree, item).path());
      if (File *imported = importedFile(workspace, file, tree, item))
        links.push_back({{place.begin + span.begin, place.begin + span.end}, imported->path()});
    }
  }
  return links;
}

// ---- Linked editing -----------------------------------------------------------------------------

std::vector<Range> linkedRanges(Workspace &workspace, File &file, uint32_t offset) {
  size_t index = file.document.placeAt(offset);
  const Place &place = file.document.places()[index];
  const ChunkNames &names = namesOf(*place.chunk);
  const NameUse *use = names.at(offset - place.begin);
  if (!use || use->access != Access::Declare || use->space != NameSpace::Local)
    return {};
  auto symbol = resolve(workspace, file, index, *use);
  if (!symbol)
    return {};
  std::vector<Mention> all;
  findInFile(workspace, file, *symbol, all);
  std::vector<Range> ranges;
  for (const Mention &mention : all) {
    // Linked editing changes one chunk as it is typed, so all uses of the name have to be in it.
    if (mention.place != index)
      return {};
    ranges.push_back(mention.location.range);
  }
  return ranges.size() > 1 ? ranges : std::vector<Range>();
}

} // namespace ptl::ide
