#include "lsp/ide/actions/extraction.h"

#include "lsp/ide/actions/guards.h"

#include "frontend/base/word_char.h"
#include "frontend/format/format.h"
#include "frontend/parse/parse.h"
#include "frontend/sema/type_string.h"

#include <algorithm>

namespace ptl::ide {

Extraction::Extraction(const ActionContext &context)
    : context_(context), tree_(context.tree), range_(context.range),
      bindings_(context.tree,
                enclosingDecl(context.tree, context.tree.nodeAt(context.range.begin))) {}

bool Extraction::refuse(std::string reason) {
  reason_ = std::move(reason);
  return false;
}

// ---- The selection ------------------------------------------------------------------------------

/// From the first token in a range to the last that is no separator: comments at its ends stay
/// where they are.
static Range tokensIn(const Tree &tree, Range range) {
  TokenIndex first = tree.tokenAt(range.begin), last = first;
  // A selection that begins within a token is taken as it is.
  if (tree.token(first).begin < range.begin)
    return range;
  while (tree.tokenKind(last) != TokenKind::EndOfFile && tree.token(last).end <= range.end)
    ++last;
  while (last > first && tree.tokenKind(last - 1) == TokenKind::Semicolon)
    --last;
  return last == first ? range : Range{tree.token(first).begin, tree.token(last - 1).end};
}

bool Extraction::select() {
  range_ = tokensIn(tree_, range_);
  if (range_.begin == range_.end || bindings_.declaration() == kNoNode)
    return refuse("nothing is selected");
  NodeId expression = expressionAt(tree_, range_);
  NodeId parent = expression == kNoNode ? kNoNode : tree_.parent(expression);
  // An expression that is a whole statement is handled as a statement, which may have further
  // results.
  bool isStatement = tree_.is(parent, NodeKind::ExprStmt) || tree_.is(parent, NodeKind::Block);
  if (expression != kNoNode && !isStatement) {
    if (statementAround(tree_, expression) == kNoNode)
      return refuse("there is no statement around it");
    // The target of an assignment is a place and has no value to pass.
    bool isTarget = tree_.is(parent, NodeKind::AssignStmt) && expression == tree_.child(parent, 0);
    if (tree_.is(expression, NodeKind::NameExpr) || isTarget)
      return refuse("there is nothing to extract from a name");
    selected_ = {expression};
    isExpression_ = true;
    return true;
  }
  // Several statements must be whole ones of one block.
  NodeId first = statementAround(tree_, tree_.nodeAt(range_.begin));
  while (first != kNoNode && tree_.span(first).begin == range_.begin &&
         tree_.span(first).end > range_.end)
    return refuse("the selection contains only part of a statement");
  if (first == kNoNode || tree_.span(first).begin != range_.begin)
    return refuse("the selection is neither an expression nor whole statements");
  block_ = tree_.parent(first);
  for (NodeId statement : tree_.children(block_))
    if (isSelected(tree_.span(statement)))
      selected_.push_back(statement);
  if (selected_.empty() || tree_.span(selected_.back()).end != range_.end)
    return refuse("the selection is neither an expression nor whole statements");
  NodeId last = selected_.back();
  // A final `return` may be extracted, because the call is returned in its place.
  returns_ = tree_.is(last, NodeKind::ReturnStmt);
  // The last expression of a block is its value, so the call becomes that value.
  isValue_ = last == tree_.children(block_).back() && tree_.is(last, NodeKind::ExprStmt);
  return true;
}

/// Jumps that would leave the selection.
bool Extraction::findJumps() {
  bool leaves = false;
  for (NodeId node : selected_)
    forEachNode(tree_, node, [&](NodeId n) {
      // Any other `return` would leave the new `fn` instead of the one around.
      if (tree_.is(n, NodeKind::ReturnStmt) && !(returns_ && n == selected_.back()))
        leaves = true;
      bool isJump = tree_.is(n, NodeKind::BreakStmt) || tree_.is(n, NodeKind::ContinueStmt);
      // A jump stays inside if its loop is selected too.
      NodeId loop = isJump ? enclosing(tree_, n,
                                       [&](NodeId a) {
                                         return tree_.is(a, NodeKind::ForStmt) ||
                                                tree_.is(a, NodeKind::WhileStmt);
                                       })
                           : kNoNode;
      if (isJump && (loop == kNoNode || !isSelected(tree_.span(loop))))
        leaves = true;
    });
  return leaves ? refuse("the selection jumps out of itself") : true;
}

// ---- What it uses -------------------------------------------------------------------------------

bool Extraction::analyse() {
  if (!findJumps() || !findAssigned())
    return false;
  name_ = context_.freshCallable("extracted");
  for (NodeId node : selected_)
    for (NodeId use : usesIn(tree_, node))
      if (!addUse(use))
        return false;
  return findResults();
}

bool Extraction::isGlobalTensor(const Binding &binding) const {
  // A `fn` takes tiles, so arrays in global memory are not passed as a whole.
  bool fromOutside = binding.kind == BindingKind::Param || binding.kind == BindingKind::Output;
  Local *local = context_.localOf(binding.name);
  return fromOutside && tree_.is(bindings_.declaration(), NodeKind::KernelDecl) && local &&
         local->type && local->type->isArray();
}

bool Extraction::findAssigned() {
  for (NodeId node : selected_) {
    std::vector<NodeId> targets;
    forEachNode(tree_, node, [&](NodeId n) {
      bool isAssign = tree_.is(n, NodeKind::AssignStmt) || tree_.is(n, NodeKind::AtomicStmt);
      if (isAssign || (tree_.is(n, NodeKind::Arg) && tree_.has(n, NodeFlag::Inout)))
        // An argument keeps its name in the first slot and its value in the second.
        targets.push_back(tree_.child(n, isAssign ? 0 : 1));
    });
    for (NodeId target : targets) {
      // The root of `y[i].f` is what is written.
      while (target != kNoNode && !tree_.is(target, NodeKind::NameExpr))
        target = tree_.children(target).empty() ? kNoNode : tree_.child(target, 0);
      const Binding *binding = target == kNoNode ? nullptr : bindings_.resolve(target);
      if (!binding)
        return refuse("the variables that the selection assigns are not known");
      // A local of the selection is written inside of the `fn`.
      if (isSelected(binding->span))
        continue;
      // A `var` from outside becomes a result that is assigned to it; outputs and parameters cannot
      // be.
      if (binding->kind != BindingKind::Var)
        return refuse("a `fn` is pure, but the selection writes `" + std::string(binding->text) +
                      "`");
      if (std::find(assigned_.begin(), assigned_.end(), binding) == assigned_.end())
        assigned_.push_back(binding);
    }
  }
  return true;
}

/// Whether a name is the extent of a type: `zeros(f32[i, D])`.
bool Extraction::isShape(NodeId use) const {
  // The search ends at an argument or statement: beyond these a name is a value.
  NodeId around = enclosing(tree_, use, [&](NodeId n) {
    return tree_.is(n, NodeKind::Shape) || tree_.is(n, NodeKind::Arg) || isStatement(tree_.kind(n));
  });
  if (tree_.is(around, NodeKind::Shape))
    return true;
  // `T[i, j]` in an expression.
  NodeId parent = tree_.parent(use);
  if (!tree_.is(parent, NodeKind::IndexExpr) || tree_.child(parent, 0) == use)
    return false;
  const Binding *base = tree_.is(tree_.child(parent, 0), NodeKind::NameExpr)
                            ? bindings_.resolve(tree_.child(parent, 0))
                            : nullptr;
  return base && base->kind == BindingKind::TypeParam;
}

bool Extraction::addUse(NodeId use) {
  Span span = tree_.span(use);
  // A name within an expression that is passed as a whole needs no parameter of its own.
  for (const Edit &lifted : lifts_)
    if (lifted.range.begin <= span.begin && span.end <= lifted.range.end)
      return true;
  const Binding *binding = bindings_.resolve(use);
  if (!binding || isSelected(binding->span))
    return true;
  std::string name(binding->text);
  switch (binding->kind) {
  case BindingKind::Dimension:
    addDim(name, name);
    return true;
  case BindingKind::TypeParam: {
    std::string declared = context_.text(tree_.parent(binding->name));
    if (std::find(typeParams_.begin(), typeParams_.end(), declared) == typeParams_.end())
      typeParams_.push_back(declared);
    return true;
  }
  case BindingKind::Other:
    return refuse("a `fn` cannot use `" + name + "`, which belongs to the block level");
  default:
    return addValue(*binding, use);
  }
}

bool Extraction::addValue(const Binding &binding, NodeId use) {
  std::string name(binding.text);
  Local *local = context_.localOf(binding.name);
  if (!local || !local->type || local->type->isError())
    return refuse("the type of `" + name + "` is not known");
  bool isRange = local->type->kind == TypeKind::Range;
  // In an extent the value must be a dimension of the new `fn`, not a parameter.
  if (isShape(use) && (isRange || local->type->isInt())) {
    addDim(name, isRange ? name + ".len" : name);
    return true;
  }
  // A `fn` can take neither ranges nor global arrays, but the values made of them.
  if (isRange || isGlobalTensor(binding))
    return lift(use, binding);
  if (std::find(assigned_.begin(), assigned_.end(), &binding) == assigned_.end()) {
    addParam(name, *local->type, name);
    return true;
  }
  // The parameter has another name, because the body declares a `var` with the old one.
  addParam(bindings_.fresh(name + "_before"), *local->type, name);
  return true;
}

static bool isPassable(const Expr *expr) {
  return expr && expr->type && (expr->type->isScalar() || expr->type->isArray());
}

/// Whether an expression may read beyond an array, or divide by 0. Whole axes and the ranges of
/// loops are always within the arrays that they were made for.
bool Extraction::mayFail(NodeId node) const {
  auto isRange = [&](NodeId index) {
    const Expr *expr = context_.exprOf(index);
    return expr && expr->type && expr->type->kind == TypeKind::Range &&
           tree_.is(index, NodeKind::NameExpr);
  };
  auto isWhole = [&](NodeId index) {
    if (tree_.is(index, NodeKind::RestIndex) || tree_.is(index, NodeKind::NewIndex))
      return true;
    return tree_.is(index, NodeKind::SliceIndex) &&
           std::ranges::all_of(tree_.children(index), [](NodeId part) { return part == kNoNode; });
  };
  bool may = false;
  forEachNode(tree_, node, [&](NodeId n) {
    if (tree_.is(n, NodeKind::IndexExpr))
      for (NodeId index : tree_.children(n).subspan(1))
        may |= !isRange(index) && !isWhole(index);
    TokenKind op = tree_.is(n, NodeKind::BinaryExpr) ? tree_.mainKind(n) : TokenKind::EndOfFile;
    may |= op == TokenKind::Slash || op == TokenKind::Percent;
  });
  return may;
}

bool Extraction::lift(NodeId use, const Binding &binding) {
  // The smallest expression around the use that is a scalar or an array is passed instead.
  NodeId node = tree_.parent(use);
  while (node != kNoNode && !isStatement(tree_.kind(node)) &&
         !(isExpression(tree_.kind(node)) && isPassable(context_.exprOf(node))))
    node = tree_.parent(node);
  std::string name(binding.text);
  // The expression must lie in the selection, where it can be replaced.
  if (node == kNoNode || isStatement(tree_.kind(node)) || !isSelected(tree_.span(node)))
    return refuse("a `fn` cannot take `" + name + "`");
  if (isExpression_ && node == selected_.front())
    return refuse("the `fn` would only return its parameter");
  // A value that depends on locals of the selection cannot be computed before it, and what depends
  // on a variable that the selection assigns would be computed with the old value.
  for (NodeId other : usesIn(tree_, node)) {
    const Binding *inner = bindings_.resolve(other);
    bool isAssigned = std::find(assigned_.begin(), assigned_.end(), inner) != assigned_.end();
    if (inner && (isAssigned || isSelected(inner->span)))
      return refuse("`" + context_.text(node) + "` depends on `" + std::string(inner->text) +
                    "`, which is " + (isAssigned ? "assigned" : "bound") + " in the selection");
  }
  for (NodeId selected : selected_)
    if (tree_.span(selected).begin <= tree_.span(node).begin &&
        tree_.span(node).end <= tree_.span(selected).end && mayFail(node))
      if (std::string why = whyNotAlways(context_, node, selected); !why.empty())
        return refuse("`" + context_.text(node) + "` cannot be computed before the call: " + why);
  std::string text = context_.text(node);
  // A tensor's own name is free in the `fn`, since the tensor itself is not passed.
  std::string param = isGlobalTensor(binding) ? name : name + "_value";
  if (tree_.is(node, NodeKind::MemberExpr))
    param = name + "_" + context_.text(tree_.child(node, 1));
  // Equal expressions are passed once.
  auto [known, isNew] = liftNames_.try_emplace(text, param);
  if (isNew) {
    auto isTaken = [&](const std::string &candidate) {
      return std::any_of(params_.begin(), params_.end(),
                         [&](const Param &p) { return p.name == candidate; });
    };
    std::string candidate = param;
    // The original name may be reused; every other must occur nowhere in the declaration.
    for (int i = 2; isTaken(candidate) || (candidate != name && bindings_.mentions(candidate)); ++i)
      candidate = param + std::to_string(i);
    known->second = candidate;
    addParam(candidate, *context_.exprOf(node)->type, text);
  }
  // An outer expression takes the place of the parts of it.
  Range range = rangeOf(tree_.span(node));
  std::erase_if(lifts_, [&](const Edit &edit) {
    return range.begin <= edit.range.begin && edit.range.end <= range.end;
  });
  lifts_.push_back({range, known->second});
  return true;
}

// ---- Results ------------------------------------------------------------------------------------

void Extraction::addResult(const Binding &binding, bool isOutside) {
  for (const Result &result : results_)
    if (result.binding == &binding)
      return;
  results_.push_back({&binding, isOutside, ""});
}

bool Extraction::findResults() {
  if (isExpression_ || isValue_ || returns_) {
    NodeId value = isExpression_ ? selected_.front() : tree_.child(selected_.back(), 0);
    const Expr *expr = context_.exprOf(value);
    bool hasValue = expr && expr->type && expr->type->kind != TypeKind::Void;
    if (!hasValue && (isExpression_ || returns_))
      // Statements may lack a value, an expression or a `return` may not.
      return refuse("the selection has no value");
    if (hasValue && expr->type->isError())
      return refuse("the type of the selection is not known");
    valueType_ = hasValue ? expr->type : nullptr;
    // A `fn` could return both, but the call would then no longer be an expression in this place.
    if (valueType_ && !assigned_.empty())
      return refuse("the selection has a value and also changes `" +
                    std::string(assigned_.front()->text) + "`");
  }
  // Variables that were assigned are results, whether or not they are read behind the selection.
  for (const Binding *binding : assigned_)
    addResult(*binding, true);
  // Locals of the selection are results if something behind reads them.
  uint32_t behind = range_.end;
  if (block_ != kNoNode)
    for (NodeId use : usesIn(tree_, block_))
      if (tree_.span(use).begin >= behind)
        if (const Binding *binding = bindings_.resolve(use); binding && isSelected(binding->span))
          addResult(*binding, false);
  if (results_.empty() && !valueType_)
    return refuse("nothing behind the selection uses its results");
  for (Result &result : results_) {
    Local *local = context_.localOf(result.binding->name);
    if (!local || !local->type || local->type->isError())
      return refuse("the type of `" + std::string(result.binding->text) + "` is not known");
    result.type = typeText(*local->type, false);
  }
  // A `var` that is only assigned still begins with a value.
  for (const Binding *binding : assigned_) {
    std::string name(binding->text);
    if (std::none_of(params_.begin(), params_.end(),
                     [&](const Param &p) { return p.argument == name; }))
      addParam(bindings_.fresh(name + "_before"), *context_.localOf(binding->name)->type, name);
  }
  return true;
}

// ---- Types --------------------------------------------------------------------------------------

void Extraction::addParam(std::string name, const Type &type, std::string argument) {
  for (const Param &param : params_)
    // One argument is passed once, whatever it is used for.
    if (param.argument == argument)
      return;
  std::string text = typeText(type, true);
  params_.push_back({std::move(name), std::move(text), std::move(argument)});
}

void Extraction::addDim(const std::string &name, const std::string &value) {
  // The first value wins: the same name always has the same value at the call.
  if (dimArgs_.try_emplace(name, value).second)
    dims_.push_back(name);
}

void Extraction::addElem(const Elem &elem) {
  if (!elem.param)
    return;
  for (const Binding &binding : bindings_.all())
    if (binding.kind == BindingKind::TypeParam && binding.text == elem.param->name) {
      std::string declared = context_.text(tree_.parent(binding.name));
      if (std::find(typeParams_.begin(), typeParams_.end(), declared) == typeParams_.end())
        typeParams_.push_back(declared);
    }
}

static bool isWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isWordChar) &&
         !std::isdigit(static_cast<unsigned char>(text[0]));
}

/// The extent in the names of the `fn`: a range is a dimension, `r.start` the dimension `r_start`.
std::string Extraction::extentText(const Extent &extent, bool isParam) {
  std::string text = toString(context_.dims(), extent);
  // Numbers are written as they are.
  if (extent.length.isConstant() && !isWord(text))
    return text;
  if (isWord(text)) {
    bool isRange = extent.range && extent.range->name == text;
    addDim(text, isRange ? text + ".len" : text);
    if (isParam)
      // The type of a parameter determines this dimension, so calls need not name it.
      fixedDims_.insert(text);
    return text;
  }
  // An extent that is an expression is written over dimensions of the new `fn`, whose names have no
  // dot.
  forEachSymbol(extent.length, [&](SymbolId symbol) {
    std::string name = context_.dims().symbol(symbol).name, own = name;
    if (own.ends_with(".len"))
      own.resize(own.size() - 4);
    std::replace(own.begin(), own.end(), '.', '_');
    addDim(own, name);
    // Each occurrence of the symbol in the text gets the new name.
    for (size_t at = text.find(name); own != name && at != text.npos; at = text.find(name, at + 1))
      text.replace(at, name.size(), own);
  });
  return text;
}

std::string Extraction::typeText(const Type &type, bool isParam) {
  addElem(type.elem);
  if (type.kind == TypeKind::Struct) {
    for (const Elem &elem : type.elemArgs)
      addElem(elem);
    for (Dim dim : type.dimArgs)
      extentText({dim, {}, nullptr}, isParam);
    return toString(context_.dims(), type);
  }
  if (!type.isArray())
    return toString(context_.dims(), type);
  std::string text = toString(type.elem) + "[" + (type.prefix ? ".." : "");
  for (size_t i = 0; i < type.extents.size(); ++i)
    text += (i || type.prefix ? ", " : "") + extentText(type.extents[i], isParam);
  return text + "]";
}

// ---- Text ---------------------------------------------------------------------------------------

std::string Extraction::generics() const {
  std::string text;
  for (const std::vector<std::string> *list : {&dims_, &typeParams_})
    for (const std::string &each : *list)
      text += (text.empty() ? "" : ", ") + each;
  return text.empty() ? "" : "[" + text + "]";
}

std::string Extraction::resultType() const {
  if (results_.size() == 1)
    return results_.front().type;
  std::string text;
  for (const Result &result : results_)
    text += (text.empty() ? "" : ", ") + result.type;
  return "(" + text + ")";
}

/// The conditions around that speak of nothing but dimensions and parameters of the `fn`.
std::string Extraction::conditions() const {
  NodeId declaration = bindings_.declaration();
  bool isCallable = tree_.is(declaration, NodeKind::FnDecl) ||
                    tree_.is(declaration, NodeKind::KernelDecl) ||
                    tree_.is(declaration, NodeKind::ProgramDecl);
  NodeId where = isCallable ? CallableView(tree_, declaration).where() : kNoNode;
  std::string text;
  if (where == kNoNode)
    return text;
  for (NodeId condition : tree_.children(where)) {
    bool isKnown = true;
    for (NodeId use : usesIn(tree_, condition)) {
      // A name that resolves to no local is a constant or a declaration, which the `fn` sees as
      // well.
      std::string name(tree_.mainText(use));
      isKnown &= !bindings_.resolve(use) || dimArgs_.contains(name) ||
                 std::any_of(params_.begin(), params_.end(),
                             [&](const Param &p) { return p.argument == name; });
    }
    if (isKnown)
      text += (text.empty() ? "\nwhere " : ", ") + context_.text(condition);
  }
  return text;
}

std::string Extraction::body() {
  std::string lines;
  // A variable that is assigned begins with the value that it had before.
  for (const Param &param : params_)
    for (const Binding *binding : assigned_)
      if (param.argument == binding->text)
        lines += "var " + param.argument + " = " + param.name + "\n";
  std::vector<Edit> edits = lifts_;
  // The lifts count from the beginning of the file, the text from that of the selection.
  for (Edit &edit : edits)
    edit.range = {edit.range.begin - range_.begin, edit.range.end - range_.begin};
  std::string own = applied(context_.text().substr(range_.begin, range_.end - range_.begin), edits);
  if (isExpression_)
    return lines + "return " + own;
  if (valueType_ && !returns_) {
    // The value of the block becomes what is returned.
    uint32_t at = tree_.span(selected_.back()).begin - range_.begin;
    edits.push_back({{at, at}, "return "});
    own = applied(context_.text().substr(range_.begin, range_.end - range_.begin), edits);
  }
  lines += own;
  if (valueType_)
    return lines;
  std::string result;
  for (const Result &each : results_)
    result += (result.empty() ? "" : ", ") + std::string(each.binding->text);
  return lines + "\nreturn " + (results_.size() > 1 ? "(" + result + ")" : result);
}

std::string Extraction::call() const {
  std::string text;
  for (const Param &param : params_)
    text += (text.empty() ? "" : ", ") + param.argument;
  for (const std::string &dim : dims_)
    // Only dimensions that no parameter fixes are passed by name.
    if (!fixedDims_.contains(dim))
      text += (text.empty() ? "" : ", ") + dim + ": " + dimArgs_.at(dim);
  return name_ + "(" + text + ")";
}

/// The text that replaces the selection.
std::string Extraction::replacement() const {
  if (isExpression_)
    return call();
  if (valueType_)
    return (returns_ ? "return " : "") + call();
  std::string indent = "\n" + std::string(indentAt(context_.text(), range_.begin));
  // A variable from outside is assigned; a local of the selection is declared again.
  auto keyword = [](const Result &result) {
    return std::string(result.isOutside                           ? ""
                       : result.binding->kind == BindingKind::Var ? "var "
                                                                  : "let ");
  };
  if (results_.size() == 1)
    return keyword(results_[0]) + std::string(results_[0].binding->text) + " = " + call();
  std::string names, more;
  for (const Result &result : results_) {
    // A tuple pattern declares only `let`s, so a `var` is copied from one.
    std::string name(result.binding->text), taken = name;
    if (keyword(result) != "let ") {
      taken = bindings_.fresh(name + "_after");
      more += indent + keyword(result) + name + " = " + taken;
    }
    names += (names.empty() ? "" : ", ") + taken;
  }
  return "let (" + names + ") = " + call() + more;
}

std::vector<Edit> Extraction::edits(bool withConditions) {
  std::string result = valueType_ ? typeText(*valueType_, false) : resultType();
  // A name that is a dimension is visible in the body as an `int`, so it need not be a parameter
  // too.
  std::erase_if(params_, [&](const Param &param) { return dimArgs_.contains(param.name); });
  std::string text = "fn " + name_ + generics() + "(";
  for (size_t i = 0; i < params_.size(); ++i)
    text += (i ? ", " : "") + params_[i].name + ": " + params_[i].type;
  std::string where = withConditions ? conditions() : "";
  text += ") -> " + result + where + (where.empty() ? " {\n" : "\n{\n") + body() + "\n}\n";
  uint32_t at = startWithDocs(tree_, bindings_.declaration());
  return {{{at, at}, formatted(text) + "\n"}, {range_, replacement()}};
}

} // namespace ptl::ide
