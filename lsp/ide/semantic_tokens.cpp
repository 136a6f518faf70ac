#include "lsp/ide/semantic_tokens.h"

#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"
#include "lsp/ide/names.h"
#include "lsp/ide/words.h"

namespace ptl::ide {

#define X(NAME, TEXT) TEXT,
std::string_view name(TokenType type) {
  constexpr std::string_view names[] = {PTL_TOKEN_TYPES(X, X)};
  return names[static_cast<size_t>(type)];
}

std::string_view name(TokenModifier modifier) {
  constexpr std::string_view names[] = {PTL_TOKEN_MODIFIERS(X, X)};
  return names[static_cast<size_t>(modifier)];
}
#undef X

namespace {

constexpr uint32_t bit(TokenModifier modifier) { return 1u << static_cast<unsigned>(modifier); }
constexpr uint32_t kDeclaration = bit(TokenModifier::Declaration);
constexpr uint32_t kReadonly = bit(TokenModifier::Readonly);
constexpr uint32_t kIsStatic = bit(TokenModifier::Static);
constexpr uint32_t kModification = bit(TokenModifier::Modification);
constexpr uint32_t kDefaultLibrary = bit(TokenModifier::DefaultLibrary);
constexpr uint32_t kIsMutable = bit(TokenModifier::Mutable);

struct Look {
  TokenType type = TokenType::Variable;
  uint32_t modifiers = 0;
};

/// How the names of one chunk look.
class Classifier {
public:
  Classifier(const ModuleIndex &index, const Tree &tree) : index_(index), tree_(tree) {}

  Look lookOf(const NameUse &use) const;

private:
  Look ofLocal(NodeId name) const;
  Look ofDeclaration(NodeId node) const;
  Look ofSpace(DeclSpace space) const;
  Look ofExport(const ModuleIndex *module, std::string_view name) const;
  Look ofValue(std::string_view name) const;
  Look ofCallee(std::string_view name) const;
  Look ofType(std::string_view name) const;
  Look ofMember(const NameUse &use) const;
  Look ofQualified(const NameUse &use) const;
  Look ofWord(const NameUse &use) const;
  const ModuleIndex *module(std::string_view name) const;

  const ModuleIndex &index_;
  const Tree &tree_;
};

Look Classifier::ofLocal(NodeId name) const {
  NodeId declared = declarationOf(tree_, name);
  switch (tree_.kind(declared)) {
  case NodeKind::Param:
    return {TokenType::Parameter, tree_.has(declared, NodeFlag::Inout) ? kIsMutable : kReadonly};
  case NodeKind::Result:
    return {TokenType::Parameter, kIsMutable};
  case NodeKind::DimParam:
    return {TokenType::Dimension,
            kReadonly | (tree_.has(declared, NodeFlag::Static) ? kIsStatic : 0u)};
  case NodeKind::SampledDim:
    return {TokenType::Dimension, kReadonly};
  case NodeKind::TypeParam:
    return {TokenType::TypeParameter, 0};
  case NodeKind::TuneParam:
    return {TokenType::Tunable, kReadonly | kIsStatic};
  case NodeKind::VarStmt:
    return {TokenType::Variable, kIsMutable};
  case NodeKind::ConstDecl:
    return {TokenType::Variable, kReadonly | kIsStatic};
  case NodeKind::EventStmt:
    return {TokenType::Event, 0};
  case NodeKind::BufferStmt:
  case NodeKind::PipeStmt:
    return {TokenType::Variable, kIsMutable};
  default:
    return {TokenType::Variable, kReadonly};
  }
}

Look Classifier::ofDeclaration(NodeId node) const {
  DeclSpace space;
  return isNamed(tree_, node, space) ? ofSpace(space) : Look();
}

Look Classifier::ofSpace(DeclSpace space) const {
  switch (space) {
  case DeclSpace::Callable:
    return {TokenType::Function, 0};
  case DeclSpace::Struct:
    return {TokenType::Struct, 0};
  case DeclSpace::Alias:
    return {TokenType::Type, 0};
  case DeclSpace::Const:
    return {TokenType::Variable, kReadonly | kIsStatic};
  }
  return {};
}

const ModuleIndex *Classifier::module(std::string_view name) const {
  auto found = index_.modules.find(name);
  return found == index_.modules.end() ? nullptr : found->second.module;
}

Look Classifier::ofExport(const ModuleIndex *module, std::string_view name) const {
  if (module)
    for (size_t i = 0; i < kDeclSpaces; ++i)
      if (module->find(static_cast<DeclSpace>(i), name))
        return ofSpace(static_cast<DeclSpace>(i));
  return {TokenType::Function, 0};
}

Look Classifier::ofValue(std::string_view name) const {
  if (module(name))
    return {TokenType::Namespace, 0};
  auto imported = index_.names.find(name);
  if (imported != index_.names.end())
    return ofExport(imported->second.module, name);
  return index_.find(DeclSpace::Const, name) ? ofSpace(DeclSpace::Const)
                                             : Look{TokenType::Variable, 0};
}

Look Classifier::ofCallee(std::string_view name) const {
  if (index_.find(DeclSpace::Callable, name))
    return {TokenType::Function, 0};
  if (index_.find(DeclSpace::Struct, name))
    return {TokenType::Struct, 0};
  auto imported = index_.names.find(name);
  if (imported != index_.names.end())
    return ofExport(imported->second.module, name);
  bool isBuiltIn = name == "tiles" || !findOps(name).empty();
  return {TokenType::Function, isBuiltIn ? kDefaultLibrary : 0};
}

Look Classifier::ofType(std::string_view name) const {
  auto imported = index_.names.find(name);
  if (imported != index_.names.end())
    return ofExport(imported->second.module, name);
  return index_.find(DeclSpace::Struct, name) ? Look{TokenType::Struct, 0}
                                              : Look{TokenType::Type, 0};
}

Look Classifier::ofMember(const NameUse &use) const {
  NodeId base = tree_.child(use.target, 0);
  if (tree_.is(base, NodeKind::NameExpr))
    if (const ModuleIndex *imported = module(tree_.text(base)))
      return ofExport(imported, tree_.text(use.node));
  return {TokenType::Property, 0};
}

Look Classifier::ofQualified(const NameUse &use) const {
  auto names = tree_.children(use.target);
  return ofExport(module(tree_.text(names[0])), tree_.text(use.node));
}

Look Classifier::ofWord(const NameUse &use) const {
  NodeId parent = tree_.parent(use.node);
  switch (tree_.kind(parent)) {
  case NodeKind::Place:
    return {TokenType::Place, 0};
  case NodeKind::OnStmt:
    return tree_.child(parent, 0) == use.node ? Look{TokenType::EnumMember, kDefaultLibrary}
                                              : Look{TokenType::Keyword, 0};
  case NodeKind::TypeParam:
    return {TokenType::Type, kDefaultLibrary};
  default:
    return {TokenType::EnumMember, kDefaultLibrary};
  }
}

Look Classifier::lookOf(const NameUse &use) const {
  std::string_view text = tree_.text(use.node);
  switch (use.space) {
  case NameSpace::Local:
    return ofLocal(use.target);
  case NameSpace::Label:
  case NameSpace::TargetLabel:
    return {TokenType::Label, 0};
  case NameSpace::Declared:
    return ofDeclaration(use.target);
  case NameSpace::FieldDecl:
    return {TokenType::Property, 0};
  case NameSpace::Value:
    return ofValue(text);
  case NameSpace::Callee:
    return ofCallee(text);
  case NameSpace::Type:
    return ofType(text);
  case NameSpace::Member:
    return ofMember(use);
  case NameSpace::Qualified:
    return ofQualified(use);
  case NameSpace::Argument:
    return {TokenType::Parameter, 0};
  case NameSpace::ImportPath:
    return {TokenType::Namespace, 0};
  case NameSpace::ImportedName:
    return ofValue(text);
  case NameSpace::Target:
    return {TokenType::Function, 0};
  case NameSpace::TargetTune:
    return {TokenType::Tunable, kReadonly | kIsStatic};
  case NameSpace::TargetDim:
    return {TokenType::Dimension, kReadonly};
  case NameSpace::Tag:
    return {TokenType::EnumMember, kDefaultLibrary};
  case NameSpace::Word:
    return ofWord(use);
  }
  return {};
}

/// Goes through the tokens of a chunk with its names beside.
std::vector<SemanticToken> tokensOf(const ModuleIndex &index, const Chunk &chunk) {
  const Tree &tree = *chunk.tree;
  Classifier classifier(index, tree);
  const std::vector<NameUse> &uses = namesOf(chunk).uses;
  std::vector<SemanticToken> found;
  size_t next = 0;
  uint32_t line = 0, lines = chunk.file.lineCount();
  // Tokens, names and lines ascend, so one pass over all three is enough.
  for (const Token &token : tree.tokens()) {
    while (next < uses.size() && uses[next].end <= token.begin)
      ++next;
    while (line + 1 < lines && chunk.file.lineStart(line + 2) <= token.begin)
      ++line;
    if (token.kind == TokenKind::StringLiteral || token.begin == token.end)
      continue;
    bool isWord = token.kind == TokenKind::Identifier;
    if (next < uses.size() && uses[next].begin <= token.begin && isWord) {
      const NameUse &use = uses[next];
      Look look = classifier.lookOf(use);
      if (use.access == Access::Declare)
        look.modifiers |= kDeclaration;
      if (use.access == Access::Write)
        look.modifiers |= kModification;
      found.push_back({line, token.begin, token.end, look.type, look.modifiers});
    } else if (isElementType(token.kind)) {
      found.push_back({line, token.begin, token.end, TokenType::Type, kDefaultLibrary});
    } else if (isKeyword(token.kind) ||
               (isWord && findWord(tree.fileText().substr(token.begin, token.end - token.begin)))) {
      found.push_back({line, token.begin, token.end, TokenType::Keyword, 0});
    }
  }
  return found;
}

/// A hash of a set of names, which does not depend on their order.
struct NamesHash {
  uint64_t sum = 0;
  void add(std::string_view name, uint64_t kind) {
    sum += (std::hash<std::string_view>()(name) + kind) * 0x9E3779B97F4A7C15u;
  }
  void addDeclared(const ModuleIndex &module, uint64_t kind) {
    for (size_t space = 0; space < kDeclSpaces; ++space)
      for (const auto &[name, site] : module.spaces[space])
        add(name, kind + space);
  }
};

} // namespace

std::vector<SemanticToken> semanticTokens(const File &file, const Chunk &chunk) {
  return tokensOf(file.index, chunk);
}

uint64_t meaningOfNames(File &file) {
  if (!file.namesChanged)
    return file.namesHash;
  NamesHash hash;
  hash.addDeclared(file.index, 1);
  for (const auto *imports : {&file.index.modules, &file.index.names})
    for (const auto &[name, import] : *imports)
      hash.add(name, reinterpret_cast<uintptr_t>(import.module));
  for (const File *imported : file.imports)
    hash.addDeclared(imported->index, reinterpret_cast<uintptr_t>(imported));
  file.namesChanged = false;
  return file.namesHash = hash.sum;
}

} // namespace ptl::ide
