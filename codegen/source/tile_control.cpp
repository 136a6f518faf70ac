// Loops, branches and grids.
#include "codegen/source/tile_body.h"
#include "ir/dialect/attributes.h"

#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

// ---- Loops --------------------------------------------------------------------------------------

static bool isConstant(Value value, int64_t expected) {
  return getConstantIntValue(value) == expected;
}

/// Whether boxes begin at the position and are as long as a step: then it is a range.
bool TileBody::isTiled(BlockArgument position, Value upper, Value step, Range &range) {
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
std::string TileBody::rangeName(const Range &range) const {
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
std::string TileBody::loopHead(BlockArgument position, Value lower, Value upper, Value step,
                               unsigned depth) {
  Range range{"", position, lower, upper, step, {}};
  std::string wanted = block::nameOf(position.getLoc());
  if (!hasRanges() || !isTiled(position, upper, step, range)) {
    std::string over = rangeText(lower, upper, {}, "..").text;
    if (!isConstant(lower, 0))
      over = value(lower).as(Precedence::Or) + ".." + value(upper).as(Precedence::Or);
    if (!isConstant(step, 1))
      over += " step " + value(step).as(Precedence::Or);
    std::string name = isIdentifier(wanted) ? wanted : depthName(depth);
    // An underscore marks a variable that nothing uses, which the checker accepts.
    name = names_.fresh((position.use_empty() && name[0] != '_' ? "_" : "") + name);
    know(position, name);
    return name + " in " + over;
  }
  if (!isIdentifier(wanted))
    wanted = rangeName(range);
  range.name = names_.fresh(wanted.empty() ? depthName(depth) : wanted);
  // The size may be computed before; it then gets a name after the range.
  if (Operation *op = step.getDefiningOp())
    hints_.try_emplace(op, range.name + "_size");
  std::string size = value(step).text, over;
  std::optional<Expression> from = rangePart(lower), to = rangePart(upper);
  llvm::StringRef outer = from ? llvm::StringRef(from->text) : llvm::StringRef();
  if (isConstant(lower, 0))
    over = value(upper).text;
  // A loop over the tiles of a range names that range instead of its ends.
  else if (outer.consume_back(".start") && to && to->text == (outer + ".end").str())
    over = outer.str();
  else
    over = value(lower).as(Precedence::Or) + ".." + value(upper).as(Precedence::Or);
  ranges_.push_back(range);
  return range.name + " in tiles(" + over + ", " + size + ")";
}

/// Each carried value is a `var`; one that is carried further, and used by nothing else, stays it.
void TileBody::carry(ValueRange inits, mlir::Block::BlockArgListType args, Operation *loop) {
  for (auto [init, arg] : llvm::zip(inits, args)) {
    // The variable goes on under its name, since no other use needs its value as it is here.
    if (variables_.count(init) && init.hasOneUse() && init.getParentBlock() == loop->getBlock()) {
      know(arg, known_[init].text);
    } else {
      std::string wanted = block::nameOf(arg.getLoc());
      if (!isIdentifier(wanted))
        wanted = nameFor(init);
      // A literal that begins a variable says its type, since nothing else does.
      Operation *op = init.getDefiningOp();
      bool typed = op && isConstantLike(op) && !known_.count(init);
      Expression first = typed ? literal(op->getAttr("value"), init.getType(), true) : value(init);
      let(arg, first, wanted, "var");
    }
    variables_.insert(arg);
  }
}

/// Assigns as if at once: what is read is assigned later, or kept under another name.
void TileBody::assignAll(ValueRange targets, ValueRange values) {
  struct Assignment {
    std::string name, place;
    Expression value;
    std::set<std::string> reads;
  };
  std::vector<Assignment> open;
  for (auto [target, each] : llvm::zip(targets, values)) {
    Expression text = value(each);
    std::string name = known_[target].text;
    // A constant takes its type from the variable.
    if (Operation *op = each.getDefiningOp(); op && isConstantLike(op) && !known_.count(each))
      text = literal(op->getAttr("value"), each.getType(), false);
    // An assignment of a variable to itself is left out.
    if (text.text != name)
      open.push_back({name, placeOf(each), text, identifiersOf(text.text)});
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
      std::string kept = names_.fresh(first.name + "_next");
      line("let " + kept + (first.place.empty() ? "" : ": _ @" + first.place) + " = " +
           first.value.text);
      first.value = {kept};
      first.reads = {kept};
      continue;
    }
    // `x = x + y` is written `x += y`, but not where the rest would bind differently.
    llvm::StringRef text = free->value.text;
    bool isUpdate = free->value.bind == Precedence::Sum && text.consume_front(free->name + " + ") &&
                    text.find(" + ") == text.npos && text.find(" - ") == text.npos;
    line(isUpdate ? free->name + " += " + text.str() : free->name + " = " + free->value.text);
    open.erase(free);
  }
}

/// Assigns the values that a block passes to the next iteration.
void TileBody::yield(mlir::Block &block, ValueRange targets) {
  Operation *outer = std::exchange(statement_, block.getTerminator());
  // What is computed for the terminator stands before it, in the loop.
  before(statement_);
  assignAll(targets, block.getTerminator()->getOperands());
  statement_ = outer;
  closed(block);
}

void TileBody::forLoop(scf::ForOp loop) {
  carry(loop.getInitArgs(), loop.getRegionIterArgs(), loop);
  size_t ranges = ranges_.size();
  std::string head = loopHead(cast<BlockArgument>(loop.getInductionVar()), loop.getLowerBound(),
                              loop.getUpperBound(), loop.getStep(), depth_++);
  std::string text = "for " + head;
  // Pipelining and unrolling are instructions of the author that the lowering has kept.
  if (auto depth = attrs::pipeline.of(loop))
    text += " pipeline " + std::to_string(depth.getInt());
  if (auto factor = attrs::unroll.of(loop))
    text += factor.getInt() > 0 ? " unroll " + std::to_string(factor.getInt()) : " unroll";
  line(text + " {");
  block(*loop.getBody());
  yield(*loop.getBody(), loop.getRegionIterArgs());
  line("}");
  --depth_;
  // Names of the ranges in the body end with it.
  closeRanges(ranges);
  // The results are the variables behind the loop.
  for (auto [result, arg] : llvm::zip(loop.getResults(), loop.getRegionIterArgs())) {
    know(result, known_[arg].text);
    variables_.insert(result);
  }
}

void TileBody::whileLoop(scf::WhileOp loop) {
  auto condition = cast<scf::ConditionOp>(loop.getBeforeBody()->getTerminator());
  auto before = loop.getBeforeArguments();
  // The language has the condition in the head, so only conditions without effects can be written.
  bool isPlain = llvm::all_of(condition.getArgs(),
                              [&](Value given) { return llvm::is_contained(before, given); });
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    isPlain &= isMemoryEffectFree(&op);
  if (!isPlain)
    unwritable_(loop, "its condition has effects");
  carry(loop.getInits(), before, loop);
  // All of the condition must fit in one expression.
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    inlined_[&op] = true;
  Operation *outer = std::exchange(statement_, condition);
  std::string holds = value(condition.getCondition()).text;
  statement_ = outer;
  line("while " + holds + " {");
  for (auto [arg, own] : llvm::zip(loop.getAfterArguments(), condition.getArgs())) {
    know(arg, known_[own].text);
    variables_.insert(arg);
  }
  block(*loop.getAfterBody());
  yield(*loop.getAfterBody(), before);
  line("}");
  for (auto [result, own] : llvm::zip(loop.getResults(), condition.getArgs())) {
    know(result, known_[own].text);
    variables_.insert(result);
  }
}

/// The variables that a branch gives new values: those that one of its arms keeps and nothing else
/// asks for. Empty: its results are new values.
llvm::SmallVector<Value> TileBody::assignedBy(scf::IfOp branch) const {
  llvm::SmallVector<Value> targets;
  if (branch.getElseRegion().empty())
    return {};
  // Each result must go to a variable that one arm leaves as it is, and that nothing else reads.
  for (auto [yes, no] :
       llvm::zip(branch.thenYield().getOperands(), branch.elseYield().getOperands())) {
    auto isKept = [&](Value value) {
      return variables_.count(value) && !llvm::is_contained(targets, value) &&
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

void TileBody::assigningBranch(scf::IfOp branch, ValueRange targets) {
  for (Value target : targets)
    assigned_[target] = branch;
  auto arm = [&](mlir::Block &body) {
    block(body);
    yield(body, targets);
  };
  line("if " + value(branch.getCondition()).text + " {");
  arm(*branch.thenBlock());
  // The text of an arm is printed apart, because an arm without statements is left out.
  std::string before = std::exchange(out_, "");
  arm(*branch.elseBlock());
  std::string other = std::exchange(out_, before);
  if (!other.empty()) {
    line("} else {");
    out_ += other;
  }
  line("}");
  for (auto [result, target] : llvm::zip(branch.getResults(), targets)) {
    assigned_.erase(target);
    know(result, known_[target].text);
    variables_.insert(result);
  }
}

void TileBody::branch(scf::IfOp branch) {
  if (llvm::SmallVector<Value> targets = assignedBy(branch); !targets.empty())
    return assigningBranch(branch, targets);
  // The arms end in their values.
  auto arm = [&](Region &region) {
    if (region.empty())
      return;
    block(region.front());
    Operation *outer = std::exchange(statement_, region.front().getTerminator());
    before(statement_);
    ValueRange values = region.front().getTerminator()->getOperands();
    if (values.size() == 1)
      line(value(values[0]).text);
    else if (!values.empty()) {
      std::vector<std::string> texts;
      for (Value each : values)
        texts.push_back(value(each).text);
      line("(" + llvm::join(texts, ", ") + ")");
    }
    statement_ = outer;
    closed(region.front());
  };
  std::string head = "if " + value(branch.getCondition()).text + " {";
  // Names are taken before the arms, so that arms cannot take them.
  std::vector<std::string> names;
  for (Value result : branch.getResults())
    names.push_back(names_.fresh(nameFor(result)));
  if (names.size() == 1)
    head = "let " + names[0] + " = " + head;
  else if (!names.empty())
    head = "let (" + llvm::join(names, ", ") + ") = " + head;
  line(head);
  arm(branch.getThenRegion());
  // An empty arm is left out where the branch has no value.
  bool hasElse = !branch.getElseRegion().empty() &&
                 (!names.empty() || !branch.getElseRegion().front().without_terminator().empty());
  if (hasElse) {
    line("} else {");
    arm(branch.getElseRegion());
  }
  line("}");
  for (auto [result, name] : llvm::zip(branch.getResults(), names))
    know(result, name);
}

/// Grids whose bounds depend on the variables of another one stand directly inside of it.
void TileBody::grid(ir::ParallelOp grid) {
  size_t ranges = ranges_.size();
  unsigned depth = depth_;
  std::vector<std::string> heads;
  mlir::Block *body = nullptr;
  for (ir::ParallelOp each = grid; each;) {
    body = &each.getBody().front();
    for (auto [arg, lower, upper, step] :
         llvm::zip(body->getArguments(), each.getLower(), each.getUpper(), each.getSteps()))
      heads.push_back(loopHead(arg, lower, upper, step, depth_++));
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
      inlined_[&op] = true;
    each = inner;
  }
  line("parallel " + llvm::join(heads, ", ") + " {");
  block(*body);
  line("}");
  depth_ = depth;
  closeRanges(ranges);
}

} // namespace ptl::source
