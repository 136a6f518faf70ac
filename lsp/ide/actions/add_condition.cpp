// States what the checker cannot prove: adds the `where` or `assert` that a diagnostic asks for.
#include "lsp/ide/actions/refactoring.h"

#include <algorithm>

namespace ptl::ide {
namespace {

struct Condition {
  const Diagnostic *diagnostic = nullptr;
  bool isWhere = false;
  std::string text;
};

/// The parts of a help between backticks that are a `where` or an `assert`.
void collect(const Diagnostic &diagnostic, const std::string &help, std::vector<Condition> &found) {
  for (size_t open = help.find('`'); open != help.npos; open = help.find('`', open)) {
    size_t close = help.find('`', open + 1);
    if (close == help.npos)
      return;
    std::string code = help.substr(open + 1, close - open - 1);
    open = close + 1;
    constexpr std::string_view where = "where ", assert = "assert(";
    if (code.starts_with(where) && code.size() > where.size())
      found.push_back({&diagnostic, true, code.substr(where.size())});
    else if (code.starts_with(assert) && code.ends_with(")"))
      found.push_back(
          {&diagnostic, false, code.substr(assert.size(), code.size() - assert.size() - 1)});
  }
}

std::vector<Condition> conditions(const ActionContext &context) {
  std::vector<Condition> found;
  for (const Diagnostic &diagnostic : context.check.diagnostics) {
    bool isHere = diagnostic.span.begin <= context.selected.end &&
                  context.selected.begin <= diagnostic.span.end &&
                  diagnostic.span.file == context.chunk->id();
    if (!isHere)
      continue;
    std::vector<Condition> own;
    for (const std::string &help : diagnostic.helps) {
      bool isFix = std::any_of(diagnostic.fixes.begin(), diagnostic.fixes.end(),
                               [&](const Fix &fix) { return fix.title == help; });
      if (!isFix)
        collect(diagnostic, help, own);
    }
    found.insert(found.end(), own.begin(), own.end());
  }
  return found;
}

NodeId callableAround(const ActionContext &context, uint32_t offset) {
  const Tree &tree = context.tree;
  NodeId node = enclosingDecl(tree, tree.nodeAt(offset));
  bool isCallable = tree.is(node, NodeKind::FnDecl) || tree.is(node, NodeKind::KernelDecl) ||
                    tree.is(node, NodeKind::ProgramDecl);
  return isCallable ? node : kNoNode;
}

Edit whereEdit(const ActionContext &context, NodeId callable, const std::string &condition) {
  const Tree &tree = context.tree;
  CallableView view(tree, callable);
  if (view.where() != kNoNode) {
    uint32_t end = tree.span(view.where()).end;
    return {{end, end}, ", " + condition};
  }
  NodeId before = view.clause() != kNoNode    ? view.clause()
                  : view.results() != kNoNode ? view.results()
                                              : view.params();
  uint32_t end = tree.span(before).end;
  // The rest of the line is moved below the condition.
  uint32_t next = end;
  while (next < context.text().size() && context.text()[next] == ' ')
    ++next;
  bool isLineEnd = next >= context.text().size() || context.text()[next] == '\n';
  return {{end, isLineEnd ? end : next}, "\nwhere " + condition + (isLineEnd ? "" : "\n")};
}

} // namespace

std::vector<Offer> addConditionOffers(const ActionContext &context) {
  std::vector<Offer> offers;
  int variant = 0;
  for (const Condition &condition : conditions(context)) {
    bool fits =
        !condition.isWhere || callableAround(context, condition.diagnostic->span.begin) != kNoNode;
    if (fits)
      offers.push_back({condition.isWhere ? "Require it: `where " + condition.text + "`"
                                          : "State it: `assert(" + condition.text + ")`",
                        variant, condition.diagnostic});
    ++variant;
  }
  return offers;
}

Outcome addConditionEdits(const ActionContext &context, int variant) {
  std::vector<Condition> all = conditions(context);
  if (variant < 0 || static_cast<size_t>(variant) >= all.size())
    return refuse("this action is no longer available here");
  const Condition &condition = all[static_cast<size_t>(variant)];
  uint32_t at = condition.diagnostic->span.begin;
  if (condition.isWhere) {
    NodeId callable = callableAround(context, at);
    if (callable == kNoNode)
      return refuse("there is no header around it");
    return {{whereEdit(context, callable, condition.text)}, ""};
  }
  NodeId statement = statementAround(context.tree, context.tree.nodeAt(at));
  if (statement == kNoNode)
    return refuse("there is no statement around it");
  uint32_t begin = context.tree.span(statement).begin;
  std::string indent(indentAt(context.text(), begin));
  return {{{{begin, begin}, "assert(" + condition.text + ")\n" + indent}}, ""};
}

} // namespace ptl::ide
