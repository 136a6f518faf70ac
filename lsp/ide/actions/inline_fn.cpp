// A call of a `fn` is replaced by what it computes, with its arguments in the place of parameters.
#include "lsp/ide/actions/guards.h"

#include "frontend/sema/checked_tree.h"
#include "frontend/sema/type_string.h"
#include "ir/ops/op_table.h"

#include <algorithm>
#include <map>
#include <set>

namespace ptl::ide {
namespace {

/// The call at a place whose callee is a `fn`.
const CallExpr *callAt(const ActionContext &context) {
  const Tree &tree = context.tree;
  NodeId node = enclosing(tree, tree.nodeAt(context.range.begin), [&](NodeId n) {
    return tree.is(n, NodeKind::CallExpr) || isStatement(tree.kind(n));
  });
  if (!tree.is(node, NodeKind::CallExpr))
    return nullptr;
  // On the name, not somewhere in the arguments.
  if (context.range.begin > tree.span(tree.child(node, 0)).end)
    return nullptr;
  const Expr *expr = context.exprOf(node);
  if (!expr || expr->kind != ExprKind::Call)
    return nullptr;
  const auto *call = cast<CallExpr>(expr);
  bool isFn = call->callee && call->callee->kind == DeclKind::Fn;
  return isFn && expr->syntax == node ? call : nullptr;
}

class Inlining {
public:
  Inlining(const ActionContext &context, const CallExpr &call)
      : context_(context), tree_(context.tree), call_(call), node_(call.syntax),
        caller_(tree_, enclosingDecl(tree_, node_)) {}

  Outcome run();

private:
  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }
  bool findCallee();
  bool takeBody();
  bool checkGlobals();
  bool bindArguments();
  std::string qualifier() const;
  std::vector<NodeId> parts() const;
  NodeId argumentFor(const ParamView &param, size_t position) const;
  std::string freshLocal(const std::string &name);
  void bindGenerics();
  void bindLocals();
  std::string scalarTypeOf(const ParamView &param) const;
  bool isSensitive(NodeId use, const std::string &type) const;
  /// Source of a node of the callee in the caller's names.
  std::string translated(NodeId node) const;
  std::string replacementOf(NodeId use, const Binding &binding) const;

  const ActionContext &context_;
  const Tree &tree_;
  const CallExpr &call_;
  NodeId node_;
  Bindings caller_;
  const ModuleIndex *module_ = nullptr; ///< of the callee
  DeclSite site_;
  std::unique_ptr<Bindings> callee_;
  std::vector<NodeId> lets_;
  NodeId value_ = kNoNode;
  std::string reason_;
  /// The expression that replaces a name of the callee, by the node that binds the name.
  struct Substitute {
    std::string text;
    bool isAtomic = true;
    std::string literalOf; ///< the element type of a literal
  };
  std::map<NodeId, Substitute> substitutes_;
  std::map<NodeId, std::string> globals_; ///< names of the callee's module as the caller says them
  std::set<std::string> taken_;           ///< new names of locals
  std::vector<std::string> hoisted_;      ///< statements before the one that holds the call
};

bool Inlining::findCallee() {
  NodeId callee = tree_.child(node_, 0);
  const ModuleIndex &own = context_.file.index;
  std::string name =
      context_.text(tree_.is(callee, NodeKind::MemberExpr) ? tree_.child(callee, 1) : callee);
  module_ = &own;
  if (tree_.is(callee, NodeKind::MemberExpr)) {
    auto import = own.modules.find(tree_.text(tree_.child(callee, 0)));
    module_ = import == own.modules.end() ? nullptr : import->second.module;
  } else if (auto import = own.names.find(name); import != own.names.end()) {
    module_ = import->second.module;
  }
  site_ = module_ ? module_->find(DeclSpace::Callable, name) : DeclSite();
  if (!site_ || site_.hasSyntaxErrors)
    return refuse("the declaration of `" + name + "` is not known or has errors");
  callee_ = std::make_unique<Bindings>(*site_.tree, site_.node);
  return true;
}

/// Lets, then the value.
bool Inlining::takeBody() {
  const Tree &callee = *site_.tree;
  NodeId body = CallableView(callee, site_.node).body();
  if (body == kNoNode || callee.children(body).empty())
    return refuse("it has no body");
  auto statements = callee.children(body);
  for (NodeId statement : statements.first(statements.size() - 1)) {
    if (!callee.is(statement, NodeKind::LetStmt))
      return refuse("its body is more than `let`s and a value");
    lets_.push_back(statement);
  }
  NodeId last = statements.back();
  bool isValue = callee.is(last, NodeKind::ReturnStmt) || callee.is(last, NodeKind::ExprStmt);
  value_ = isValue ? callee.child(last, 0) : kNoNode;
  if (value_ == kNoNode)
    return refuse("its body does not end with a value");
  return true;
}

std::string Inlining::qualifier() const {
  for (const auto &[name, import] : context_.file.index.modules)
    if (import.module == module_)
      return name + ".";
  return "";
}

static bool isDeclaredIn(const ModuleIndex &module, std::string_view name) {
  for (DeclSpace space :
       {DeclSpace::Callable, DeclSpace::Struct, DeclSpace::Alias, DeclSpace::Const})
    if (module.find(space, name))
      return true;
  return module.names.contains(name) || module.modules.contains(name);
}

static bool isPublic(const ModuleIndex &module, std::string_view name) {
  for (DeclSpace space :
       {DeclSpace::Callable, DeclSpace::Struct, DeclSpace::Alias, DeclSpace::Const})
    if (DeclSite site = module.find(space, name))
      return site.tree->has(site.node, NodeFlag::Pub);
  return false;
}

/// What the call gives for a parameter; `kNoNode` where it leaves the default.
NodeId Inlining::argumentFor(const ParamView &param, size_t position) const {
  auto args = tree_.children(node_).subspan(1);
  for (size_t i = 0; i < args.size(); ++i) {
    NodeId name = tree_.child(args[i], 0);
    if (name == kNoNode ? i == position : tree_.text(name) == site_.tree->text(param.name()))
      return tree_.child(args[i], 1);
  }
  return kNoNode;
}

/// What is taken from the callee: its `let`s, its value, and the defaults that the call leaves.
std::vector<NodeId> Inlining::parts() const {
  std::vector<NodeId> parts = lets_;
  parts.push_back(value_);
  auto params = site_.tree->children(CallableView(*site_.tree, site_.node).params());
  for (size_t i = 0; i < params.size(); ++i) {
    ParamView param(*site_.tree, params[i]);
    if (param.value() != kNoNode && argumentFor(param, i) == kNoNode)
      parts.push_back(param.value());
  }
  return parts;
}

/// Names that are not local to the callee must mean the same in the caller.
bool Inlining::checkGlobals() {
  const Tree &callee = *site_.tree;
  const ModuleIndex &own = context_.file.index;
  for (NodeId part : parts())
    for (NodeId use : usesIn(callee, part)) {
      // Names that the callee binds are replaced with its arguments and its `let`s.
      if (callee_->resolve(use))
        continue;
      std::string name(callee.is(use, NodeKind::NamedType) ? callee.text(use)
                                                           : callee.mainText(use));
      // A local of the caller with that name would capture it.
      for (const Binding &binding : caller_.all())
        if (binding.text == name)
          return refuse("`" + name + "` has another meaning here");
      if (module_ == &own)
        continue;
      bool isTheirs = isDeclaredIn(*module_, name);
      if (!isTheirs && isDeclaredIn(own, name))
        return refuse("`" + name + "` has another meaning here");
      if (!isTheirs)
        continue;
      if (auto import = own.names.find(name);
          import != own.names.end() && import->second.module == module_)
        continue;
      std::string module = qualifier();
      if (module.empty() || !isPublic(*module_, name))
        return refuse("its body uses `" + name + "` of `" + module_->name +
                      "`, which is not known here");
      globals_[use] = module + name;
    }
  return true;
}

/// A name that means nothing else where the body goes: neither around the call, nor among what the
/// body says itself, nor to another part of it that has got a new name.
std::string Inlining::freshLocal(const std::string &name) {
  std::string candidate = caller_.fresh(name);
  for (int i = 2;
       taken_.contains(candidate) || (candidate != name && callee_->mentions(candidate, false));
       ++i)
    candidate = caller_.fresh(name + std::to_string(i));
  taken_.insert(candidate);
  return candidate;
}

/// The type that a scalar parameter has in this call; empty for others.
std::string Inlining::scalarTypeOf(const ParamView &param) const {
  const Tree &callee = *site_.tree;
  if (callee.is(param.type(), NodeKind::ElementType))
    return std::string(callee.text(param.type()));
  const Binding *binding =
      callee.is(param.type(), NodeKind::NamedType) ? callee_->resolve(param.type()) : nullptr;
  bool isGeneric = binding && binding->kind == BindingKind::TypeParam;
  return isGeneric ? replacementOf(param.type(), *binding) : "";
}

bool Inlining::bindArguments() {
  const Tree &callee = *site_.tree;
  // Defaults of parameters may speak of dimensions.
  bindGenerics();
  auto params = callee.children(CallableView(callee, site_.node).params());
  for (size_t i = 0; i < params.size(); ++i) {
    ParamView param(callee, params[i]);
    std::string name(callee.text(param.name()));
    NodeId given = argumentFor(param, i);
    const Tree &from = given == kNoNode ? callee : tree_;
    NodeId value = given == kNoNode ? param.value() : given;
    if (value == kNoNode)
      return refuse("the argument `" + name + "` is missing");
    size_t count = 0;
    for (NodeId part : parts())
      for (NodeId use : usesIn(callee, part))
        if (const Binding *binding = callee_->resolve(use);
            binding && binding->name == param.name())
          ++count;
    // A default is written in the names of its module.
    std::string text = given == kNoNode ? translated(value) : std::string(from.text(value));
    Substitute substitute{text, isAtomic(from.kind(value)), ""};
    bool isNumber = isConstant(from, value, given == kNoNode ? *callee_ : caller_);
    bool isSimple = isNumber || from.is(value, NodeKind::NameExpr);
    // A number without a type has taken that of the parameter, which is gone.
    if (isNumber)
      substitute.literalOf = scalarTypeOf(param);
    // An argument that is used more than once is still computed once, in front of the call.
    if (!isSimple && count > 1) {
      std::string local = freshLocal(name);
      hoisted_.push_back("let " + local + " = " + substitute.text);
      substitute = {local, true, ""};
    }
    substitutes_[param.name()] = substitute;
  }
  bindLocals();
  return true;
}

void Inlining::bindGenerics() {
  const CallableDecl &decl = *call_.callee;
  for (const Binding &binding : callee_->all()) {
    if (binding.kind == BindingKind::Dimension)
      for (size_t i = 0; i < decl.dims.size() && i < call_.dimArgs.size(); ++i)
        if (decl.dims[i].name == binding.text) {
          std::string text = context_.dims().toString(call_.dimArgs[i]);
          bool isWord = std::all_of(text.begin(), text.end(), [](unsigned char c) {
            return std::isalnum(c) || c == '_' || c == '.';
          });
          // A dimension is an `int`, but a number in its place would be a fraction when divided.
          substitutes_[binding.name] = {text, isWord, call_.dimArgs[i].isConstant() ? "int" : ""};
        }
    if (binding.kind == BindingKind::TypeParam)
      for (size_t i = 0; i < decl.typeParams.size() && i < call_.elemArgs.size(); ++i)
        if (decl.typeParams[i]->name == binding.text)
          substitutes_[binding.name] = {toString(call_.elemArgs[i]), true, ""};
  }
}

/// Everything that the body binds gets a name that the caller does not use: also within the arms of
/// its value, where an argument may stand whose names would be captured.
void Inlining::bindLocals() {
  const Tree &callee = *site_.tree;
  for (NodeId part : parts())
    for (const Binding &binding : callee_->all()) {
      Span span = callee.span(part);
      if (span.begin <= binding.span.begin && binding.span.end <= span.end)
        substitutes_[binding.name] = {freshLocal(std::string(binding.text)), true, ""};
    }
}

/// The type that a literal has by itself.
static std::string_view ownType(std::string_view literal) {
  if (literal == "true" || literal == "false")
    return "bool";
  bool isFraction = literal.find_first_not_of("0123456789_") != literal.npos;
  return isFraction ? "f32" : "int";
}

/// Where a number of its own would have another meaning than a value of the parameter's type.
bool Inlining::isSensitive(NodeId use, const std::string &type) const {
  const Tree &callee = *site_.tree;
  NodeId parent = callee.parent(use);
  switch (callee.kind(parent)) {
  case NodeKind::ParenExpr:
  case NodeKind::UnaryExpr:
    return isSensitive(parent, type);
  case NodeKind::BinaryExpr: {
    TokenKind op = callee.mainKind(parent);
    if (op == TokenKind::Slash || op == TokenKind::Percent || op == TokenKind::StarStar)
      return true;
    // Beside a value with a type, the number takes this type. Beside another number both would be
    // computed exactly, without the bounds of the type.
    NodeId other = callee.child(parent, callee.child(parent, 0) == use ? 1 : 0);
    while (callee.is(other, NodeKind::ParenExpr) || callee.is(other, NodeKind::UnaryExpr))
      other = callee.child(other, 0);
    const Binding *binding =
        callee.is(other, NodeKind::NameExpr) ? callee_->resolve(other) : nullptr;
    auto found = binding ? substitutes_.find(binding->name) : substitutes_.end();
    return isConstant(callee, other, *callee_) ||
           (found != substitutes_.end() && !found->second.literalOf.empty());
  }
  case NodeKind::LetStmt:
  case NodeKind::VarStmt:
  case NodeKind::ReturnStmt:
  case NodeKind::ExprStmt:
    return true;
  case NodeKind::Arg:
    return ownType(callee_->resolve(use) ? substitutes_.at(callee_->resolve(use)->name).text
                                         : "") != type;
  default:
    return false;
  }
}

std::string Inlining::replacementOf(NodeId use, const Binding &binding) const {
  auto found = substitutes_.find(binding.name);
  if (found == substitutes_.end())
    return std::string(binding.text);
  const Tree &callee = *site_.tree;
  const Substitute &substitute = found->second;
  if (!substitute.literalOf.empty() && isSensitive(use, substitute.literalOf))
    return substitute.literalOf + "(" + substitute.text + ")";
  return substitute.isAtomic || isDelimited(callee, use) ? substitute.text
                                                         : "(" + substitute.text + ")";
}

std::string Inlining::translated(NodeId node) const {
  const Tree &callee = *site_.tree;
  Span whole = callee.span(node);
  std::vector<Edit> edits;
  auto add = [&](Span span, std::string text) {
    edits.push_back({{span.begin - whole.begin, span.end - whole.begin}, std::move(text)});
  };
  for (NodeId use : usesIn(callee, node)) {
    if (const Binding *binding = callee_->resolve(use))
      add(callee.span(use), replacementOf(use, *binding));
    else if (auto global = globals_.find(use); global != globals_.end())
      add(callee.span(use), global->second);
  }
  for (const Binding &binding : callee_->all())
    if (whole.begin <= binding.span.begin && binding.span.end <= whole.end)
      add(binding.span, replacementOf(binding.name, binding));
  return applied(callee.text(node), edits);
}

Outcome Inlining::run() {
  if (!findCallee() || !takeBody() || !checkGlobals() || !bindArguments())
    return ide::refuse(reason_);
  NodeId statement = statementAround(tree_, node_);
  for (NodeId let : lets_)
    hoisted_.push_back(translated(let));
  if (!hoisted_.empty() && statement == kNoNode)
    return ide::refuse("its `let`s cannot be inserted here");
  // The `let`s would run where the call does not.
  std::string why = hoisted_.empty() ? "" : whyNotBefore(context_, node_);
  if (!why.empty())
    return ide::refuse("its `let`s cannot be inserted before this statement: " + why);
  std::string value = translated(value_);
  NodeKind kind = site_.tree->kind(value_);
  // A number alone would take another type from its new place, so it is converted to that of the
  // result.
  if (isConstant(*site_.tree, value_, *callee_) && call_.type && call_.type->isScalar())
    value = toString(call_.type->elem) + "(" + value + ")";
  else if (!isAtomic(kind) && !isDelimited(tree_, node_))
    value = "(" + value + ")";
  Outcome outcome;
  if (!hoisted_.empty()) {
    uint32_t at = tree_.span(statement).begin;
    std::string indent(indentAt(context_.text(), at)), lines;
    for (const std::string &line : hoisted_)
      lines += line + "\n" + indent;
    outcome.edits.push_back({{at, at}, lines});
  }
  outcome.edits.push_back({rangeOf(tree_.span(node_)), value});
  return outcome;
}

} // namespace

std::vector<Offer> inlineFnOffers(const ActionContext &context) {
  const CallExpr *call = callAt(context);
  if (!call)
    return {};
  return {{"Inline `" + call->callee->name + "`"}};
}

Outcome inlineFnEdits(const ActionContext &context, int) {
  const CallExpr *call = callAt(context);
  return call ? Inlining(context, *call).run() : refuse("this is not a call of a `fn`");
}

} // namespace ptl::ide
