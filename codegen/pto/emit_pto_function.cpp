#include "codegen/pto/emit_pto_function.h"

#include "codegen/pto/emit_pto_buffers.h"
#include "codegen/pto/emit_pto_instructions.h"
#include "codegen/pto/emit_pto_order.h"
#include "codegen/pto/emit_pto_queues.h"
#include "codegen/pto/emit_pto_scalars.h"
#include "codegen/pto/emit_pto_views.h"
#include "ir/dialect/cross_core.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

namespace {

/// Where one hub holds the flags between cores, PTOAS wants to be told where it is: whoever
/// launches the kernel asks the runtime for its address.
bool needsFlagsBase(PtoCode &code) {
  return !code.machine().exchange.throughBuffer && hasCoreEvents(code.function());
}

std::string signature(PtoCode &code) {
  std::string text = "func.func @" + functionName(code.function().getSymName()) + "(";
  if (needsFlagsBase(code))
    text += "%ffts: memref<256xi64>, ";
  for (BlockArgument argument : code.function().getArguments())
    text +=
        (argument.getArgNumber() ? ", " : "") + code.name(argument) + ": " + code.typeOf(argument);
  text += ") attributes {";
  if (code.function()->hasAttr("pto.entry"))
    text += "pto.entry, ";
  if (std::optional<KernelKind> kind = kernelKindOf(code.function()))
    text += "pto.kernel_kind = #pto.kernel_kind<" + stringifyKernelKind(*kind).str() + ">";
  return text + "} {";
}

std::string labelOf(PtoCode &code, Block *block) {
  unsigned number =
      // The number of a block is its place in the function.
      static_cast<unsigned>(std::distance(code.function().getBody().begin(), block->getIterator()));
  return "^bb" + std::to_string(number);
}

void emitLabel(PtoCode &code, Block &block) {
  std::string arguments;
  for (BlockArgument argument : block.getArguments())
    arguments +=
        (arguments.empty() ? "(" : ", ") + code.name(argument) + ": " + code.typeOf(argument);
  // A label stands to the left of the block's lines.
  code.body().dedent(2);
  code.body().add(labelOf(code, &block) + (arguments.empty() ? "" : arguments + ")") + ":");
  code.body().indent(2);
}

/// `^bb2(%i : index)`
std::string target(PtoCode &code, Block *block, ValueRange passed) {
  return labelOf(code, block) +
         (passed.empty() ? "" : "(" + code.names(passed) + " : " + code.typed(passed) + ")");
}

// ---- control flow ------------------------------------------------------------------------------

void emitBlock(PtoCode &code, Block &block);

/// ` -> (f32, index)`; nothing for an operation without results.
std::string resultTypes(PtoCode &code, Operation *op) {
  std::string text;
  for (Value value : op->getResults())
    text += (text.empty() ? " -> (" : ", ") + code.typeOf(value);
  return text.empty() ? text : text + ")";
}

void emitFor(PtoCode &code, scf::ForOp loop) {
  // The names of results are given before the body, so that they do not depend on what is in it.
  std::string results = code.names(loop.getResults()), carried;
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    carried +=
        (carried.empty() ? " iter_args(" : ", ") + code.name(argument) + " = " + code.name(init);
  if (!carried.empty())
    carried += ")" + resultTypes(code, loop);
  // The type of the induction variable stands where it is not index.
  Type type = loop.getInductionVar().getType();
  std::string ofType = type.isIndex() ? "" : " : " + code.typeText(type);
  std::string head = code.name(loop.getInductionVar()) + " = " + code.name(loop.getLowerBound()) +
                     " to " + code.name(loop.getUpperBound()) + " step " +
                     code.name(loop.getStep());
  code.body().add((results.empty() ? "" : results + " = ") + "scf.for " + head + carried + ofType +
                      " {",
                  placeOf(loop));
  code.body().indent(2);
  emitBlock(code, *loop.getBody());
  code.body().dedent(2);
  // The location of a loop stands behind its region, where MLIR's syntax has it.
  code.line(loop, "}");
}

void emitIf(PtoCode &code, scf::IfOp branch) {
  std::string results = code.names(branch.getResults());
  code.body().add((results.empty() ? "" : results + " = ") + "scf.if " +
                      code.name(branch.getCondition()) + resultTypes(code, branch) + " {",
                  placeOf(branch));
  code.body().indent(2);
  emitBlock(code, branch.getThenRegion().front());
  code.body().dedent(2);
  if (!branch.getElseRegion().empty()) {
    code.body().add("} else {", placeOf(branch));
    code.body().indent(2);
    emitBlock(code, branch.getElseRegion().front());
    code.body().dedent(2);
  }
  code.line(branch, "}");
}

void emitWhile(PtoCode &code, scf::WhileOp loop) {
  std::string results = code.names(loop.getResults()), inits, from;
  for (auto [argument, init] : llvm::zip(loop.getBeforeArguments(), loop.getInits())) {
    inits += (inits.empty() ? " (" : ", ") + code.name(argument) + " = " + code.name(init);
    from += (from.empty() ? "" : ", ") + code.typeOf(init);
  }
  std::string to = resultTypes(code, loop);
  code.body().add((results.empty() ? "" : results + " = ") + "scf.while" +
                      (inits.empty() ? " ()" : inits + ")") + " : (" + from + ")" +
                      (to.empty() ? " -> ()" : to) + " {",
                  placeOf(loop));
  code.body().indent(2);
  emitBlock(code, loop.getBefore().front());
  code.body().dedent(2);
  code.body().add("} do {", placeOf(loop));
  std::string arguments;
  for (BlockArgument argument : loop.getAfterArguments())
    arguments +=
        (arguments.empty() ? "^bb0(" : ", ") + code.name(argument) + ": " + code.typeOf(argument);
  if (!arguments.empty())
    code.body().add(arguments + "):");
  code.body().indent(2);
  emitBlock(code, loop.getAfter().front());
  code.body().dedent(2);
  code.line(loop, "}");
}

void emitYield(PtoCode &code, Operation *op) {
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    std::string passed = code.names(condition.getArgs());
    code.body().add(
        "scf.condition(" + code.name(condition.getCondition()) + ")" +
            (passed.empty() ? "" : " " + passed + " : " + code.typed(condition.getArgs())),
        placeOf(op));
  } else if (op->getNumOperands()) {
    // A yield of nothing is implicit.
    code.body().add("scf.yield " + code.names(op->getOperands()) + " : " +
                        code.typed(op->getOperands()),
                    placeOf(op));
  }
}

void emitOp(PtoCode &code, Operation *op) {
  if (std::string why = reasonOf(op); !why.empty())
    code.body().add("// " + why, placeOf(op));
  llvm::TypeSwitch<Operation *>(op)
      .Case<arith::ConstantOp, UnrealizedConversionCastOp>([](auto) {}) // made where it is used
      .Case<scf::ForOp>([&](auto loop) { emitFor(code, loop); })
      .Case<scf::IfOp>([&](auto branch) { emitIf(code, branch); })
      .Case<scf::WhileOp>([&](auto loop) { emitWhile(code, loop); })
      .Case<scf::YieldOp, scf::ConditionOp>([&](auto) { emitYield(code, op); })
      .Case<cf::BranchOp>([&](auto jump) {
        code.line(op, "cf.br " + target(code, jump.getDest(), jump.getDestOperands()));
      })
      .Case<cf::CondBranchOp>([&](auto branch) {
        code.line(op, "cf.cond_br " + code.name(branch.getCondition()) + ", " +
                          target(code, branch.getTrueDest(), branch.getTrueDestOperands()) + ", " +
                          target(code, branch.getFalseDest(), branch.getFalseDestOperands()));
      })
      .Case<func::ReturnOp>([&](auto) { code.body().add("return", placeOf(op)); })
      .Default([&](Operation *) {
        // Each of the functions says whether it knows the operation; arithmetic is what remains.
        if (Instruction instruction(op); instruction)
          emitInstruction(code, instruction);
        else if (!emitBuffer(code, op) && !emitView(code, op) && !emitQueue(code, op) &&
                 !emitOrder(code, op))
          emitScalar(code, op);
      });
}

void emitBlock(PtoCode &code, Block &block) {
  for (Operation &op : block)
    emitOp(code, &op);
}

} // namespace

TextLines emitFunction(func::FuncOp function, const Machine &machine, PtoasVersion version,
                       const TypeAliases &types, std::vector<Finding> &findings) {
  PtoCode code(function, machine, version, types, findings);
  // The body is emitted first, because only that finds the constants that stand before it.
  TextLines text;
  text.indent(2);
  text.add(signature(code), placeOf(function));
  code.body().indent(4);
  if (needsFlagsBase(code))
    code.body().add("pto.set_ffts %ffts : memref<256xi64>");
  for (Block &block : function.getBody()) {
    if (!block.isEntryBlock())
      emitLabel(code, block);
    emitBlock(code, block);
  }
  text.indent(2);
  code.addConstants(text);
  text.append(std::move(code.body()));
  text.dedent(2);
  text.add("}");
  return text;
}

} // namespace ptl::pto
