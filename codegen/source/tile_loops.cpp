#include "codegen/source/tile_loops.h"

#include "codegen/source/op_kinds.h"
#include "codegen/source/tile_assignments.h"
#include "codegen/source/tile_expressions.h"
#include "codegen/source/tile_literals.h"
#include "codegen/source/tile_positions.h"
#include "codegen/source/tile_ranges.h"
#include "codegen/source/tile_statements.h"
#include "ir/dialect/attributes.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

/// Whether boxes begin at the position and are as long as a step: then it is a range.
static bool isTiled(BlockArgument position, Value upper, Value step, OpenRange &range) {
  for (Operation *user : position.getUsers()) {
    // The length of a tile at the edge is `min(size, upper - position)`, which is what the builder
    // makes of a range.
    auto rest = dyn_cast<arith::SubIOp>(user);
    if (!rest || rest.getLhs() != upper || rest.getRhs() != position)
      continue;
    for (Operation *each : rest->getUsers())
      if (auto least = dyn_cast<arith::MinSIOp>(each))
        if (least.getLhs() == step || least.getRhs() == step)
          range.lengths.push_back(least.getResult());
  }
  // A range that is cut at its end is a tiled one, whatever else uses the position.
  if (!range.lengths.empty())
    return true;
  // Without such a length the boxes must have exactly one step, so that no tile is cut.
  std::optional<int64_t> size = getConstantIntValue(step);
  auto begins = [&](OperandRange offsets, OperandRange lengths, llvm::ArrayRef<int64_t> dropped) {
    for (size_t i = 0; i < offsets.size(); ++i)
      if (offsets[i] == position && getConstantIntValue(lengths[i]) == size &&
          !llvm::is_contained(dropped, static_cast<int64_t>(i)))
        return true;
    return false;
  };
  auto isDropped = [&](OperandRange offsets, llvm::ArrayRef<int64_t> dropped) {
    for (int64_t axis : dropped)
      if (offsets[static_cast<size_t>(axis)] == position)
        return true;
    return false;
  };
  bool found = false;
  for (Operation *user : position.getUsers())
    llvm::TypeSwitch<Operation *>(user).Case<ir::SliceOp, ir::LoadOp, ir::StoreOp, ir::InsertOp>(
        [&](auto op) {
          found |= begins(op.getOffsets(), op.getLengths(), op.getDropped());
          // With steps of 1 a box of one position and a tile of length 1 look alike; an axis that
          // is dropped tells that it is a position.
          if (size == 1 && isDropped(op.getOffsets(), op.getDropped()))
            size = -1; // a position
        });
  return found && size && *size > 0;
}

/// The name that arrays have for the length of a range.
static std::string rangeName(const OpenRange &range) {
  auto nameIn = [&](OperandRange offsets, OperandRange lengths, Type type,
                    llvm::ArrayRef<int64_t> dropped) -> std::string {
    size_t axis = 0;
    for (size_t i = 0; i < offsets.size(); ++i) {
      if (llvm::is_contained(dropped, static_cast<int64_t>(i)))
        // Axes that are dropped do not occur in the type.
        continue;
      llvm::ArrayRef<ir::Extent> extents = ir::extentsOf(type);
      if (axis < extents.size() && offsets[i] == range.position && extents[axis].symbol)
        return extents[axis].symbol.str();
      ++axis;
    }
    return "";
  };
  for (Operation *user : range.position.getUsers()) {
    std::string name;
    if (auto slice = dyn_cast<ir::SliceOp>(user))
      name = nameIn(slice.getOffsets(), slice.getLengths(), slice.getType(), slice.getDropped());
    if (auto load = dyn_cast<ir::LoadOp>(user))
      name = nameIn(load.getOffsets(), load.getLengths(), load.getType(), load.getDropped());
    if (auto store = dyn_cast<ir::StoreOp>(user))
      name = nameIn(store.getOffsets(), store.getLengths(), store.getValue().getType(),
                    store.getDropped());
    if (isIdentifier(name))
      return name;
  }
  return "";
}

static std::string depthName(unsigned depth) {
  static constexpr const char *names[] = {"i", "j", "k", "l", "m"};
  // Deeper loops share the last letter, and `fresh` makes it unique.
  return names[std::min<size_t>(depth, std::size(names) - 1)];
}

/// `i in tiles(N, 64)` or `h in 0..H`; the variable is known afterwards.
static std::string loopHead(BodyCode &code, BlockArgument position, Value lower, Value upper,
                            Value step, unsigned depth) {
  OpenRange range{"", position, lower, upper, step, {}};
  std::string wanted = block::nameOf(position.getLoc());
  if (!code.kind().hasRanges() || !isTiled(position, upper, step, range)) {
    std::string over = rangeText(code, lower, upper, {}, "..").text;
    if (!isConstant(lower, 0))
      over = valueText(code, lower).as(Precedence::Or) + ".." +
             valueText(code, upper).as(Precedence::Or);
    if (!isConstant(step, 1))
      over += " step " + valueText(code, step).as(Precedence::Or);
    std::string name = isIdentifier(wanted) ? wanted : depthName(depth);
    // An underscore marks a variable that nothing uses, which the checker accepts.
    name = code.names().fresh((position.use_empty() && name[0] != '_' ? "_" : "") + name);
    code.know(position, name);
    return name + " in " + over;
  }
  if (!isIdentifier(wanted))
    wanted = rangeName(range);
  range.name = code.names().fresh(wanted.empty() ? depthName(depth) : wanted);
  // The size may be computed before; it then gets a name after the range.
  if (Operation *op = step.getDefiningOp())
    code.hintName(op, range.name + "_size");
  std::string size = valueText(code, step).text, over;
  std::optional<Expression> from = rangePart(code, lower), to = rangePart(code, upper);
  llvm::StringRef outer = from ? llvm::StringRef(from->text) : llvm::StringRef();
  if (isConstant(lower, 0))
    over = valueText(code, upper).text;
  // A loop over the tiles of a range names that range instead of its ends.
  else if (outer.consume_back(".start") && to && to->text == (outer + ".end").str())
    over = outer.str();
  else
    over = valueText(code, lower).as(Precedence::Or) + ".." +
           valueText(code, upper).as(Precedence::Or);
  code.openRange(range);
  return range.name + " in tiles(" + over + ", " + size + ")";
}

/// Each carried value is a `var`; one that is carried further, and used by nothing else, stays it.
static void carry(BodyCode &code, ValueRange inits, mlir::Block::BlockArgListType args,
                  Operation *loop) {
  for (auto [init, arg] : llvm::zip(inits, args)) {
    // The variable goes on under its name, since no other use needs its value as it is here.
    if (code.isVariable(init) && init.hasOneUse() && init.getParentBlock() == loop->getBlock()) {
      code.knowVariable(arg, code.known(init).text);
    } else {
      std::string wanted = block::nameOf(arg.getLoc());
      if (!isIdentifier(wanted))
        wanted = wantedName(code, init);
      // A literal that begins a variable says its type, since nothing else does.
      Operation *op = init.getDefiningOp();
      bool typed = op && isConstantLike(op) && !code.isKnown(init);
      Expression first = typed ? literalText(op->getAttr("value"), init.getType(), true)
                               : positionText(code, init);
      code.var(arg, first, wanted);
    }
  }
}

void printFor(BodyCode &code, scf::ForOp loop) {
  carry(code, loop.getInitArgs(), loop.getRegionIterArgs(), loop);
  LoopScope scope(code);
  std::string head =
      loopHead(code, cast<BlockArgument>(loop.getInductionVar()), loop.getLowerBound(),
               loop.getUpperBound(), loop.getStep(), code.enterLoop());
  std::string text = (attrs::point.isOn(loop) ? "parallel " : "for ") + head;
  // Pipelining and unrolling are instructions of the author that the lowering has kept.
  if (auto depth = attrs::pipeline.of(loop))
    text += " pipeline " + std::to_string(depth.getInt());
  if (auto factor = attrs::unroll.of(loop))
    text += factor.getInt() > 0 ? " unroll " + std::to_string(factor.getInt()) : " unroll";
  code.line(text + " {");
  printBlock(code, *loop.getBody());
  printYield(code, *loop.getBody(), loop.getRegionIterArgs());
  code.line("}");
  // The results are the variables behind the loop.
  for (auto [result, arg] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    code.knowVariable(result, code.known(arg).text);
}

/// Whether the condition of a loop is one expression of what the loop carries, as the head of a `while` has it.
static bool isPlainCondition(scf::WhileOp loop, scf::ConditionOp condition) {
  auto before = loop.getBeforeArguments();
  return llvm::all_of(condition.getArgs(),
                      [&](Value given) { return llvm::is_contained(before, given); }) &&
         llvm::all_of(loop.getBeforeBody()->without_terminator(),
                      [](Operation &op) { return isMemoryEffectFree(&op); });
}

/// Each value that the condition passes on is the variable of what the loop carries at its place.
static void knowPassed(BodyCode &code, ValueRange passed, ValueRange variables) {
  for (auto [value, variable] : llvm::zip(passed, variables))
    code.knowVariable(value, code.known(variable).text);
}

/// A condition that takes statements stands in the body, and a variable says whether the loop goes on.
static void printConditionInBody(BodyCode &code, scf::WhileOp loop, scf::ConditionOp condition) {
  auto before = loop.getBeforeArguments();
  std::string goesOn = code.names().fresh("goes_on");
  code.line("var " + goesOn + " = true");
  code.line("while " + goesOn + " {");
  printBlock(code, *loop.getBeforeBody());
  {
    StatementScope scope(code, condition);
    // What decides may read the variables that are assigned next.
    code.line(goesOn + " = " + valueText(code, condition.getCondition()).text);
  }
  printAssignments(code, condition, before, condition.getArgs());
  code.line("if " + goesOn + " {");
  knowPassed(code, loop.getAfterArguments(), before);
  printBlock(code, *loop.getAfterBody());
  printYield(code, *loop.getAfterBody(), before);
  code.line("}");
  code.line("}");
  knowPassed(code, loop.getResults(), before);
}

void printWhile(BodyCode &code, scf::WhileOp loop) {
  auto condition = cast<scf::ConditionOp>(loop.getBeforeBody()->getTerminator());
  auto before = loop.getBeforeArguments();
  carry(code, loop.getInits(), before, loop);
  if (!isPlainCondition(loop, condition)) {
    if (!llvm::equal(ValueRange(before).getTypes(), loop.getResultTypes()))
      code.unwritable(loop, "its condition gives values that the loop does not carry");
    return printConditionInBody(code, loop, condition);
  }
  // All of the condition must fit in one expression.
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    code.inlining().decided[&op] = true;
  std::string holds;
  {
    StatementScope scope(code, condition);
    holds = valueText(code, condition.getCondition()).text;
  }
  code.line("while " + holds + " {");
  knowPassed(code, loop.getAfterArguments(), condition.getArgs());
  printBlock(code, *loop.getAfterBody());
  printYield(code, *loop.getAfterBody(), before);
  code.line("}");
  knowPassed(code, loop.getResults(), condition.getArgs());
}

void printGrid(BodyCode &code, ir::ParallelOp grid) {
  LoopScope scope(code);
  std::vector<std::string> heads;
  mlir::Block *body = nullptr;
  for (ir::ParallelOp each = grid; each;) {
    body = &each.getBody().front();
    for (auto [arg, lower, upper, step] :
         llvm::zip(body->getArguments(), each.getLower(), each.getUpper(), each.getSteps()))
      heads.push_back(loopHead(code, arg, lower, upper, step, code.enterLoop()));
    ir::ParallelOp inner;
    if (!body->without_terminator().empty())
      // Only the last operation may be the inner grid.
      inner = dyn_cast<ir::ParallelOp>(body->getTerminator()->getPrevNode());
    // What stands beside the inner grid must be computable in its heads: those are the bounds that
    // depend on the outer variables.
    bool isNest =
        inner && llvm::all_of(body->without_terminator(), [&](Operation &op) {
          return &op == inner || isMemoryEffectFree(&op) || isa<ir::LoadOp, ir::CheckOp>(op);
        });
    if (!isNest)
      break;
    for (Operation &op : body->without_terminator())
      code.inlining().decided[&op] = true;
    each = inner;
  }
  code.line("parallel " + llvm::join(heads, ", ") + " {");
  printBlock(code, *body);
  code.line("}");
}

} // namespace ptl::source
