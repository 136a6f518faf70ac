#include "codegen/pto/emit_cpp_function.h"

#include "codegen/pto/cpp_expressions.h"
#include "codegen/pto/emit_cpp_buffers.h"
#include "codegen/pto/emit_cpp_instructions.h"
#include "codegen/pto/emit_cpp_order.h"
#include "codegen/pto/emit_cpp_queues.h"
#include "codegen/pto/emit_cpp_views.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

void emitScalar(CppCode &code, Operation *op) {
  // A statement declares one variable; what has none or several would need a form of its own.
  if (op->getNumResults() != 1)
    return code.missing(op, "`" + op->getName().getStringRef().str() + "` has no spelling in C++");
  CppExpression value = operationExpression(code, op);
  Type type = op->getResult(0).getType();
  code.line(op, "const " + (type.isInteger(1) ? std::string("bool") : cppElement(type)) + " " +
                    code.names().of(op->getResult(0)) + " = " + value.text + ";");
}

/// All values are read before the first variable changes.
void assign(CppCode &code, Operation *op, ValueRange targets, ValueRange values) {
  std::vector<std::string> texts;
  for (Value value : values)
    texts.push_back(textOf(code, value));
  bool several = texts.size() > 1;
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string target = code.names().of(targets[i]);
    // A value that stays in its variable needs no assignment.
    if (texts[i] == target)
      continue;
    // With a single value nothing can be overwritten too early.
    if (!several) {
      code.line(op, target + " = " + texts[i] + ";");
      continue;
    }
    // Another value may still read the variable, so the new value waits under a name of its own.
    std::string next = code.names().fresh(target + "_next");
    code.line(op, "const auto " + next + " = " + texts[i] + ";");
    texts[i] = next;
  }
  for (size_t i = 0; several && i < texts.size(); ++i)
    if (texts[i] != code.names().of(targets[i]))
      code.line(op, code.names().of(targets[i]) + " = " + texts[i] + ";");
}

void emitFor(CppCode &code, scf::ForOp loop) {
  for (auto [argument, init, result] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    code.line(loop, cppElement(argument.getType()) + " " + code.names().of(argument) + " = " +
                        textOf(code, init) + ";");
    // The variables hold the results when the loop ends.
    code.names().set(result, code.names().of(argument));
  }
  const std::string variable = code.names().of(loop.getInductionVar());
  CppExpression step = expression(code, loop.getStep());
  code.open(loop, "for (" + cppElement(loop.getInductionVar().getType()) + " " + variable + " = " +
                      textOf(code, loop.getLowerBound()) + "; " + variable + " < " +
                      expression(code, loop.getUpperBound()).within(Precedence::Shift) + "; " +
                      (step.text == "1" ? "++" + variable : variable + " += " + step.text) + ")");
  emitBlock(code, *loop.getBody());
  Operation *yield = loop.getBody()->getTerminator();
  assign(code, yield, loop.getRegionIterArgs(), yield->getOperands());
  code.close();
}

void emitIf(CppCode &code, scf::IfOp branch) {
  // Results are declared before the branch, because both arms assign them.
  for (Value result : branch.getResults())
    code.line(branch, cppElement(result.getType()) + " " + code.names().of(result) + ";");
  auto arm = [&](Block &block) {
    emitBlock(code, block);
    Operation *yield = block.getTerminator();
    assign(code, yield, branch.getResults(), yield->getOperands());
    // The caller prints what stands between the arms.
    code.body().dedent(2);
  };
  code.open(branch, "if (" + textOf(code, branch.getCondition()) + ")");
  arm(branch.getThenRegion().front());
  if (!branch.getElseRegion().empty()) {
    code.body().add("} else {", placeOf(branch));
    code.body().indent(2);
    arm(branch.getElseRegion().front());
  }
  code.body().add("}");
}

void emitWhile(CppCode &code, scf::WhileOp loop) {
  for (auto [argument, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits()))
    code.line(loop, cppElement(argument.getType()) + " " + code.names().of(argument) + " = " +
                        textOf(code, init) + ";");
  for (auto [argument, result] : llvm::zip(loop.getAfterArguments(), loop.getResults())) {
    code.line(loop, cppElement(argument.getType()) + " " + code.names().of(argument) + ";");
    code.names().set(result, code.names().of(argument));
  }
  // The condition may need statements, so it is tested in the body.
  code.open(loop, "while (true)");
  emitBlock(code, loop.getBefore().front());
  auto condition = cast<scf::ConditionOp>(loop.getBefore().front().getTerminator());
  const std::string holds = textOf(code, condition.getCondition());
  // The arguments are assigned before the exit, because they are the results.
  assign(code, condition, loop.getAfterArguments(), condition.getArgs());
  code.line(condition, "if (!(" + holds + ")) break;");
  emitBlock(code, loop.getAfter().front());
  Operation *yield = loop.getAfter().front().getTerminator();
  assign(code, yield, loop.getBeforeArguments(), yield->getOperands());
  code.close();
}

bool emitExtension(CppCode &code, Operation *op) {
  return code.extension() && code.extension()->emit(op);
}

void emitOp(CppCode &code, Operation *op) {
  if (std::string why = reasonOf(op); !why.empty())
    code.line(op, "// " + why);
  llvm::TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](auto loop) { emitFor(code, loop); })
      .Case<scf::IfOp>([&](auto branch) { emitIf(code, branch); })
      .Case<scf::WhileOp>([&](auto loop) { emitWhile(code, loop); })
      .Case<scf::YieldOp, scf::ConditionOp, func::ReturnOp>([&](auto) {}) // made by what they end
      .Default([&](Operation *) {
        if (Instruction instruction(op); instruction)
          emitInstruction(code, instruction);
        // Each of the functions says whether it knows the operation; scalars are what remains.
        else if (!isInlined(op) && !emitExtension(code, op) && !emitBuffer(code, op) &&
                 !emitView(code, op) && !emitQueue(code, op) && !emitOrder(code, op))
          emitScalar(code, op);
      });
}

} // namespace

std::string parametersOf(CppCode &code) {
  std::string text;
  for (BlockArgument argument : code.function().getArguments()) {
    auto pointer = dyn_cast<PtrType>(argument.getType());
    text += (text.empty() ? "" : ", ") +
            (pointer ? "__gm__ " + cppElement(pointer.getElementType()) + " *"
                     : cppElement(argument.getType()) + " ") +
            code.names().of(argument);
  }
  return text;
}

void emitBlock(CppCode &code, Block &block) {
  for (Operation &op : block) {
    emitOp(code, &op);
    // What dies with an operation is given back behind it.
    if (CppExtension *extension = code.extension())
      extension->leave(&op);
  }
}

TextLines emitBody(CppCode &code) {
  code.body().indent(2);
  emitBlock(code, code.function().getBody().front());
  return std::move(code.body());
}

} // namespace ptl::pto
