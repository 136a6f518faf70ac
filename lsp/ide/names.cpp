#include "lsp/ide/names.h"
#include "frontend/syntax/kinds.h"

#include "frontend/syntax/typed_nodes.h"
#include "ir/ops/op_table.h"

#include <algorithm>
#include <unordered_map>

namespace ptl::ide {
namespace {

/// One walk over a tree, with the locals that are visible on the way.
class Walk {
public:
  Walk(const Tree &tree, ChunkNames &names) : tree_(tree), names_(names) {}

  void visit(NodeId node);

private:
  struct Scope {
    Walk &walk;
    size_t start;
    explicit Scope(Walk &walk) : walk(walk), start(walk.bound_.size()) {}
    ~Scope() { walk.leave(start); }
  };

  void leave(size_t start);
  void add(NodeId node, NameSpace space, NodeId target, Access access = Access::Read);
  NodeId find(std::string_view name) const;
  void bind(NodeId name);
  void bindPattern(NodeId pattern);
  void label(NodeId name);
  void visitAll(std::span<const NodeId> nodes);
  void name(NodeId node, NameSpace space);
  void path(NodeId path, NameSpace space);
  void callable(NodeId node);
  void typed(NodeId node);
  void result(NodeId node);
  void loop(NodeId node);
  void call(NodeId node);
  void write(NodeId place);
  void schedule(NodeId node);
  void scheduleItem(NodeId node);
  void import(NodeId node);
  void visitDeclaration(NodeId node);
  bool visitStatement(NodeId node);
  void visitExpression(NodeId node);

  const Tree &tree_;
  ChunkNames &names_;
  std::unordered_map<std::string_view, std::vector<NodeId>> visible_;
  std::vector<std::string_view> bound_;
  NodeId schedule_ = kNoNode;
};

void Walk::leave(size_t start) {
  // The innermost binding of each name goes, so that the one it hid is visible again.
  for (; bound_.size() > start; bound_.pop_back())
    visible_[bound_.back()].pop_back();
}

void Walk::add(NodeId node, NameSpace space, NodeId target, Access access) {
  if (node == kNoNode || tree_.text(node).empty())
    return;
  Span span = tree_.span(node);
  // Names in a schedule resolve in its target, so each use notes the schedule around it.
  names_.uses.push_back({span.begin, span.end, node, space, access, target, schedule_});
}

NodeId Walk::find(std::string_view name) const {
  auto found = visible_.find(name);
  return found == visible_.end() || found->second.empty() ? kNoNode : found->second.back();
}

/// Where a local is visible: from its statement on to the end of the block, loop or declaration
/// around it. What a header declares is visible in all of the declaration.
static void findExtent(const Tree &tree, LocalName &local) {
  auto size = static_cast<uint32_t>(tree.fileText().size());
  NodeId declaration = declarationOf(tree, local.name);
  // A name is visible behind its own statement: `let x = x + 1` reads the outer `x`.
  local.from = tree.span(declaration).end;
  local.to = size;
  for (NodeId node = tree.parent(declaration); node != kNoNode; node = tree.parent(node)) {
    NodeKind kind = tree.kind(node);
    bool isLoop = kind == NodeKind::ForStmt || kind == NodeKind::ParallelStmt;
    if (kind == NodeKind::Block || isLoop || isDeclaration(kind)) {
      // A scope that is still being written reaches as far as the text.
      TokenIndex end = tree.node(node).endToken;
      bool isClosed = end > 0 && tree.tokenKind(end - 1) == TokenKind::RBrace;
      local.to = isClosed || kind == NodeKind::TypeDecl ? tree.span(node).end : size;
      // What a header declares is visible from the end of its name.
      if (isDeclaration(kind))
        local.from = std::min(local.from, tree.span(tree.child(node, 0)).end);
      return;
    }
  }
}

void Walk::bind(NodeId name) {
  if (!tree_.is(name, NodeKind::Name) || tree_.text(name).empty())
    return;
  // A `_` is recorded as a declaration, but nothing can refer to it.
  add(name, NameSpace::Local, name, Access::Declare);
  std::string_view text = tree_.text(name);
  if (text == "_")
    return;
  // The outer local of the same name is noted for renaming, which must not change what is meant.
  LocalName local{name, 0, 0, find(text)};
  findExtent(tree_, local);
  names_.locals.push_back(local);
  visible_[text].push_back(name);
  bound_.push_back(text);
}

void Walk::bindPattern(NodeId pattern) {
  if (tree_.is(pattern, NodeKind::Name))
    bind(pattern);
  else if (pattern != kNoNode)
    for (NodeId element : tree_.children(pattern))
      if (element != kNoNode)
        bindPattern(element);
}

void Walk::label(NodeId name) {
  if (tree_.is(name, NodeKind::Name))
    add(name, NameSpace::Label, name, Access::Declare);
}

void Walk::visitAll(std::span<const NodeId> nodes) {
  for (NodeId node : nodes)
    visit(node);
}

void Walk::name(NodeId node, NameSpace space) {
  NodeId local = find(tree_.text(node));
  bool isTypeParam = local != kNoNode && tree_.is(tree_.parent(local), NodeKind::TypeParam);
  // Callables and types are not looked for among values.
  if (local != kNoNode && (space == NameSpace::Value || isTypeParam))
    add(node, NameSpace::Local, local);
  else
    add(node, space, kNoNode);
}

/// `Mlp`, `nn.Mlp`; the first name of several is a module.
void Walk::path(NodeId path, NameSpace space) {
  auto names = tree_.children(path);
  if (!tree_.is(path, NodeKind::Path))
    return visit(path);
  if (names.size() == 1)
    return name(names[0], space);
  for (size_t i = 0; i < names.size(); ++i)
    if (i == 0)
      name(names[i], NameSpace::Value);
    else
      add(names[i], NameSpace::Qualified, path);
}

// ---- Declarations -------------------------------------------------------------------------------

void Walk::typed(NodeId node) {
  ParamView view(tree_, node); // `Result` has the same slots
  // A parameter is not yet bound while its own type is visited.
  visit(view.type());
  visit(view.value());
}

void Walk::callable(NodeId node) {
  CallableView view(tree_, node);
  add(view.name(), NameSpace::Declared, node, Access::Declare);
  // Parameters and tunables end with the declaration.
  Scope scope(*this);
  visit(view.generics());
  std::span<const NodeId> params, results;
  if (tree_.is(view.params(), NodeKind::ParamList))
    params = tree_.children(view.params());
  if (view.results() != kNoNode)
    results = tree_.children(view.results());
  // Tunables come last but `where` speaks of them.
  visit(view.tune());
  for (NodeId param : params) {
    if (!tree_.is(param, NodeKind::Param)) {
      visit(param);
      continue;
    }
    typed(param);
    bind(tree_.child(param, 0));
  }
  for (NodeId result : results) {
    typed(result);
    if (tree_.child(result, 0) != kNoNode)
      bind(tree_.child(result, 0));
  }
  visit(view.clause());
  visit(view.where());
  visit(view.sources());
  visit(view.body());
}

void Walk::import(NodeId node) {
  ImportDeclView view(tree_, node);
  if (view.path() != kNoNode && !tree_.is(view.path(), NodeKind::Error))
    add(view.path(), NameSpace::ImportPath, node);
  if (view.names() != kNoNode)
    for (NodeId name : tree_.children(view.names()))
      add(name, NameSpace::ImportedName, node);
}

void Walk::schedule(NodeId node) {
  ScheduleDeclView view(tree_, node);
  schedule_ = node;
  if (tree_.is(view.callee(), NodeKind::Path)) {
    auto names = tree_.children(view.callee());
    for (size_t i = 0; i < names.size(); ++i)
      // The last name is the target; a name before it is a module.
      add(names[i], i + 1 == names.size() ? NameSpace::Target : NameSpace::Value, node);
  }
  add(view.target(), NameSpace::Word, kNoNode);
  visit(view.when());
  for (NodeId item : view.items())
    scheduleItem(item);
  schedule_ = kNoNode;
}

void Walk::scheduleItem(NodeId node) {
  if (node == kNoNode)
    return;
  auto children = tree_.children(node);
  auto first = children.empty() ? kNoNode : children[0];
  auto addFirst = [&](NameSpace space, Access access = Access::Read) {
    if (tree_.is(first, NodeKind::Name))
      add(first, space, schedule_, access);
    // The rest may hold nested items, such as the parts of a block for one label.
    for (size_t i = 1; i < children.size(); ++i)
      scheduleItem(children[i]);
  };
  switch (tree_.kind(node)) {
  case NodeKind::ScheduleAssign:
    return addFirst(NameSpace::TargetTune, Access::Write);
  case NodeKind::TileBy:
    return addFirst(NameSpace::TargetDim);
  case NodeKind::ScheduleBlock:
  case NodeKind::SplitItem:
  case NodeKind::PipelineItem:
  case NodeKind::UnrollItem:
    return addFirst(NameSpace::TargetLabel);
  case NodeKind::FuseItem:
  case NodeKind::OrderItem:
    for (NodeId name : children)
      if (tree_.is(name, NodeKind::Name))
        add(name, NameSpace::TargetLabel, schedule_);
    return;
  case NodeKind::TileItem:
    for (NodeId axis : children)
      scheduleItem(axis);
    return;
  default:
    visit(node);
  }
}

void Walk::visitDeclaration(NodeId node) {
  NodeId name = tree_.child(node, 0);
  switch (tree_.kind(node)) {
  case NodeKind::FnDecl:
  case NodeKind::KernelDecl:
  case NodeKind::ProgramDecl:
    return callable(node);
  case NodeKind::ImportDecl:
    return import(node);
  case NodeKind::ScheduleDecl:
    return schedule(node);
  case NodeKind::ConstDecl: {
    // The value comes first: a constant cannot refer to itself.
    visitAll(tree_.children(node).subspan(1));
    bool isLocal = tree_.parent(node) != tree_.root();
    // A constant inside a body is a local, one of the file is a declaration.
    return isLocal ? bind(name) : add(name, NameSpace::Declared, node, Access::Declare);
  }
  case NodeKind::StructDecl:
  case NodeKind::TypeDecl: {
    add(name, NameSpace::Declared, node, Access::Declare);
    Scope scope(*this);
    return visitAll(tree_.children(node).subspan(1));
  }
  default: { // tests, benches, properties
    Scope scope(*this);
    return visitAll(tree_.children(node));
  }
  }
}

// ---- Statements ---------------------------------------------------------------------------------

void Walk::loop(NodeId node) {
  LoopView view(tree_, node);
  visit(view.pipeline());
  visit(view.unroll());
  visit(view.checkpoint());
  // Modifiers stand outside the scope of the variables.
  Scope scope(*this);
  if (view.bindings() != kNoNode)
    for (NodeId binding : tree_.children(view.bindings())) {
      if (!tree_.is(binding, NodeKind::LoopBinding)) {
        visit(binding);
        continue;
      }
      // The domain is visited before the variable is bound, but later domains see it.
      visit(LoopBindingView(tree_, binding).domain());
      bindPattern(LoopBindingView(tree_, binding).pattern());
    }
  label(view.label());
  visit(view.body());
}

/// The value at the root of `y[r, :]` or `w.up[0]` is written, the rest is read.
void Walk::write(NodeId place) {
  size_t from = names_.uses.size();
  visit(place);
  // The root is what is left of indices, members and parentheses.
  NodeId root = place;
  while (tree_.is(root, NodeKind::IndexExpr) || tree_.is(root, NodeKind::MemberExpr) ||
         tree_.is(root, NodeKind::ParenExpr))
    root = tree_.child(root, 0);
  // The uses were just added, so the search among them is short.
  for (size_t i = from; i < names_.uses.size(); ++i)
    if (names_.uses[i].node == root)
      names_.uses[i].access = Access::Write;
}

bool Walk::visitStatement(NodeId node) {
  auto children = tree_.children(node);
  switch (tree_.kind(node)) {
  case NodeKind::Block: {
    Scope scope(*this);
    visitAll(children);
    return true;
  }
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
    // The type and value come before the names that they are bound to.
    visitAll(children.subspan(1));
    bindPattern(children[0]);
    return true;
  case NodeKind::ForStmt:
  case NodeKind::ParallelStmt:
    loop(node);
    return true;
  case NodeKind::OnStmt:
    if (NodeId part = OnStmtView(tree_, node).part(); tree_.is(part, NodeKind::LoopBinding)) {
      visit(OnStmtView(tree_, node).core());
      visit(LoopBindingView(tree_, part).domain());
      Scope scope(*this);
      bindPattern(LoopBindingView(tree_, part).pattern());
      visit(OnStmtView(tree_, node).body());
      return true;
    }
    return false;
  case NodeKind::AssignStmt:
  case NodeKind::AtomicStmt:
    write(children[0]);
    visit(children[1]);
    return true;
  case NodeKind::TaskStmt:
    label(children[0]);
    visit(children[1]);
    return true;
  case NodeKind::PipeStmt:
  case NodeKind::BufferStmt:
  case NodeKind::EventStmt:
    visitAll(children.subspan(1));
    bind(children[0]);
    return true;
  case NodeKind::DimParam:
  case NodeKind::TypeParam:
  case NodeKind::SampledDim:
  case NodeKind::TuneParam:
    visitAll(children.subspan(1));
    bind(children[0]);
    return true;
  case NodeKind::Param:
  case NodeKind::Result: // in what could not be parsed
    typed(node);
    if (children[0] != kNoNode)
      bind(children[0]);
    return true;
  case NodeKind::Field:
    // A field is visible through a value alone, so it is bound in no scope.
    add(children[0], NameSpace::FieldDecl, node, Access::Declare);
    visit(children[1]);
    return true;
  default:
    return false;
  }
}

// ---- Expressions --------------------------------------------------------------------------------

void Walk::call(NodeId node) {
  CallExprView view(tree_, node);
  // A callee is looked up among declarations, not among locals, unless it is a type parameter.
  if (tree_.is(view.callee(), NodeKind::NameExpr))
    name(view.callee(), NameSpace::Callee);
  else
    visit(view.callee());
  for (NodeId arg : view.args()) {
    if (!tree_.is(arg, NodeKind::Arg)) {
      visit(arg);
      continue;
    }
    ArgView each(tree_, arg);
    // `reduce(f, …)` takes the name of a `fn`, unless a local of that name hides it.
    if (tree_.is(each.value(), NodeKind::NameExpr) && namesFunction(tree_, each.value()) &&
        find(tree_.text(each.value())) == kNoNode) {
      name(each.value(), NameSpace::Callee);
      continue;
    }
    if (each.name() != kNoNode)
      add(each.name(), NameSpace::Argument, node);
    // An `inout` argument is written by the call.
    if (each.has(NodeFlag::Inout))
      write(each.value());
    else
      visit(each.value());
  }
}

void Walk::visitExpression(NodeId node) {
  switch (tree_.kind(node)) {
  case NodeKind::NameExpr:
    return name(node, NameSpace::Value);
  case NodeKind::CallExpr:
    return call(node);
  case NodeKind::MemberExpr:
    // A member can only be resolved by type, so it keeps its node as the target.
    visit(tree_.child(node, 0));
    return add(tree_.child(node, 1), NameSpace::Member, node);
  case NodeKind::NamedType:
    return path(tree_.child(node, 0), NameSpace::Type);
  case NodeKind::DotName:
    return add(tree_.child(node, 0), NameSpace::Tag, node);
  case NodeKind::Name:
    return add(node, NameSpace::Word, kNoNode);
  default:
    return visitAll(tree_.children(node));
  }
}

void Walk::visit(NodeId node) {
  if (node == kNoNode)
    return;
  if (isDeclaration(tree_.kind(node)))
    visitDeclaration(node);
  else if (!visitStatement(node))
    visitExpression(node);
}

} // namespace

// ---- Results ------------------------------------------------------------------------------------

ChunkNames namesOf(const Tree &tree) {
  ChunkNames names;
  Walk(tree, names).visit(tree.root());
  // `ChunkNames::at` needs the uses by position. They are not in this order, because values are
  // visited before the names they are bound to.
  std::sort(names.uses.begin(), names.uses.end(),
            [](const NameUse &a, const NameUse &b) { return a.begin < b.begin; });
  std::sort(names.locals.begin(), names.locals.end(),
            [](const LocalName &a, const LocalName &b) { return a.from < b.from; });
  return names;
}

const ChunkNames &namesOf(const Chunk &chunk) {
  return chunk.memo.get<ChunkNames>([&] { return namesOf(*chunk.tree); });
}

const NameUse *ChunkNames::at(uint32_t offset) const {
  auto next = std::partition_point(uses.begin(), uses.end(),
                                   [&](const NameUse &use) { return use.begin <= offset; });
  // A cursor right behind a name still is on it.
  if (next == uses.begin() || (next - 1)->end < offset)
    return nullptr;
  return &*(next - 1);
}

const LocalName *ChunkNames::local(NodeId name) const {
  for (const LocalName &local : locals)
    if (local.name == name)
      return &local;
  return nullptr;
}

std::vector<NodeId> localsAt(const Chunk &chunk, uint32_t offset) {
  const ChunkNames &names = namesOf(chunk);
  std::vector<NodeId> visible;
  std::unordered_map<std::string_view, bool> seen;
  // Locals that begin later are inner ones, so the first of a name hides the others.
  for (auto local = names.locals.rbegin(); local != names.locals.rend(); ++local)
    if (local->from <= offset && offset <= local->to &&
        seen.emplace(chunk.tree->text(local->name), true).second)
      visible.push_back(local->name);
  return visible;
}

NodeId enclosingDecl(const Tree &tree, NodeId node) {
  // The walk stops at the child of the root.
  while (node != kNoNode && node != tree.root() && tree.parent(node) != tree.root())
    node = tree.parent(node);
  return node == tree.root() ? kNoNode : node;
}

NodeId declarationOf(const Tree &tree, NodeId name) {
  NodeId node = tree.parent(name);
  while (tree.is(node, NodeKind::TuplePattern))
    node = tree.parent(node);
  return node;
}

static void collectLabels(const Tree &tree, NodeId node, std::vector<NodeId> &labels) {
  auto pattern = [&](auto &self, NodeId each) -> void {
    if (tree.is(each, NodeKind::Name))
      labels.push_back(each);
    else if (tree.is(each, NodeKind::TuplePattern))
      for (NodeId element : tree.children(each))
        self(self, element);
  };
  switch (tree.kind(node)) {
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
  case NodeKind::TaskStmt:
    pattern(pattern, tree.child(node, 0));
    break;
  case NodeKind::ForStmt:
  case NodeKind::ParallelStmt:
    if (NodeId label = LoopView(tree, node).label(); label != kNoNode)
      labels.push_back(label);
    break;
  // A loop without a label of its own goes by its variables.
  case NodeKind::LoopBinding:
    if (LoopView(tree, tree.parent(tree.parent(node))).label() == kNoNode)
      pattern(pattern, tree.child(node, 0));
    break;
  default:
    break;
  }
  for (NodeId child : tree.children(node))
    if (child != kNoNode)
      collectLabels(tree, child, labels);
}

bool namesFunction(const Tree &tree, NodeId argument) {
  NodeId arg = tree.parent(argument), call = arg == kNoNode ? kNoNode : tree.parent(arg);
  if (call == kNoNode || !tree.is(arg, NodeKind::Arg) || !tree.is(call, NodeKind::CallExpr))
    return false;
  CallExprView view(tree, call);
  // Only the first argument of an operation can be a function, and only by position.
  bool isFirst = !view.args().empty() && view.args()[0] == arg &&
                 ArgView(tree, arg).name() == kNoNode && tree.is(view.callee(), NodeKind::NameExpr);
  auto records = isFirst ? findOps(tree.text(view.callee())) : std::span<const OpRecord *const>();
  return !records.empty() && !records[0]->params.empty() &&
         // Some operations, such as `reduce` and `scan`, take a function first.
         records[0]->params[0].kind == ParamKind::Function &&
         (tree.is(argument, NodeKind::NameExpr) || tree.is(argument, NodeKind::MemberExpr));
}

std::vector<NodeId> labelsOf(const Tree &tree, NodeId callable) {
  std::vector<NodeId> labels;
  NodeId body = CallableView(tree, callable).body();
  if (body != kNoNode)
    collectLabels(tree, body, labels);
  return labels;
}

const std::vector<std::string_view> &wordsOfLanguage() {
  static const std::vector<std::string_view> words = [] {
    std::vector<std::string_view> all = {"tiles", "parts", "acc", "inf", "nan"};
#define KEYWORD(NAME, SPELLING) all.push_back(SPELLING);
#define ELEMENT(NAME, SPELLING) all.push_back(SPELLING);
#include "frontend/lex/tokens.def"
    for (const OpRecord &op : allOps()) {
      all.push_back(op.name);
      for (const OpParam &param : op.params)
        all.push_back(param.name);
    }
    return all;
  }();
  return words;
}

} // namespace ptl::ide
