// Functions and control flow as C++.
#include "codegen/pto/cpp_emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

void CppFunctionEmitter::line(Operation *op, const std::string &text) {
  body_.add(text, placeOf(op));
}

void CppFunctionEmitter::open(Operation *op, const std::string &text) {
  line(op, text + " {");
  body_.indent(2);
}

void CppFunctionEmitter::close(Operation *op) {
  body_.dedent(2);
  body_.add("}");
}

void CppFunctionEmitter::missing(Operation *op, const std::string &what) {
  findings_.push_back({placeOf(op), 0, what, true});
}

std::string CppFunctionEmitter::parameters() {
  std::string text;
  for (BlockArgument argument : function_.getArguments()) {
    auto pointer = dyn_cast<PtrType>(argument.getType());
    text += (text.empty() ? "" : ", ") +
            (pointer ? "__gm__ " + cppElement(pointer.getElementType()) + " *"
                     : cppElement(argument.getType()) + " ") +
            names_.of(argument);
  }
  return text;
}

TextLines CppFunctionEmitter::emitBody() {
  body_.indent(2);
  emitBlock(function_.getBody().front());
  return std::move(body_);
}

void CppFunctionEmitter::emitBlock(Block &block) {
  for (Operation &op : block) {
    emitOp(&op);
    // What dies with an operation is given back behind it.
    leave(&op);
  }
}

void CppFunctionEmitter::emitOp(Operation *op) {
  if (std::string why = reasonOf(op); !why.empty())
    line(op, "// " + why);
  llvm::TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](auto loop) { emitFor(loop); })
      .Case<scf::IfOp>([&](auto branch) { emitIf(branch); })
      .Case<scf::WhileOp>([&](auto loop) { emitWhile(loop); })
      .Case<scf::YieldOp, scf::ConditionOp, func::ReturnOp>([&](auto) {}) // made by what they end
      .Default([&](Operation *) {
        if (Instruction instruction(op); instruction)
          emitInstructionOp(instruction);
        // Each of the functions says whether it knows the operation; scalars are what remains.
        else if (!isInlined(op) && !emitOther(op) && !emitBuffer(op) && !emitView(op) &&
                 !emitQueue(op) && !emitOrder(op))
          emitScalar(op);
      });
}

void CppFunctionEmitter::emitScalar(Operation *op) {
  if (op->getNumResults() != 1)
    return missing(op, "`" + op->getName().getStringRef().str() + "` has no spelling in C++");
  CppExpression value = operationExpression(op);
  Type type = op->getResult(0).getType();
  line(op, "const " + (type.isInteger(1) ? std::string("bool") : cppElement(type)) + " " +
               names_.of(op->getResult(0)) + " = " + value.text + ";");
}

/// All values are read before the first variable changes.
void CppFunctionEmitter::assign(Operation *op, ValueRange targets, ValueRange values) {
  std::vector<std::string> texts;
  for (Value value : values)
    texts.push_back(text(value));
  bool several = texts.size() > 1;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string target = names_.of(targets[i]);
    // A value that stays in its variable needs no assignment.
    if (texts[i] == target)
      continue;
    // With a single value nothing can be overwritten too early.
    if (!several) {
      line(op, target + " = " + texts[i] + ";");
      continue;
    }
    std::string next = names_.fresh(target + "_next");
    line(op, "const auto " + next + " = " + texts[i] + ";");
    texts[i] = next;
  }
  for (size_t i = 0; several && i < texts.size(); ++i)
    if (texts[i] != names_.of(targets[i]))
      line(op, names_.of(targets[i]) + " = " + texts[i] + ";");
}

void CppFunctionEmitter::emitFor(scf::ForOp loop) {
  for (auto [argument, init, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    line(loop,
         cppElement(argument.getType()) + " " + names_.of(argument) + " = " + text(init) + ";");
    // The variables hold the results when the loop ends.
    names_.set(result, names_.of(argument));
  }
  const std::string variable = names_.of(loop.getInductionVar());
  CppExpression step = expression(loop.getStep());
  open(loop, "for (" + cppElement(loop.getInductionVar().getType()) + " " + variable + " = " +
                 text(loop.getLowerBound()) + "; " + variable + " < " +
                 expression(loop.getUpperBound()).within(Precedence::Shift) + "; " +
                 (step.text == "1" ? "++" + variable : variable + " += " + step.text) + ")");
  emitBlock(*loop.getBody());
  Operation *yield = loop.getBody()->getTerminator();
  assign(yield, loop.getRegionIterArgs(), yield->getOperands());
  close(loop);
}

void CppFunctionEmitter::emitIf(scf::IfOp branch) {
  // Results are declared before the branch, because both arms assign them.
  for (Value result : branch.getResults())
    line(branch, cppElement(result.getType()) + " " + names_.of(result) + ";");
  auto arm = [&](Block &block) {
    emitBlock(block);
    Operation *yield = block.getTerminator();
    assign(yield, branch.getResults(), yield->getOperands());
    // The caller prints what stands between the arms.
    body_.dedent(2);
  };
  open(branch, "if (" + text(branch.getCondition()) + ")");
  arm(branch.getThenRegion().front());
  if (!branch.getElseRegion().empty()) {
    body_.add("} else {", placeOf(branch));
    body_.indent(2);
    arm(branch.getElseRegion().front());
  }
  body_.add("}");
}

void CppFunctionEmitter::emitWhile(scf::WhileOp loop) {
  for (auto [argument, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits()))
    line(loop,
         cppElement(argument.getType()) + " " + names_.of(argument) + " = " + text(init) + ";");
  for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults())) {
    line(loop, cppElement(argument.getType()) + " " + names_.of(argument) + ";");
    names_.set(result, names_.of(argument));
  }
  // The condition may need statements, so it is tested in the body.
  open(loop, "while (true)");
  emitBlock(loop.getBefore().front());
  auto condition = cast<scf::ConditionOp>(loop.getBefore().front().getTerminator());
  const std::string holds = text(condition.getCondition());
  // The arguments are assigned before the exit, because they are the results.
  assign(condition, loop.getAfterArguments(), condition.getArgs());
  line(condition, "if (!(" + holds + ")) break;");
  emitBlock(loop.getAfter().front());
  Operation *yield = loop.getAfter().front().getTerminator();
  assign(yield, loop.getBeforeArguments(), yield->getOperands());
  close(loop);
}

} // namespace ptl::pto
