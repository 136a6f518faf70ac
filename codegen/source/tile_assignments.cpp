#include "codegen/source/tile_assignments.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_literals.h"
#include "codegen/source/tile_positions.h"

using namespace mlir;

namespace ptl::source {

/// Assigns as if at once: what is read is assigned later, or kept under another name.
static void assignAll(BodyCode &code, ValueRange targets, ValueRange values) {
  struct Assignment {
    std::string name, place;
    Expression value;
    std::set<std::string> reads;
  };
  std::vector<Assignment> open;
  for (auto [target, each] : llvm::zip(targets, values)) {
    Expression text = positionText(code, each);
    std::string name = code.known(target).text;
    // A constant takes its type from the variable.
    if (Operation *op = each.getDefiningOp(); op && isConstantLike(op) && !code.isKnown(each))
      text = literalText(op->getAttr("value"), each.getType(), false);
    // An assignment of a variable to itself is left out.
    if (text.text != name)
      open.push_back({name, code.kind().placeOf(each), text, identifiersOf(text.text)});
  }
  while (!open.empty()) {
    // An assignment is free if no other one still reads its target. This is the ordering of a
    // parallel copy.
    auto free = llvm::find_if(open, [&](const Assignment &each) {
      return llvm::none_of(open, [&](const Assignment &other) {
        return &other != &each && other.reads.count(each.name) != 0;
      });
    });
    // Every target is read by another assignment: keeping one value under another name breaks the
    // circle.
    if (free == open.end()) { // a circle
      Assignment &first = open.front();
      std::string kept = code.names().fresh(first.name + "_next");
      code.line("let " + kept + (first.place.empty() ? "" : ": _ @" + first.place) + " = " +
                first.value.text);
      first.value = {kept};
      first.reads = {kept};
      continue;
    }
    // `x = x + y` is written `x += y`, but not where the rest would bind differently.
    llvm::StringRef text = free->value.text;
    bool isUpdate = free->value.bind == Precedence::Sum && text.consume_front(free->name + " + ") &&
                    text.find(" + ") == text.npos && text.find(" - ") == text.npos;
    code.line(isUpdate ? free->name + " += " + text.str() : free->name + " = " + free->value.text);
    open.erase(free);
  }
}

void printAssignments(BodyCode &code, Operation *at, ValueRange targets, ValueRange values) {
  StatementScope scope(code, at);
  // What is computed for the operation stands before it, in the loop.
  code.kind().before(at);
  assignAll(code, targets, values);
}

void printYield(BodyCode &code, mlir::Block &block, ValueRange targets) {
  Operation *yield = block.getTerminator();
  printAssignments(code, yield, targets, yield->getOperands());
  code.kind().closed(block);
}

} // namespace ptl::source
