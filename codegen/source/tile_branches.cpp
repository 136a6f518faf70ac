#include "codegen/source/tile_branches.h"

#include "codegen/source/tile_assignments.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_positions.h"
#include "codegen/source/tile_statements.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

/// The variables that a branch gives new values: those that one of its arms keeps and nothing else
/// asks for. Empty: its results are new values.
static llvm::SmallVector<Value> assignedBy(const BodyCode &code, scf::IfOp branch) {
  llvm::SmallVector<Value> targets;
  if (branch.getElseRegion().empty())
    return {};
  // Each result must go to a variable that one arm leaves as it is, and that nothing else reads.
  for (auto [yes, no] :
       llvm::zip(branch.thenYield().getOperands(), branch.elseYield().getOperands())) {
    auto isKept = [&](Value value) {
      return code.isVariable(value) && !llvm::is_contained(targets, value) &&
             // A variable of the arm itself ends with it.
             !branch->isAncestor(value.getParentBlock()->getParentOp()) &&
             llvm::all_of(value.getUsers(),
                          [&](Operation *user) { return branch->isAncestor(user); });
    };
    Value target = isKept(no) ? no : isKept(yes) ? yes : Value();
    // One result without such a variable makes the branch an expression.
    if (!target)
      return {};
    targets.push_back(target);
  }
  return targets;
}

static void printAssigningBranch(BodyCode &code, scf::IfOp branch, ValueRange targets) {
  for (Value target : targets)
    code.setBranchAssigning(target, branch);
  auto arm = [&](mlir::Block &body) {
    printBlock(code, body);
    printYield(code, body, targets);
  };
  code.line("if " + valueText(code, branch.getCondition()).text + " {");
  arm(*branch.thenBlock());
  // The text of an arm is printed apart, because an arm without statements is left out.
  std::string before = code.takeText();
  arm(*branch.elseBlock());
  std::string other = code.takeText();
  code.addText(before);
  if (!other.empty()) {
    code.line("} else {");
    code.addText(other);
  }
  code.line("}");
  for (auto [result, target] : llvm::zip(branch.getResults(), targets)) {
    code.setBranchAssigning(target, nullptr);
    code.knowVariable(result, code.known(target).text);
  }
}

/// What an arm ends in: one value, several in brackets, or nothing.
static void printValues(BodyCode &code, Operation *end) {
  StatementScope scope(code, end);
  code.kind().before(end);
  ValueRange values = end->getOperands();
  if (values.size() == 1)
    return code.line(positionText(code, values[0]).text);
  if (values.empty())
    return;
  std::vector<std::string> texts;
  for (Value each : values)
    texts.push_back(positionText(code, each).text);
  code.line("(" + llvm::join(texts, ", ") + ")");
}

void printBranch(BodyCode &code, scf::IfOp branch) {
  if (llvm::SmallVector<Value> targets = assignedBy(code, branch); !targets.empty())
    return printAssigningBranch(code, branch, targets);
  // The arms end in their values.
  auto arm = [&](Region &region) {
    if (region.empty())
      return;
    printBlock(code, region.front());
    printValues(code, region.front().getTerminator());
    code.kind().closed(region.front());
  };
  std::string head = "if " + valueText(code, branch.getCondition()).text + " {";
  // Names are taken before the arms, so that arms cannot take them.
  std::vector<std::string> names;
  for (Value result : branch.getResults())
    names.push_back(code.names().fresh(wantedName(code, result)));
  if (names.size() == 1)
    head = "let " + names[0] + " = " + head;
  else if (!names.empty())
    head = "let (" + llvm::join(names, ", ") + ") = " + head;
  code.line(head);
  arm(branch.getThenRegion());
  // An empty arm is left out where the branch has no value.
  bool hasElse = !branch.getElseRegion().empty() &&
                 (!names.empty() || !branch.getElseRegion().front().without_terminator().empty());
  if (hasElse) {
    code.line("} else {");
    arm(branch.getElseRegion());
  }
  code.line("}");
  for (auto [result, name] : llvm::zip(branch.getResults(), names))
    code.know(result, name);
}

} // namespace ptl::source
