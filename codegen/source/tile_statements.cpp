#include "codegen/source/tile_statements.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_branches.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_folds.h"
#include "codegen/source/tile_inlining.h"
#include "codegen/source/tile_literals.h"
#include "codegen/source/tile_loops.h"
#include "codegen/source/tile_order.h"
#include "codegen/source/tile_positions.h"
#include "codegen/source/tile_stores.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ptl::source {

std::string assertText(const std::string &holds, llvm::StringRef text, bool hasValues) {
  std::string message;
  if (hasValues)
    // Values at the end of the message are printed again by the assertion. What the author wrote
    // may look the same, so the last colon is theirs.
    text = text.take_front(text.rfind(": `"));
  for (size_t i = 0; i < text.size(); ++i) {
    // A doubled brace stands for one.
    bool isDouble = text[i] == '{' && i + 1 < text.size() && text[i + 1] == '{';
    message += text[i];
    i += isDouble;
  }
  return "assert(" + holds + ", " + source::quoted(message) + ")";
}

/// Checks of bounds and conversions are made again by the builder; the others are the author's.
static void printCheck(BodyCode &code, ir::CheckOp check) {
  if (isMadeAgain(check))
    return;
  code.line(assertText(valueText(code, check.getCondition()).text, check.getMessage(),
                       !check.getValues().empty()));
}

static void printResults(BodyCode &code, Operation *op) {
  if (givesTuple(op))
    return printTupleFold(code, op);
  if (op->getNumResults() == 1) {
    // A cast with a place is a statement of its own: `let x: _ @vec = …`.
    if (auto placed = dyn_cast<ir::CastOp>(op)) {
      std::string own = block::nameOf(placed.getLoc());
      std::string name =
          code.names().fresh(isIdentifier(own) ? own : wantedName(code, placed.getResult()));
      std::string place =
          ir::placeName(llvm::cast<ir::ArrayType>(placed.getType()).getPlace()).str();
      code.line("let " + name + ": _ @" + place + " = " + valueText(code, placed.getSource()).text);
      return code.know(placed.getResult(), name);
    }
    if (needsTypedName(op)) {
      Expression position = valueText(code, op->getOperand(0));
      std::string name = code.names().fresh("n");
      code.line("let " + name + ": " + elementText(op->getResult(0).getType()) + " = " +
                position.text);
      return code.know(op->getResult(0), name);
    }
    std::string place = code.kind().placeOf(op->getResult(0)),
                wanted = wantedName(code, op->getResult(0));
    // A value in the usual place says nothing about it.
    if (place.empty())
      return code.let(op->getResult(0), asPosition(op, expressionOf(code, op)), wanted);
    Expression tile = expressionOf(code, op);
    std::string name = code.names().fresh(wanted);
    code.line("let " + name + ": _ @" + place + " = " + tile.text);
    return code.know(op->getResult(0), name);
  }
  Expression expression = expressionOf(code, op);
  std::vector<std::string> names;
  for (Value result : op->getResults()) {
    // Unused parts of a tuple are marked, because the checker warns of them.
    bool isUsed = !result.use_empty();
    names.push_back(code.names().fresh((isUsed ? "" : "_") + wantedName(code, result)));
    code.know(result, names.back());
  }
  code.line("let (" + llvm::join(names, ", ") + ") = " + expression.text);
}

static void printStatement(BodyCode &code, Operation *op) {
  StatementScope scope(code, op);
  code.kind().before(op);
  // Kinds of bodies may print some operations in their own way.
  if (code.kind().special(op))
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return printFor(code, loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return printWhile(code, loop);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return printBranch(code, choice);
  if (auto each = dyn_cast<ir::StoreOp>(op))
    return printStore(code, each);
  if (auto each = dyn_cast<ir::InsertOp>(op))
    return printInsert(code, each);
  if (auto each = dyn_cast<ir::CheckOp>(op))
    return printCheck(code, each);
  if (auto each = dyn_cast<ir::ParallelOp>(op))
    return printGrid(code, each);
  // An operation without results is a statement.
  if (op->getNumResults() == 0)
    return code.line(expressionOf(code, op).text);
  // The name of a length must be bound exactly once, where it is computed.
  if (isPositionOp(op) || !block::nameOf(op->getLoc()).empty())
    if (std::string name = code.kind().lengthName(op->getResult(0)); !name.empty())
      return code.let(op->getResult(0), expressionOf(code, op), name);
  // A long position that is used often gets a name; what a branch asks for stands there, so that its
  // arms are known to have it.
  bool isCondition =
      op->getResult(0).getType().isInteger(1) &&
      llvm::all_of(op->getUsers(), [](Operation *user) { return isa<scf::IfOp>(user); });
  bool often = isPositionOp(op) && code.isWrittenOften(op) && !code.isKnown(op->getResult(0)) &&
               !isCondition;
  if (often) {
    Expression expression = asPosition(op, positionOpText(code, op));
    if (weightOf(expression.text) > kShort)
      code.let(op->getResult(0), expression, code.nameHint(op));
    return;
  }
  if (!isInlined(code, op) && !op->use_empty())
    printResults(code, op);
}

void printBlock(BodyCode &code, mlir::Block &block) {
  // Where the order matters for the name, names are given before anything is printed.
  if (code.kind().keepsOrder())
    nameByOrder(code, block);
  for (Operation &op : block.without_terminator())
    printStatement(code, &op);
}

} // namespace ptl::source
