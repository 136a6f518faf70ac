#include "lsp/ide/rename.h"
#include "lsp/ide/symbol_at.h"

#include "frontend/parse/parse.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>
#include <map>

namespace ptl::ide {

// ---- What can be renamed ------------------------------------------------------------------------

static std::string inTicks(std::string_view text) { return "`" + std::string(text) + "`"; }

static bool isInLibrary(const Workspace &workspace, const File &file) {
  // The library is read-only for users.
  const std::string &library = workspace.options().stdPath;
  return !library.empty() && file.path().starts_with(library + "/");
}

static std::string whyFixed(const Workspace &workspace, const std::optional<Symbol> &symbol) {
  if (!symbol)
    return "there is no name here";
  if (symbol->name == "_")
    return "`_` marks an unused value and cannot be renamed";
  if (symbol->type == SymbolType::Module)
    return "a module has the name of its file: rename the file";
  if (!symbol->file)
    return inTicks(symbol->name) + " is a " + std::string(words(symbol->type)) + " of the language";
  if (isInLibrary(workspace, *symbol->file))
    return inTicks(symbol->name) + " is declared in the standard library";
  return "";
}

RenameRange prepareRename(Workspace &workspace, File &file, uint32_t offset) {
  auto symbol = symbolAt(workspace, file, offset);
  std::string error = whyFixed(workspace, symbol);
  if (!error.empty())
    return {{}, "", std::move(error)};
  return {symbol->range, symbol->name, ""};
}

// ---- What a new name would change ---------------------------------------------------------------

static std::string whyNoName(std::string_view name) {
  auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  bool isName = !name.empty() && isLetter(name[0]) &&
                std::all_of(name.begin(), name.end(),
                            [&](char c) { return isLetter(c) || (c >= '0' && c <= '9'); });
  if (!isName || name == "_")
    return inTicks(name) + " is not a name: letters, digits and `_`, a letter first";
  TokenKind kind = wordKind(name);
  if (kind == TokenKind::Identifier)
    return "";
  return inTicks(name) + (isElementType(kind) ? " is an element type" : " is a keyword");
}

namespace {

/// One renaming, with what it changes.
struct Renaming {
  Workspace &workspace;
  const Symbol &symbol;
  const std::string &name; ///< the new one
  std::vector<Mention> mentions;

  std::string clash() const;
  std::string clashInScopes() const;
  std::string clashInFile(File &file) const;
  std::string clashAmongParts() const;
  std::string clashOfLabels() const;
  std::string clashIn(const Place &place, std::vector<const Mention *> edited) const;
};

} // namespace

/// A declaration or import of the file that has the new name already, in a name space of the
/// symbol.
std::string Renaming::clashInFile(File &file) const {
  // Functions and structs are both called, so they share a name space.
  bool isCalled = isCallable(symbol.type) || symbol.type == SymbolType::Struct;
  bool isType = symbol.type == SymbolType::Struct || symbol.type == SymbolType::Alias;
  std::string where = &file == symbol.file ? "" : " in `" + file.index.name + "`";
  for (DeclSpace space :
       {DeclSpace::Callable, DeclSpace::Struct, DeclSpace::Alias, DeclSpace::Const}) {
    bool clashes = space == DeclSpace::Callable ? isCalled
                   : space == DeclSpace::Struct ? isCalled || isType
                   : space == DeclSpace::Alias  ? isType
                                                : symbol.type == SymbolType::Const;
    auto other = clashes ? findDeclared(workspace, file, space, name) : std::nullopt;
    if (other)
      return inTicks(name) + " is a " + std::string(words(other->type)) + where + " already";
  }
  // A constant and a module are both values.
  if (symbol.type == SymbolType::Const && file.index.modules.contains(name))
    return inTicks(name) + " is an imported module" + where;
  return "";
}

/// Parameters, dimensions, tunables and fields of one declaration share their names.
std::string Renaming::clashAmongParts() const {
  // Parts of one header are declared in one scope.
  const Tree &tree = symbol.tree();
  NodeId decl = enclosingDecl(tree, symbol.nameNode);
  for (const NameUse &use : namesOf(*symbol.chunk).uses) {
    if (use.access != Access::Declare || tree.text(use.node) != name ||
        enclosingDecl(tree, use.node) != decl)
      continue;
    NodeKind kind = tree.kind(declarationOf(tree, use.node));
    bool isHeader = kind == NodeKind::Param || kind == NodeKind::Result ||
                    kind == NodeKind::DimParam || kind == NodeKind::SampledDim ||
                    kind == NodeKind::TypeParam || kind == NodeKind::TuneParam;
    bool ownsHeader = symbol.type == SymbolType::Param || symbol.type == SymbolType::Output ||
                      symbol.type == SymbolType::Dimension || symbol.type == SymbolType::Tunable ||
                      symbol.type == SymbolType::TypeParam;
    if ((isHeader && ownsHeader) || (kind == NodeKind::Field && symbol.type == SymbolType::Field))
      return inTicks(name) + " is the name of another part of the same declaration";
  }
  return "";
}

/// A schedule needs labels that are unique.
std::string Renaming::clashOfLabels() const {
  // Labels must be unique only if a schedule names one of them.
  bool isScheduled = std::any_of(mentions.begin(), mentions.end(), [&](const Mention &mention) {
    const Place &place = mention.location.file->document.places()[mention.place];
    const NameUse *use = namesOf(*place.chunk).at(mention.location.range.begin - place.begin);
    return use && use->space == NameSpace::TargetLabel;
  });
  if (!isScheduled)
    return "";
  const Tree &tree = symbol.tree();
  NodeId decl = enclosingDecl(tree, symbol.nameNode);
  for (NodeId label : labelsOf(tree, decl))
    if (tree.text(label) == name)
      return inTicks(name) + " is another label of " + inTicks(tree.text(tree.child(decl, 0)));
  return "";
}

static ChunkNames renamedNames(const Chunk &chunk, std::vector<const Mention *> &edited,
                               uint32_t begin, const std::string &name, bool &isSameTree) {
  std::string text(chunk.file.text());
  // The edits are made from the end, so that positions stay valid.
  std::sort(edited.begin(), edited.end(), [](const Mention *a, const Mention *b) {
    return a->location.range.begin > b->location.range.begin;
  });
  for (const Mention *mention : edited) {
    Range range = mention->location.range;
    text.replace(range.begin - begin, range.end - range.begin, name);
  }
  // The text goes on behind the chunk: more of it would only be the next declaration.
  SourceFile file(chunk.id(), chunk.file.path(), std::move(text));
  DiagnosticSink ignored;
  Tree tree = parse(file, ignored);
  // The same number of nodes means that the text was read in the same way.
  isSameTree = tree.nodeCount() == chunk.tree->nodeCount();
  return namesOf(tree);
}

/// Reads a chunk again with the new name: each name must mean what it did.
std::string Renaming::clashIn(const Place &place, std::vector<const Mention *> edited) const {
  const Chunk &chunk = *place.chunk;
  bool isSameTree = true;
  const ChunkNames &before = namesOf(chunk);
  ChunkNames after = renamedNames(chunk, edited, place.begin, name, isSameTree);
  if (chunk.syntax.hasErrors() && !isSameTree)
    return ""; // broken text is not read the same way alone
  if (!isSameTree || before.uses.size() != after.uses.size())
    return inTicks(name) + " would be read as a word of the language";
  const Tree &tree = *chunk.tree;
  // Names are compared one by one: kind, place and target must stay the same.
  for (size_t i = 0; i < before.uses.size(); ++i) {
    const NameUse &old = before.uses[i], &now = after.uses[i];
    if (old.node == now.node && old.space == now.space && old.target == now.target)
      continue;
    uint32_t line = place.line + chunk.file.lineColumn(old.begin).line;
    return "line " + std::to_string(line) + ": " + inTicks(tree.text(old.node)) +
           " would have another meaning";
  }
  // The new name may hide another local, or be hidden by one.
  for (size_t i = 0; i < before.locals.size() && i < after.locals.size(); ++i) {
    const LocalName &old = before.locals[i], &now = after.locals[i];
    NodeId other = now.hides;
    if (old.hides == other || other == kNoNode)
      continue;
    NodeId hidden = now.name == symbol.nameNode ? other : now.name;
    uint32_t line = place.line + chunk.file.lineColumn(tree.span(hidden).begin).line;
    return inTicks(name) + " is declared in line " + std::to_string(line) + " already";
  }
  return "";
}

std::string Renaming::clashInScopes() const {
  // Each chunk is read again once, with all its edits.
  std::map<std::pair<const File *, size_t>, std::vector<const Mention *>> byPlace;
  for (const Mention &mention : mentions)
    byPlace[{mention.location.file, mention.place}].push_back(&mention);
  for (auto &[key, edited] : byPlace)
    if (std::string error = clashIn(key.first->document.places()[key.second], edited);
        !error.empty())
      return error;
  return "";
}

std::string Renaming::clash() const {
  if (isCallable(symbol.type) || symbol.type == SymbolType::Struct)
    // A declaration with the name of a built-in would capture its calls.
    if (!findOps(name).empty())
      return inTicks(name) + " is a built-in: its calls would then refer to this " +
             std::string(words(symbol.type));
  if (!isLocal(symbol.type) && symbol.type != SymbolType::Field) {
    std::vector<File *> files{symbol.file};
    for (const Mention &mention : mentions)
      if (File *file = workspace.find(mention.location.file->path());
          std::find(files.begin(), files.end(), file) == files.end())
        files.push_back(file);
    for (File *file : files)
      if (std::string error = clashInFile(*file); !error.empty())
        return error;
  }
  if (std::string error = clashAmongParts(); !error.empty())
    return error;
  if (std::string error = clashOfLabels(); !error.empty())
    return error;
  return clashInScopes();
}

Rename rename(Workspace &workspace, File &file, uint32_t offset, const std::string &newName,
              std::span<const std::string> paths) {
  auto symbol = symbolAt(workspace, file, offset);
  std::string error = whyFixed(workspace, symbol);
  if (error.empty())
    error = whyNoName(newName);
  if (!error.empty())
    return {{}, std::move(error)};
  if (newName == symbol->name)
    return {};
  Renaming renaming{workspace, *symbol, newName, mentions(workspace, *symbol, paths)};
  error = renaming.clash();
  if (!error.empty())
    return {{}, std::move(error)};
  Rename result;
  for (const Mention &mention : renaming.mentions)
    result.edits.push_back(mention.location);
  // A name in text that could not be parsed is no mention.
  bool hasOwn = std::any_of(result.edits.begin(), result.edits.end(), [&](const Location &edit) {
    return edit.file == &file && edit.range == symbol->range;
  });
  if (!hasOwn)
    result.edits.push_back({&file, symbol->range});
  return result;
}

} // namespace ptl::ide
