// Statements: bindings, stores, checks; what is written where it is used.
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
  // The second run forgets everything but what was counted and the hints for names.
  known_.clear();
  globals_.clear();
  variables_.clear();
  ranges_.clear();
  inlined_.clear();
  named_.clear();
  weights_.clear();
  names_ = Names();
  out_.clear();
  parts_.clear();
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
    // A value that the author pinned to a place gets a name.
    ir::Place place = cast.getType().getPlace();
    return place == ir::Place::Inferred || place == ir::Place::Gm ||
           block::nameOf(op->getLoc()).empty();
  }
  return isa<ir::ConvertOp>(op) && ir::elementTypeOf(op->getOperand(0).getType()) ==
                                       ir::elementTypeOf(op->getResult(0).getType());
}

/// Whether a slice is all of its source, as the operations beside it say.
static bool isWholeSlice(ir::SliceOp slice) {
  if (!slice.getSteps().empty() || !slice.getDropped().empty() || slice.getOutside())
    return false;
  // A slice is the whole if each axis begins at 0 and has the length of the source.
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
  // Creating an array from a number costs nothing that a kernel would want to share.
  if (record && record->opClass == OpClass::Creation && record->id != OpId::OneHot)
    return true;
  // The conversion of a position is a scalar, unless it is broadcast.
  if (record && record->id == OpId::Convert && op->getOperand(0).getType().isIndex())
    return ir::rankOf(op->getResult(0).getType()) == 0;
  auto slice = dyn_cast<ir::SliceOp>(op);
  Operation *source = slice ? slice.getSource().getDefiningOp() : nullptr;
  return source && isCheap(source) && isWholeSlice(slice);
}

bool isConstantLike(Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); }

/// Whether what a load reads is the same where its value is used.
bool TileBody::isSafeAt(Operation *load, Operation *use) {
  // Loads and checks in between do not change what is read.
  for (Operation *op = load->getNextNode(); op && op != use; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<ir::LoadOp, ir::CheckOp, ir::AllocOp>(op))
      return false;
  return true;
}

unsigned TileBody::weight(Operation *op) {
  if (auto found = weights_.find(op); found != weights_.end())
    return found->second;
  // Views add nothing to what a reader must take in.
  unsigned sum = isa<ir::SliceOp>(op) || isTransparent(op) ? 0 : 1;
  for (Value operand : op->getOperands())
    if (Operation *inner = operand.getDefiningOp(); inner && inner->getBlock() == op->getBlock())
      if (!isPositionOp(inner) && !isConstantLike(inner) && isInlined(inner))
        sum += weight(inner);
  return weights_[op] = sum;
}

bool TileBody::isInlined(Operation *op) {
  if (needsTypedName(op))
    return false;
  if (isPositionOp(op) || isConstantLike(op) || isCheap(op) || isTransparent(op))
    return true;
  // Results of these are statements of the language.
  if (op->getNumResults() != 1 || isa<scf::ForOp, scf::WhileOp, scf::IfOp, ir::InsertOp>(op) ||
      named_.count(op))
    return false;
  if (auto found = inlined_.find(op); found != inlined_.end())
    return found->second;
  // A load asks about what uses it, which asks about its operands.
  inlined_[op] = false;
  // The preliminary answer ends the recursion.
  bool isInlined = decideInlined(op);
  return inlined_[op] = isInlined;
}

/// The operations that use a value, also under another description.
static void collectUses(Value value, llvm::SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses())
    // A cast or conversion without effect passes its operand on.
    if (isTransparent(use.getOwner()))
      collectUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
}

bool isMadeAgain(ir::CheckOp check) {
  // The builder adds these checks itself when it reads the text.
  return check.getStatus() == "bounds" || check.getStatus() == "arithmetic";
}

/// Whether an operation is there for checks that are made again.
static bool isForChecks(Operation *op) {
  if (auto check = dyn_cast<ir::CheckOp>(op))
    return isMadeAgain(check);
  return isPositionOp(op) && !op->use_empty() &&
         llvm::all_of(op->getUsers(), [](Operation *user) { return isForChecks(user); });
}

/// Whether a value is what a variable of a loop by that name begins with.
static bool beginsVariable(OpOperand &use, size_t uses, const std::string &name) {
  auto loop = dyn_cast<scf::ForOp>(use.getOwner());
  BlockArgument variable = loop ? loop.getTiedLoopRegionIterArg(&use) : BlockArgument();
  // The value must have no other use, or that would see the variable change.
  return uses == 1 && variable && block::nameOf(variable.getLoc()) == name;
}

bool TileBody::decideInlined(Operation *op) {
  llvm::SmallVector<OpOperand *> uses;
  collectUses(op->getResult(0), uses);
  bool isUsed = !uses.empty();
  llvm::erase_if(uses, [](OpOperand *use) { // lengths have names of their own
    return isForChecks(use->getOwner()) || isa<ir::DimOp>(use->getOwner());
  });
  // A value that only checks use is not written at all.
  if (isUsed && uses.empty())
    return true;
  // `a and b` computes `b` only where it matters: what is computed anyway stands before.
  bool isJoined = llvm::any_of(
      uses, [](OpOperand *use) { return isa<arith::AndIOp, arith::OrIOp>(use->getOwner()); });
  // A pinned value gets a statement with its place.
  if (uses.empty() || isa<ir::CastOp>(op) || isJoined)
    return false;
  // A value that is staged for products gets its place written.
  bool isPinned =
      llvm::all_of(uses, [](OpOperand *use) { return isa<ir::CastOp>(use->getOwner()); });
  if (isa<ir::SliceOp, ir::LoadOp>(op) && !isPinned && placeOf(op->getResult(0)) == "mat")
    return false;
  // A value that is stored under its own name needs no other one.
  std::string name = block::nameOf(op->getLoc());
  auto store = dyn_cast<ir::StoreOp>(uses.front()->getOwner());
  bool isStored = store && uses.size() == 1 && block::nameOf(store.getRef().getLoc()) == name;
  // An author's name is kept, unless the place where the value goes has it.
  if (!name.empty() && !isStored && !beginsVariable(*uses.front(), uses.size(), name))
    return false;
  // All uses may be inside of one grid, which gets the value as an argument.
  Operation *use = nullptr;
  // The text moves to its one use, which must stand in the same block.
  for (OpOperand *each : uses) {
    Operation *user = each->getOwner(), *here = op->getBlock()->findAncestorOpInBlock(*user);
    if (!here || (use && here != use) || (here != user && !isa<ir::ParallelOp>(here)))
      return false;
    use = here;
  }
  // Several uses in one grid share the argument; elsewhere the computation would be repeated.
  if (uses.size() > 1 && !isa<ir::ParallelOp>(use))
    return false;
  // A load of memory that changes later must not move behind the change.
  bool reads = isa<ir::LoadOp>(op) && !readsFinal(op);
  if (reads ? !isSafeAt(op, use) : !isa<ir::LoadOp>(op) && !isMemoryEffectFree(op))
    return false;
  // The use may move on as well, so the load must be safe at the place where it ends up.
  if (reads && use->getNumResults() == 1 && isInlined(use))
    return isMemoryEffectFree(use) && use->hasOneUse() &&
           isSafeAt(op, op->getBlock()->findAncestorOpInBlock(**use->getUsers().begin()));
  // A long expression is cut into statements.
  return (isPinned && uses.size() == 1) || weight(op) < kMaxWeight;
}

// ---- Statements ---------------------------------------------------------------------------------

void TileBody::block(mlir::Block &block) {
  Operation *outer = statement_;
  // Where the order matters for the name, names are given before anything is printed.
  if (keepsOrder())
    nameByOrder(block);
  for (Operation &op : block.without_terminator())
    statement(&op);
  statement_ = outer;
}

void TileBody::results(Operation *op) {
  if (op->getNumResults() == 1) {
    // A cast with a place is a statement of its own: `let x: _ @vec = …`.
    if (auto placed = dyn_cast<ir::CastOp>(op)) {
      std::string own = block::nameOf(placed.getLoc());
      std::string name = names_.fresh(isIdentifier(own) ? own : nameFor(placed.getResult()));
      std::string place =
          ir::placeName(llvm::cast<ir::ArrayType>(placed.getType()).getPlace()).str();
      line("let " + name + ": _ @" + place + " = " + value(placed.getSource()).text);
      return know(placed.getResult(), name);
    }
    if (needsTypedName(op)) {
      Expression position = value(op->getOperand(0));
      std::string name = names_.fresh(positionName(op->getResult(0)));
      line("let " + name + ": " + elementText(op->getResult(0).getType()) + " = " + position.text);
      return know(op->getResult(0), name);
    }
    std::string place = placeOf(op->getResult(0)), wanted = nameFor(op->getResult(0));
    // A value in the usual place says nothing about it.
    if (place.empty())
      return let(op->getResult(0), expressionOf(op, 0), wanted);
    Expression tile = expressionOf(op, 0);
    std::string name = names_.fresh(wanted);
    line("let " + name + ": _ @" + place + " = " + tile.text);
    return know(op->getResult(0), name);
  }
  Expression expression = expressionOf(op, 0);
  std::vector<std::string> names;
  for (Value result : op->getResults()) {
    // Unused parts of a tuple are marked, because the checker warns of them.
    bool isUsed = !result.use_empty();
    names.push_back(names_.fresh((isUsed ? "" : "_") + nameFor(result)));
    know(result, names.back());
  }
  line("let (" + llvm::join(names, ", ") + ") = " + expression.text);
}

void TileBody::statement(Operation *op) {
  statement_ = op;
  before(op);
  // Kinds of bodies may print some operations in their own way.
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
  // An operation without results is a statement.
  if (op->getNumResults() == 0)
    return line(expressionOf(op, 0).text);
  // The name of a length must be bound exactly once, where it is computed.
  if (isPositionOp(op) || !block::nameOf(op->getLoc()).empty())
    if (std::string name = lengthName(op->getResult(0)); !name.empty())
      return let(op->getResult(0), expressionOf(op, 0), name);
  // A long position that is used often gets a name.
  bool often = !counting_ && isPositionOp(op) && counts_[op] > 1 && !known_.count(op->getResult(0));
  if (often) {
    Expression expression = position(op);
    if (weightOf(expression.text) > kShort) {
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
  // Outside of kernels a whole array is assigned by its name; in a kernel it is stored by indexing.
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
  // A literal takes the element type of the array, unless it is converted.
  if (Operation *op = stored.getDefiningOp(); op && isConstantLike(op))
    return literal(op->getAttr("value"), stored.getType(),
                   stored.getType() != ir::elementTypeOf(store.getRef().getType()));
  return value(stored);
}

/// Whether nothing asks for what a variable was before a box of it is replaced.
bool TileBody::isInPlace(ir::InsertOp insert) const {
  Value dest = insert.getDest();
  // The other arm of a branch may keep it.
  Operation *branch = assigned_.lookup(dest);
  bool isBesideInsert = dest.getParentBlock() == insert->getBlock();
  return variables_.count(dest) &&
         (isBesideInsert || (branch && insert->getParentOp() == branch)) &&
         llvm::all_of(dest.getUsers(), [&](Operation *user) {
           bool isKept = isa<scf::YieldOp>(user) && user->getParentOp() == branch &&
                         user->getBlock() != insert->getBlock();
           return user == insert || isa<ir::DimOp>(user) || (branch && isKept);
         });
}

/// An array with a box replaced is a `var` that is assigned there; one that nothing else uses is
/// changed in place.
void TileBody::insert(ir::InsertOp insert) {
  Value dest = insert.getDest();
  // The variable is changed in place, so both values go by its name.
  if (isInPlace(insert)) {
    know(insert.getResult(), known_[dest].text);
    variables_.insert(insert.getResult());
  } else {
    // A copy is changed, because the old value is used further on.
    let(insert.getResult(), value(dest), nameFor(dest), "var");
  }
  // The target is written with the name of the new array.
  Expression before = std::exchange(known_[dest], known_[insert.getResult()]);
  std::string target = boxText(dest, insert.getOffsets(), insert.getLengths(), insert.getSteps(),
                               insert.getDropped(), insert.getIndex(),
                               static_cast<int64_t>(insert.getIndexAxis().value_or(0)));
  line(target + " = " + value(insert.getValue()).text);
  known_[dest] = before;
}

/// Checks of bounds and conversions are made again by the builder; the others are the author's.
void TileBody::check(ir::CheckOp check) {
  if (isMadeAgain(check))
    return;
  line(
      assertText(value(check.getCondition()).text, check.getMessage(), !check.getValues().empty()));
}

std::string TileBody::assertText(const std::string &holds, llvm::StringRef text,
                                 bool hasValues) const {
  std::string message;
  if (hasValues)
    // Values at the end of the message are printed again by the assertion.
    text = text.take_front(text.find(": `"));
  for (size_t i = 0; i < text.size(); ++i) {
    // A doubled brace stands for one.
    bool isDouble = text[i] == '{' && i + 1 < text.size() && text[i + 1] == '{';
    message +=
        text[i] == '"' || text[i] == '\\' ? std::string("\\") + text[i] : std::string(1, text[i]);
    i += isDouble;
  }
  return "assert(" + holds + ", \"" + message + "\")";
}

} // namespace ptl::source
