#include "lsp/ide/actions/bindings.h"

#include <algorithm>

namespace ptl::ide {

Range rangeOf(Span span) { return {span.begin, span.end}; }

// ---- Bindings -----------------------------------------------------------------------------------

static BindingKind kindOf(const Tree &tree, NodeId declaration) {
  switch (tree.kind(declaration)) {
  case NodeKind::DimParam:
  case NodeKind::SampledDim:
    return BindingKind::Dimension;
  case NodeKind::TypeParam:
    return BindingKind::TypeParam;
  case NodeKind::Param:
    return BindingKind::Param;
  case NodeKind::Result:
    return BindingKind::Output;
  case NodeKind::TuneParam:
    return BindingKind::Tunable;
  case NodeKind::LetStmt:
    return BindingKind::Let;
  case NodeKind::VarStmt:
    return BindingKind::Var;
  case NodeKind::ConstDecl:
    return BindingKind::Const;
  case NodeKind::LoopBinding:
    return BindingKind::Loop;
  default:
    return BindingKind::Other;
  }
}

Bindings::Bindings(const Tree &tree, NodeId declaration) : tree_(tree), declaration_(declaration) {
  if (declaration == kNoNode)
    return;
  ChunkNames names = namesOf(tree);
  std::unordered_map<NodeId, size_t> ofName;
  Span whole = tree.span(declaration);
  for (const LocalName &local : names.locals) {
    Span span = tree.span(local.name);
    if (span.begin < whole.begin || span.end > whole.end)
      continue;
    ofName[local.name] = all_.size();
    all_.push_back({kindOf(tree, declarationOf(tree, local.name)),
                    tree.text(local.name),
                    local.name,
                    span,
                    {local.from, local.to}});
  }
  for (const NameUse &use : names.uses)
    if (auto found = ofName.find(use.target);
        use.space == NameSpace::Local && found != ofName.end())
      ofUse_[use.node] = found->second;
}

const Binding *Bindings::resolve(NodeId node) const {
  if (tree_.is(node, NodeKind::NamedType))
    node = tree_.child(tree_.child(node, 0), 0);
  auto found = ofUse_.find(node);
  return found == ofUse_.end() ? nullptr : &all_[found->second];
}

bool Bindings::mentions(std::string_view word, bool withCallees) const {
  if (declaration_ == kNoNode)
    return false;
  const Node &node = tree_.node(declaration_);
  for (TokenIndex i = node.firstToken; i < node.endToken; ++i) {
    bool isCallee = i + 1 < node.endToken && tree_.tokenKind(i + 1) == TokenKind::LParen;
    if (tree_.tokenText(i) == word && (withCallees || !isCallee))
      return true;
  }
  return false;
}

std::string Bindings::fresh(std::string name) const {
  if (wordKind(name) != TokenKind::Identifier)
    name += "_value";
  std::string candidate = name;
  for (int i = 2; mentions(candidate, false); ++i)
    candidate = name + std::to_string(i);
  return candidate;
}

// ---- Kinds of nodes -----------------------------------------------------------------------------

bool isExpression(NodeKind kind) {
  return (kind >= NodeKind::IntLiteral && kind <= NodeKind::ListExpr && kind != NodeKind::Arg &&
          kind != NodeKind::SliceIndex && kind != NodeKind::RestIndex &&
          kind != NodeKind::NewIndex) ||
         kind == NodeKind::If;
}

bool isStatement(NodeKind kind) {
  return (kind >= NodeKind::LetStmt && kind <= NodeKind::EventStmt &&
          kind != NodeKind::TuplePattern && kind != NodeKind::LoopBindings &&
          kind != NodeKind::LoopBinding && kind != NodeKind::Unroll) ||
         kind == NodeKind::ConstDecl;
}

bool isLiteral(NodeKind kind) {
  return kind == NodeKind::IntLiteral || kind == NodeKind::FloatLiteral ||
         kind == NodeKind::SizeLiteral || kind == NodeKind::BoolLiteral;
}

bool isConstant(const Tree &tree, NodeId node, const Bindings &bindings) {
  switch (tree.kind(node)) {
  case NodeKind::NameExpr: {
    // A value that no declaration around binds is a constant of the file or of an import.
    const Binding *binding = bindings.resolve(node);
    return !binding || binding->kind == BindingKind::Const;
  }
  case NodeKind::MemberExpr:
    return isConstant(tree, tree.child(node, 0), bindings);
  case NodeKind::ParenExpr:
  case NodeKind::UnaryExpr:
  case NodeKind::BinaryExpr:
    for (NodeId child : tree.children(node))
      if (!isConstant(tree, child, bindings))
        return false;
    return true;
  default:
    return isLiteral(tree.kind(node));
  }
}

bool isAtomic(NodeKind kind) {
  switch (kind) {
  case NodeKind::IntLiteral:
  case NodeKind::SizeLiteral:
  case NodeKind::FloatLiteral:
  case NodeKind::BoolLiteral:
  case NodeKind::StringLiteral:
  case NodeKind::NameExpr:
  case NodeKind::MemberExpr:
  case NodeKind::CallExpr:
  case NodeKind::IndexExpr:
  case NodeKind::ParenExpr:
  case NodeKind::TupleExpr:
  case NodeKind::ListExpr:
    return true;
  default:
    return false;
  }
}

bool isDelimited(const Tree &tree, NodeId node) {
  NodeId parent = tree.parent(node);
  if (parent == kNoNode)
    return true;
  switch (tree.kind(parent)) {
  case NodeKind::Arg:
  case NodeKind::ParenExpr:
  case NodeKind::TupleExpr:
  case NodeKind::ListExpr:
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
  case NodeKind::AssignStmt:
  case NodeKind::AtomicStmt:
  case NodeKind::ReturnStmt:
  case NodeKind::ExprStmt:
  case NodeKind::AssertStmt:
  case NodeKind::PrintStmt:
  case NodeKind::Shape:
    return true;
  case NodeKind::IndexExpr:
    return tree.child(parent, 0) != node;
  default:
    return false;
  }
}

// ---- Finding nodes ------------------------------------------------------------------------------

std::vector<NodeId> usesIn(const Tree &tree, NodeId node) {
  std::vector<NodeId> uses;
  forEachNode(tree, node, [&](NodeId n) {
    if (tree.is(n, NodeKind::NameExpr) || tree.is(n, NodeKind::NamedType))
      uses.push_back(n);
  });
  return uses;
}

NodeId statementAround(const Tree &tree, NodeId node) {
  return enclosing(tree, node, [&](NodeId n) { return tree.is(tree.parent(n), NodeKind::Block); });
}

NodeId expressionAt(const Tree &tree, Range range) {
  NodeId node = tree.root();
  while (node != kNoNode) {
    if (rangeOf(tree.span(node)) == range && isExpression(tree.kind(node)))
      return node;
    NodeId next = kNoNode;
    for (NodeId child : tree.children(node)) {
      if (child == kNoNode)
        continue;
      Span span = tree.span(child);
      if (span.begin <= range.begin && range.end <= span.end && span.begin < span.end)
        next = child;
    }
    node = next;
  }
  return kNoNode;
}

Range trimmed(std::string_view text, Range range) {
  auto isSpace = [&](uint32_t i) { return std::string_view(" \t\r\n").find(text[i]) != text.npos; };
  range.end = std::min<uint32_t>(range.end, static_cast<uint32_t>(text.size()));
  while (range.begin < range.end && isSpace(range.begin))
    ++range.begin;
  while (range.begin < range.end && isSpace(range.end - 1))
    --range.end;
  return range;
}

uint32_t lineStart(std::string_view text, uint32_t offset) {
  size_t end = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
  return end == text.npos ? 0 : static_cast<uint32_t>(end + 1);
}

std::string_view indentAt(std::string_view text, uint32_t offset) {
  uint32_t begin = lineStart(text, offset);
  size_t end = text.find_first_not_of(" \t", begin);
  return text.substr(begin, std::min(end, text.size()) - begin);
}

uint32_t startWithDocs(const Tree &tree, NodeId declaration) {
  TokenIndex first = tree.node(declaration).firstToken;
  uint32_t begin = tree.token(first).begin;
  auto trivia = tree.triviaBefore(first);
  unsigned lineEnds = 0;
  for (size_t i = trivia.size(); i-- > 0;) {
    if (trivia[i].kind == TriviaKind::Newline && ++lineEnds > 1)
      break;
    bool isComment = trivia[i].kind >= TriviaKind::LineComment;
    bool isOwnLine = tree.fileText()
                         .substr(lineStart(tree.fileText(), trivia[i].begin),
                                 trivia[i].begin - lineStart(tree.fileText(), trivia[i].begin))
                         .find_first_not_of(" \t") == std::string_view::npos;
    if (isComment && !isOwnLine)
      break;
    if (isComment) {
      begin = trivia[i].begin;
      lineEnds = 0;
    }
  }
  return begin;
}

} // namespace ptl::ide
