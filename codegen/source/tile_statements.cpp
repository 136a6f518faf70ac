// Statements: bindings, stores, checks, loops and branches.
#include "codegen/source/tile_body.h"

#include "passes/analysis/op_info.h"
#include "passes/analysis/source_place.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::source {

void TileBody::startAgain() {
  counting_ = false;
  known_.clear();
  globals_.clear();
  variables_.clear();
  ranges_.clear();
  inlined_.clear();
  weights_.clear();
  names_ = Names();
  out_.clear();
  depth_ = 0;
}

void TileBody::let(Value value, const Expression &expression, const std::string &wanted,
                   const char *word) {
  std::string name = names_.fresh(wanted);
  line(std::string(word) + " " + name + " = " + expression.text);
  know(value, name);
  if (std::string_view(word) == "var")
    variables_.insert(value);
}

// ---- What is written where it is used -----------------------------------------------------------

constexpr unsigned kMaxWeight = 8; ///< operations in one expression

bool isTransparent(Operation *op) {
  if (auto cast = dyn_cast<ir::CastOp>(op)) {
    ir::Place place = cast.getType().getPlace();
    return place == ir::Place::Inferred || place == ir::Place::Gm;
  }
  return op->getName().getStringRef() == "ptl.convert" &&
         ir::elementTypeOf(op->getOperand(0).getType()) ==
             ir::elementTypeOf(op->getResult(0).getType());
}

/// Whether a slice is all of its source, as the operations beside it say.
static bool isWholeSlice(ir::SliceOp slice) {
  if (!slice.getSteps().empty() || !slice.getDropped().empty() || slice.getOutside())
    return false;
  for (auto [axis, extent] : llvm::enumerate(ir::extentsOf(slice.getSource().getType()))) {
    Value length = slice.getLengths()[axis];
    auto dim = length.getDefiningOp<ir::DimOp>();
    bool isAll = extent.isConstant()
                     ? getConstantIntValue(length) == extent.length
                     : dim && dim.getSource() == slice.getSource() && dim.getAxis() == axis;
    if (!isAll || getConstantIntValue(slice.getOffsets()[axis]) != 0)
      return false;
  }
  return true;
}

bool isCheap(Operation *op) {
  const OpRecord *record = ir::recordOf(op);
  if (record && record->opClass == OpClass::Creation && record->id != OpId::OneHot)
    return true;
  if (record && record->id == OpId::Convert && op->getOperand(0).getType().isIndex())
    return ir::rankOf(op->getResult(0).getType()) == 0;
  auto slice = dyn_cast<ir::SliceOp>(op);
  Operation *source = slice ? slice.getSource().getDefiningOp() : nullptr;
  return source && isCheap(source) && isWholeSlice(slice);
}

static bool isConstantLike(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

/// Whether what a load reads is the same where its value is used.
bool TileBody::isSafeAt(Operation *load, Operation *use) {
  for (Operation *op = load->getNextNode(); op && op != use; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<ir::LoadOp, ir::CheckOp>(op))
      return false;
  return true;
}

unsigned TileBody::weight(Operation *op) {
  if (auto found = weights_.find(op); found != weights_.end())
    return found->second;
  unsigned sum = isa<ir::SliceOp>(op) || isTransparent(op) ? 0 : 1;
  for (Value operand : op->getOperands())
    if (Operation *inner = operand.getDefiningOp(); inner && inner->getBlock() == op->getBlock())
      if (!isPositionOp(inner) && !isConstantLike(inner) && isInlined(inner))
        sum += weight(inner);
  return weights_[op] = sum;
}

bool TileBody::isInlined(Operation *op) {
  if (isPositionOp(op) || isConstantLike(op) || isCheap(op) || isTransparent(op))
    return true;
  if (op->getNumResults() != 1 || isa<scf::ForOp, scf::WhileOp, scf::IfOp, ir::InsertOp>(op))
    return false;
  if (auto found = inlined_.find(op); found != inlined_.end())
    return found->second;
  // A load asks about what uses it, which asks about its operands.
  inlined_[op] = false;
  bool isInlined = decideInlined(op);
  return inlined_[op] = isInlined;
}

/// The operations that use a value, also under another description.
static void collectUses(Value value, llvm::SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses())
    if (isTransparent(use.getOwner()))
      collectUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
}

bool TileBody::decideInlined(Operation *op) {
  llvm::SmallVector<OpOperand *> uses;
  collectUses(op->getResult(0), uses);
  if (uses.empty() || isa<ir::CastOp>(op))
    return false;
  // What is stored under its own name needs no second one.
  std::string name = block::nameOf(op->getLoc());
  auto store = dyn_cast<ir::StoreOp>(uses.front()->getOwner());
  bool isStored = store && uses.size() == 1 && block::nameOf(store.getRef().getLoc()) == name;
  if (!name.empty() && !isStored)
    return false;
  // All uses may be inside of one grid, which gets the value as an argument.
  Operation *use = nullptr;
  for (OpOperand *each : uses) {
    Operation *user = each->getOwner(), *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!here || (use && here != use) || (here != user && !isa<ir::ParallelOp>(here)))
      return false;
    use = here;
  }
  if (uses.size() > 1 && !isa<ir::ParallelOp>(use))
    return false;
  bool reads = isa<ir::LoadOp>(op) && !readsFinal(op);
  if (reads ? !isSafeAt(op, use) : !isa<ir::LoadOp>(op) && !isMemoryEffectFree(op))
    return false;
  if (reads && use->getNumResults() == 1 && isInlined(use))
    return isMemoryEffectFree(use) && use->hasOneUse() &&
           isSafeAt(op, op->getBlock()->findAncestorOpInBlock(**use->getUsers().begin()));
  return weight(op) < kMaxWeight;
}

// ---- Statements ---------------------------------------------------------------------------------

void TileBody::block(mlir::Block &block) {
  for (Operation &op : block.without_terminator())
    statement(&op);
}

void TileBody::results(Operation *op) {
  if (op->getNumResults() == 1) {
    if (auto placed = dyn_cast<ir::CastOp>(op)) {
      std::string name = names_.fresh(nameFor(placed.getResult()));
      std::string place =
          ir::placeName(llvm::cast<ir::ArrayType>(placed.getType()).getPlace()).str();
      line("let " + name + ": _ @" + place + " = " + value(placed.getSource()).text);
      return know(placed.getResult(), name);
    }
    return let(op->getResult(0), expressionOf(op, 0), nameFor(op->getResult(0)));
  }
  Expression expression = expressionOf(op, 0);
  std::vector<std::string> names;
  for (Value result : op->getResults()) {
    bool isUsed = !result.use_empty();
    names.push_back(names_.fresh((isUsed ? "" : "_") + nameFor(result)));
    know(result, names.back());
  }
  line("let (" + llvm::join(names, ", ") + ") = " + expression.text);
}

void TileBody::statement(Operation *op) {
  if (special(op))
    return;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return forLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return whileLoop(loop);
  if (auto choice = dyn_cast<scf::IfOp>(op))
    return branch(choice);
  if (auto each = dyn_cast<ir::StoreOp>(op))
    return store(each);
  if (auto each = dyn_cast<ir::InsertOp>(op))
    return insert(each);
  if (auto each = dyn_cast<ir::CheckOp>(op))
    return check(each);
  if (auto each = dyn_cast<ir::ParallelOp>(op))
    return grid(each);
  if (op->getNumResults() == 0)
    return line(expressionOf(op, 0).text);
  bool often = !counting_ && isPositionOp(op) && counts_[op] > 1 && !known_.count(op->getResult(0));
  if (often) {
    Expression expression = position(op);
    if (expression.text.size() > 12) {
      auto hint = hints_.find(op);
      let(op->getResult(0), expression,
          hint != hints_.end() ? hint->second : positionName(op->getResult(0)));
    }
    return;
  }
  if (!isInlined(op) && !op->use_empty())
    results(op);
}

void TileBody::store(ir::StoreOp store) {
  Value stored = store.getValue();
  std::string target;
  bool isWhole =
      !store.getIndex() && isWholeBox(store.getRef(), store.getOffsets(), store.getLengths(),
                                      store.getSteps(), store.getDropped());
  if (isWhole && !inKernel_)
    target = base(store.getRef());
  else
    target = boxText(store.getRef(), store.getOffsets(), store.getLengths(), store.getSteps(),
                     store.getDropped(), store.getIndex(),
                     static_cast<int64_t>(store.getIndexAxis().value_or(0)));
  std::string text = operandOf(store, stored).text;
  if (!store.getAtomic())
    return line(target + " = " + text);
  std::string kind = store.getAtomic() == "add" ? "+=" : store.getAtomic()->str() + "=";
  line("atomic " + target + " " + kind + " " + text);
}

Expression TileBody::operandOf(ir::StoreOp store, Value stored) {
  if (Operation *op = stored.getDefiningOp(); op && isConstantLike(op))
    return literal(op->getAttr("value"), stored.getType(),
                   stored.getType() != ir::elementTypeOf(store.getRef().getType()));
  return value(stored);
}

/// An array with a box replaced is a `var` that is assigned there; one that nothing else uses is
/// changed in place.
void TileBody::insert(ir::InsertOp insert) {
  Value dest = insert.getDest();
  bool inPlace =
      variables_.count(dest) && dest.hasOneUse() && (dest.getParentBlock() == insert->getBlock());
  if (inPlace) {
    know(insert.getResult(), known_[dest].text);
    variables_.insert(insert.getResult());
  } else {
    let(insert.getResult(), value(dest), nameFor(dest), "var");
  }
  known_[dest] = known_[insert.getResult()];
  std::string target = boxText(dest, insert.getOffsets(), insert.getLengths(), insert.getSteps(),
                               insert.getDropped(), insert.getIndex(),
                               static_cast<int64_t>(insert.getIndexAxis().value_or(0)));
  line(target + " = " + value(insert.getValue()).text);
}

/// Checks of bounds and conversions are made again by the builder; the others are the author's.
void TileBody::check(ir::CheckOp check) {
  if (check.getStatus() == "bounds" || check.getStatus() == "arithmetic")
    return;
  std::string message;
  llvm::StringRef text = check.getMessage();
  if (!check.getValues().empty())
    text = text.take_front(text.find(": `"));
  for (size_t i = 0; i < text.size(); ++i) {
    bool isDouble = text[i] == '{' && i + 1 < text.size() && text[i + 1] == '{';
    message +=
        text[i] == '"' || text[i] == '\\' ? std::string("\\") + text[i] : std::string(1, text[i]);
    i += isDouble;
  }
  line("assert(" + value(check.getCondition()).text + ", \"" + message + "\")");
}

// ---- Loops --------------------------------------------------------------------------------------

static bool isConstant(Value value, int64_t expected) {
  return getConstantIntValue(value) == expected;
}

/// Whether boxes begin at the position and are as long as a step: then it is a range.
bool TileBody::isTiled(BlockArgument position, Value upper, Value step, Range &range) {
  for (Operation *user : position.getUsers()) {
    auto rest = dyn_cast<arith::SubIOp>(user);
    if (!rest || rest.getLhs() != upper || rest.getRhs() != position)
      continue;
    for (Operation *each : rest->getUsers())
      if (auto least = dyn_cast<arith::MinSIOp>(each))
        if (least.getLhs() == step || least.getRhs() == step)
          range.lengths.push_back(least.getResult());
  }
  if (!range.lengths.empty())
    return true;
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
    std::string name = names_.fresh(isIdentifier(wanted) ? wanted : depthName(depth));
    know(position, name);
    return name + " in " + over;
  }
  if (!isIdentifier(wanted))
    wanted = rangeName(range);
  range.name = names_.fresh(wanted.empty() ? depthName(depth) : wanted);
  if (Operation *op = step.getDefiningOp())
    hints_.try_emplace(op, range.name + "_size");
  std::string size = value(step).text, over;
  std::optional<Expression> from = rangePart(lower), to = rangePart(upper);
  llvm::StringRef outer = from ? llvm::StringRef(from->text) : llvm::StringRef();
  if (isConstant(lower, 0))
    over = value(upper).text;
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
    if (variables_.count(init) && init.hasOneUse() && init.getParentBlock() == loop->getBlock()) {
      know(arg, known_[init].text);
    } else {
      std::string wanted = block::nameOf(arg.getLoc());
      if (!isIdentifier(wanted))
        wanted = nameFor(init);
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
    std::string name;
    Expression value;
    std::set<std::string> reads;
  };
  std::vector<Assignment> open;
  for (auto [target, each] : llvm::zip(targets, values)) {
    Expression text = value(each);
    std::string name = known_[target].text;
    if (Operation *op = each.getDefiningOp(); op && isConstantLike(op) && !known_.count(each))
      text = literal(op->getAttr("value"), each.getType(), false);
    if (text.text != name)
      open.push_back({name, text, identifiersOf(text.text)});
  }
  while (!open.empty()) {
    auto free = llvm::find_if(open, [&](const Assignment &each) {
      return llvm::none_of(open, [&](const Assignment &other) {
        return &other != &each && other.reads.count(each.name) != 0;
      });
    });
    if (free == open.end()) { // a circle
      Assignment &first = open.front();
      std::string kept = names_.fresh(first.name + "_next");
      line("let " + kept + " = " + first.value.text);
      first.value = {kept};
      first.reads = {kept};
      continue;
    }
    llvm::StringRef text = free->value.text;
    bool isUpdate = free->value.bind == Precedence::Sum && text.consume_front(free->name + " + ") &&
                    text.find(" + ") == text.npos && text.find(" - ") == text.npos;
    line(isUpdate ? free->name + " += " + text.str() : free->name + " = " + free->value.text);
    open.erase(free);
  }
}

void TileBody::forLoop(scf::ForOp loop) {
  carry(loop.getInitArgs(), loop.getRegionIterArgs(), loop);
  size_t ranges = ranges_.size();
  std::string head = loopHead(cast<BlockArgument>(loop.getInductionVar()), loop.getLowerBound(),
                              loop.getUpperBound(), loop.getStep(), depth_++);
  std::string text = "for " + head;
  if (auto depth = loop->getAttrOfType<IntegerAttr>("ptl.pipeline"))
    text += " pipeline " + std::to_string(depth.getInt());
  if (auto factor = loop->getAttrOfType<IntegerAttr>("ptl.unroll"))
    text += factor.getInt() > 0 ? " unroll " + std::to_string(factor.getInt()) : " unroll";
  line(text + " {");
  block(*loop.getBody());
  assignAll(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
  line("}");
  --depth_;
  closeRanges(ranges);
  for (auto [result, arg] : llvm::zip(loop.getResults(), loop.getRegionIterArgs())) {
    know(result, known_[arg].text);
    variables_.insert(result);
  }
}

void TileBody::whileLoop(scf::WhileOp loop) {
  auto condition = cast<scf::ConditionOp>(loop.getBeforeBody()->getTerminator());
  auto before = loop.getBeforeArguments();
  bool isPlain = condition.getArgs().size() == before.size();
  for (auto [given, own] : llvm::zip(condition.getArgs(), before))
    isPlain &= given == own;
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    isPlain &= isMemoryEffectFree(&op);
  if (!isPlain)
    unwritable_(loop, "its condition has effects");
  carry(loop.getInits(), before, loop);
  for (Operation &op : loop.getBeforeBody()->without_terminator())
    inlined_[&op] = true;
  line("while " + value(condition.getCondition()).text + " {");
  for (auto [arg, own] : llvm::zip(loop.getAfterArguments(), before)) {
    know(arg, known_[own].text);
    variables_.insert(arg);
  }
  block(*loop.getAfterBody());
  assignAll(before, loop.getAfterBody()->getTerminator()->getOperands());
  line("}");
  for (auto [result, own] : llvm::zip(loop.getResults(), before)) {
    know(result, known_[own].text);
    variables_.insert(result);
  }
}

void TileBody::branch(scf::IfOp branch) {
  auto arm = [&](Region &region) {
    if (region.empty())
      return;
    block(region.front());
    ValueRange values = region.front().getTerminator()->getOperands();
    if (values.size() == 1)
      line(value(values[0]).text);
    else if (!values.empty()) {
      std::vector<std::string> texts;
      for (Value each : values)
        texts.push_back(value(each).text);
      line("(" + llvm::join(texts, ", ") + ")");
    }
  };
  std::string head = "if " + value(branch.getCondition()).text + " {";
  std::vector<std::string> names;
  for (Value result : branch.getResults())
    names.push_back(names_.fresh(nameFor(result)));
  if (names.size() == 1)
    head = "let " + names[0] + " = " + head;
  else if (!names.empty())
    head = "let (" + llvm::join(names, ", ") + ") = " + head;
  line(head);
  arm(branch.getThenRegion());
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
      inner = dyn_cast<ir::ParallelOp>(body->getTerminator()->getPrevNode());
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
