// Statements: bindings, assignments, conditionals. Variables are SSA values; only outputs and
// inouts are storage.
#include "frontend/sema/reported.h"
#include "ir/build/build_context.h"
#include "ir/dialect/task_attribute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace ptl::ir {

void Builder::buildBlock(const ptl::Block &block) {
  LengthNames outside = names_;
  buildStmts(block.stmts, 0);
  if (block.value)
    buildExpr(*block.value);
  names_ = outside; // what is asserted here may not have been reached
}

Bound Builder::buildValueBlock(const ptl::Block &block) {
  buildStmts(block.stmts, 0);
  return block.value ? buildExpr(*block.value) : Bound();
}

/// Builds statements in order. What follows a conditional `return` moves into the arms that do not
/// return; what follows a possible `break` or `continue` is guarded by the flags.
void Builder::buildStmts(const std::vector<Stmt *> &stmts, size_t from) {
  for (size_t i = from; i < stmts.size(); ++i) {
    const Stmt &stmt = *stmts[i];
    bool last = i + 1 == stmts.size();
    bool returns = mayReturn(stmt);
    if (returns && !returnSlot_ && stmt.kind == StmtKind::If)
      return buildReturningIf(static_cast<const IfStmt &>(stmt), stmts, i + 1);
    if (returns && !returnSlot_ && (stmt.kind == StmtKind::For || stmt.kind == StmtKind::While))
      return buildReturningLoop(stmt, stmts, i + 1);
    buildStmt(stmt);
    if (stmt.kind == StmtKind::Return || stmt.kind == StmtKind::Break ||
        stmt.kind == StmtKind::Continue)
      return;
    if (!last && (mayExit(stmt) || returns))
      return buildGuarded(stmts, i + 1);
  }
}

void Builder::buildGuarded(const std::vector<Stmt *> &stmts, size_t from) {
  ptl::Block rest;
  rest.stmts.assign(stmts.begin() + static_cast<ptrdiff_t>(from), stmts.end());
  buildUnlessExited(rest, location(stmts[from]->span), [&] { buildStmts(rest.stmts, 0); });
}

/// `build` makes the block's code, which runs only while no flag is set.
void Builder::buildUnlessExited(const ptl::Block &block, Location loc,
                                llvm::function_ref<void()> build) {
  Slots slots = assignedSlots({&block});
  llvm::SmallVector<mlir::Value> before = slotValues(slots);
  mlir::Value active = notExited(loc);
  auto branch = make<scf::IfOp>(loc, ValueRange(before).getTypes(), active, true, true);
  auto buildArm = [&](mlir::Block *arm, bool run) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(arm);
    setSlots(slots, before);
    if (run)
      build();
    make<scf::YieldOp>(loc, slotValuesAs(slots, branch.getResultTypes(), loc));
  };
  buildArm(branch.thenBlock(), true);
  buildArm(branch.elseBlock(), false);
  setSlots(slots, branch.getResults());
}

/// What it computes is kept apart from what is around it, and bears its name. It is a unit that
/// `order` of a schedule moves.
void Builder::buildTask(const TaskStmt &stmt) {
  mlir::Block *block = builder_.getInsertionBlock();
  bool atStart = builder_.getInsertionPoint() == block->begin();
  Operation *before = atStart ? nullptr : &*std::prev(builder_.getInsertionPoint());
  buildBlock(*stmt.body);
  auto mark = builder_.getArrayAttr(
      {builder_.getStringAttr(stmt.name), builder_.getI64IntegerAttr(int64_t(stmt.span.begin))});
  auto first = before ? std::next(mlir::Block::iterator(before)) : block->begin();
  auto last = builder_.getInsertionBlock() == block ? builder_.getInsertionPoint() : block->end();
  bool isOrdered =
      frame_->schedule && llvm::any_of(frame_->schedule->orders, [&](const ScheduleLabels &labels) {
        return llvm::is_contained(labels.names, stmt.name);
      });
  for (Operation &op : llvm::make_range(first, last)) {
    if (isOrdered)
      op.setAttr("ptl.order", builder_.getStringAttr(stmt.name));
    op.walk([&](Operation *inner) {
      bool isOther = inner->hasAttr(kTaskAttribute); // of a task in it
      if (!isOther && !inner->hasTrait<mlir::OpTrait::ConstantLike>())
        inner->setAttr(kTaskAttribute, mark);
    });
  }
}

void Builder::buildStmt(const Stmt &stmt) {
  llvm::SaveAndRestore place(place_, location(stmt.span));
  ++built_;
  switch (stmt.kind) {
  case StmtKind::Let:
    return buildLet(static_cast<const LetStmt &>(stmt));
  case StmtKind::Assign:
    return buildAssign(static_cast<const AssignStmt &>(stmt));
  case StmtKind::ExprStmt:
    buildExpr(*static_cast<const ExprStmt &>(stmt).value);
    return;
  case StmtKind::For:
    return buildFor(static_cast<const ForStmt &>(stmt));
  case StmtKind::Parallel:
    return buildParallel(static_cast<const ParallelStmt &>(stmt));
  case StmtKind::While:
    return buildWhile(static_cast<const WhileStmt &>(stmt));
  case StmtKind::If:
    return buildIf(static_cast<const IfStmt &>(stmt));
  case StmtKind::Break:
    return setExit(&ExitFlags::broke, location(stmt.span));
  case StmtKind::Continue:
    return setExit(&ExitFlags::continued, location(stmt.span));
  case StmtKind::Return:
    return buildReturn(static_cast<const ReturnStmt &>(stmt));
  case StmtKind::Assert:
    return buildAssert(static_cast<const AssertStmt &>(stmt));
  case StmtKind::Task:
    return buildTask(static_cast<const TaskStmt &>(stmt));
  case StmtKind::Block:
    return buildBlock(*static_cast<const BlockStmt &>(stmt).block);
  case StmtKind::BlockDecl:
    return buildBlockDecl(static_cast<const BlockDeclStmt &>(stmt));
  case StmtKind::OnSection:
    if (manual_)
      return buildSection(static_cast<const OnStmt &>(stmt));
    fail(DiagId::BlockLevelNotOnTarget, stmt.span, {frame_->decl->name, binding_.machine});
    return;
  case StmtKind::Error:
    return;
  }
}

// ---- Bindings and assignments -------------------------------------------------------------------

/// Arrays, and integers, which examples may be given for.
static bool isNamed(mlir::Type type) {
  return isa<ArrayType>(type) || (type.isInteger() && !type.isInteger(1));
}

/// Later stages call a value by the name in its location: that of the first local that held it.
static void nameValue(mlir::Value value, llvm::StringRef name) {
  Operation *op = value.getDefiningOp();
  if (op && op->getNumResults() == 1 && isNamed(value.getType()) && !isa<NameLoc>(op->getLoc()))
    op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), name), op->getLoc()));
}

void Builder::bindLocal(Local &local, Bound value) {
  if (value.kind == Bound::Kind::Value && !local.name.empty())
    nameValue(value.value, local.name);
  if (local.symbol && value.kind == Bound::Kind::Value)
    bindSymbol(*local.symbol, value.value);
  bound(local) = std::move(value);
}

/// A range by another name: its lengths are that one's.
bool Builder::buildRangeName(const LetStmt &stmt) {
  if (!stmt.value || stmt.value->kind != ExprKind::LocalRef || stmt.locals.size() != 1)
    return false;
  const Local &given = *static_cast<const LocalRefExpr &>(*stmt.value).local,
              &name = *stmt.locals[0];
  const RangeInfo *from = given.type->range, *to = name.type->range;
  if (!from || !to)
    return false;
  for (auto [source, target] :
       {std::pair(from->start, to->start), std::pair(from->length, to->length),
        std::pair(from->count, to->count)})
    if (auto symbol = target ? target.symbol() : std::nullopt; symbol && source && from != to)
      frame_->roots[*symbol] = rootDim(source);
  bound(name) = Bound(bound(given));
  return true;
}

/// Replaces values in place: regions of control flow hold pointers to them.
void Builder::assignBound(Bound &target, const Bound &value) {
  if (target.kind != value.kind || target.parts.size() != value.parts.size()) {
    target = value;
    return;
  }
  target.value = value.value;
  target.start = value.start;
  target.length = value.length;
  target.step = value.step;
  target.size = value.size;
  target.count = value.count;
  for (size_t i = 0; i < target.parts.size(); ++i)
    assignBound(target.parts[i], value.parts[i]);
}

Bound Builder::zeroOf(const Type &type, Location loc) {
  if (type.kind == TypeKind::Tuple || type.kind == TypeKind::Struct) {
    Bound bound;
    bound.kind = Bound::Kind::Parts;
    for (const Type *element : type.elements)
      bound.parts.push_back(zeroOf(*element, loc));
    return bound;
  }
  if (!type.isArray())
    return Bound::of(constant(elemKind(type.elem), 0, 0, loc));
  OperationState state(loc, "ptl.zeros");
  state.addOperands(namedLengths(type));
  state.addTypes(irType(type));
  return Bound::of(builder_.create(state)->getResult(0));
}

/// A declaration may pin the place: `let a: f16[i, k] @mat = …`.
mlir::Value Builder::atPlace(mlir::Value value, const Type &type, Location loc) {
  auto array = dyn_cast<ArrayType>(value.getType());
  if (!array || type.place == ptl::Place::Inferred)
    return value;
  auto place = static_cast<Place>(type.place);
  auto placed = ArrayType::get(&context_, array.getElementType(), array.getExtents(), place);
  return castTo(value, placed, loc);
}

void Builder::buildLet(const LetStmt &stmt) {
  if (buildManualLet(stmt) || buildRangeName(stmt))
    return;
  Location loc = location(stmt.span);
  if (!stmt.value) {
    for (Local *local : stmt.locals)
      bindLocal(*local, zeroOf(*local->type, loc));
    return;
  }
  // A name for storage is what the storage holds now.
  Bound value = readRefs(buildExpr(*stmt.value), loc);
  if (stmt.locals.size() == 1) {
    if (value.kind == Bound::Kind::Value)
      value.value = atPlace(value.value, *stmt.locals[0]->type, loc);
    if (value.kind == Bound::Kind::Value)
      value.value = scheduled(*stmt.locals[0], value.value);
    else
      cannotSchedule(*stmt.locals[0], "`" + stmt.locals[0]->name + "` is no array");
    bindLocal(*stmt.locals[0], std::move(value));
    return;
  }
  for (size_t i = 0; i < stmt.locals.size() && i < value.parts.size(); ++i) {
    cannotSchedule(*stmt.locals[i],
                   "`" + stmt.locals[i]->name + "` is one of several results of an operation");
    bindLocal(*stmt.locals[i], value.parts[i]);
  }
}

static llvm::StringRef atomicName(AssignMode mode) {
  switch (mode) {
  case AssignMode::AtomicAdd:
    return "add";
  case AssignMode::AtomicMax:
    return "max";
  case AssignMode::AtomicMin:
    return "min";
  case AssignMode::Set:
    break;
  }
  return "";
}

void Builder::storeBox(mlir::Value value, mlir::Value ref, const Box &box, AssignMode mode,
                       Location loc) {
  IntegerAttr scatterAxis =
      box.scatter ? builder_.getI64IntegerAttr(box.scatterAxis) : IntegerAttr();
  StringAttr atomic =
      mode == AssignMode::Set ? StringAttr() : builder_.getStringAttr(atomicName(mode));
  make<StoreOp>(loc, value, ref, box.offsets, box.lengths, box.steps, box.scatter,
                builder_.getDenseI64ArrayAttr(box.dropped), scatterAxis, atomic);
}

void Builder::buildAssign(const AssignStmt &stmt) {
  Location loc = location(stmt.span);
  if (manual_ && stmt.place)
    return storeElement(*stmt.place, *stmt.value);
  Bound &target = bound(*stmt.target);
  mlir::Value place = target.value;
  bool isRef = target.kind == Bound::Kind::Value && isa<RefType>(place.getType());
  if (!stmt.place) {
    Bound value = readRefs(buildExpr(*stmt.value), loc);
    if (value.kind == Bound::Kind::Value && value.value.getDefiningOp())
      pinProduct(*stmt.target, value.value);
    if (isRef)
      storeBox(value.value, place, wholeBox(place), stmt.mode, loc);
    else
      assignBound(target, value);
    return;
  }
  // The right side is evaluated first; positions are checked right before the store.
  mlir::Value value = buildValue(*stmt.value);
  if (isRef)
    return storeBox(value, place, buildBox(*stmt.place, place, true), stmt.mode, loc);
  const Expr *base = stmt.place->base;
  Bound *slot = &target;
  if (base->kind == ExprKind::Field)
    slot = &target.parts[static_cast<const FieldExpr *>(base)->fieldIndex];
  Box box = buildBox(*stmt.place, slot->value, true);
  IntegerAttr scatterAxis =
      box.scatter ? builder_.getI64IntegerAttr(box.scatterAxis) : IntegerAttr();
  slot->value = make<InsertOp>(loc, slot->value.getType(), value, slot->value, box.offsets,
                               box.lengths, box.steps, box.scatter,
                               builder_.getDenseI64ArrayAttr(box.dropped), scatterAxis);
}

void Builder::emitCheck(mlir::Value condition, const char *status, const std::string &message,
                        llvm::ArrayRef<mlir::Value> values, Location loc) {
  make<CheckOp>(loc, condition, builder_.getStringAttr(status), builder_.getStringAttr(message),
                values);
}

/// In messages of checks a brace begins a value, unless there are two.
static std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text)
    result.append(c == '{' ? 2 : 1, c);
  return result;
}

void Builder::emitCondition(const Expr &condition, const char *status, const std::string &message,
                            Location loc) {
  std::string text = escaped(message);
  llvm::SmallVector<mlir::Value> values;
  for (const Expr *each : reportedValues(condition, sources_)) {
    text += (values.empty() ? ": `" : ", `") + escaped(sources_.text(each->span)) + "` is {" +
            std::to_string(values.size()) + "}";
    values.push_back(buildValue(*each));
    prebuilt_[each] = values.back();
  }
  mlir::Value holds = buildValue(condition);
  prebuilt_.clear();
  emitCheck(holds, status, text, values, loc);
}

void Builder::buildAssert(const AssertStmt &stmt) {
  std::string message = stmt.message.empty() ? "`" + stmt.text + "` does not hold" : stmt.message;
  emitCondition(*stmt.condition, "assert", message, location(stmt.span));
  assume(*stmt.condition);
}

// ---- Conditionals -------------------------------------------------------------------------------

std::optional<bool> Builder::constantCondition(mlir::Value condition) {
  if (matchPattern(condition, m_One()))
    return true;
  if (matchPattern(condition, m_Zero()))
    return false;
  return std::nullopt;
}

void Builder::buildIf(const IfStmt &stmt) {
  Location loc = location(stmt.span);
  mlir::Value condition = buildValue(*stmt.condition);
  if (std::optional<bool> known = constantCondition(condition)) {
    if (const ptl::Block *block = *known ? stmt.thenBlock : stmt.elseBlock)
      buildBlock(*block);
    return;
  }
  Slots slots = assignedSlots({stmt.thenBlock, stmt.elseBlock});
  llvm::SmallVector<mlir::Value> before = slotValues(slots);
  auto branch = make<scf::IfOp>(loc, ValueRange(before).getTypes(), condition, true, true);
  auto build = [&](mlir::Block *target, const ptl::Block *source) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(target);
    setSlots(slots, before);
    if (source)
      buildBlock(*source);
    make<scf::YieldOp>(loc, slotValuesAs(slots, branch.getResultTypes(), loc));
  };
  build(branch.thenBlock(), stmt.thenBlock);
  build(branch.elseBlock(), stmt.elseBlock);
  setSlots(slots, branch.getResults());
}

void flatten(const Bound &bound, llvm::SmallVectorImpl<mlir::Value> &values) {
  if (bound.kind == Bound::Kind::Value)
    values.push_back(bound.value);
  for (const Bound &part : bound.parts)
    flatten(part, values);
}

void refill(Bound &bound, ValueRange values, size_t &next) {
  if (bound.kind == Bound::Kind::Value)
    bound.value = values[next++];
  for (Bound &part : bound.parts)
    refill(part, values, next);
}

/// The statements of a body whose value, if it has one, is returned.
std::vector<Stmt *> Builder::bodyStmts(const ptl::Block &body) {
  std::vector<Stmt *> stmts = body.stmts;
  if (body.value) {
    ReturnStmt &result = bodyResults_.emplace_back();
    result.kind = StmtKind::Return;
    result.span = body.value->span;
    result.value = body.value;
    stmts.push_back(&result);
  }
  return stmts;
}

/// Inside a loop the value goes to the slot that the loop carries, and the loop is left.
void Builder::buildReturn(const ReturnStmt &stmt) {
  Location loc = location(stmt.span);
  Bound value = stmt.value ? readRef(buildExpr(*stmt.value), loc) : Bound();
  if (!returnSlot_) {
    returned_ = std::move(value);
    return;
  }
  Slots from, to;
  addSlots(value, from);
  addSlots(returnSlot_->value, to);
  for (auto [source, target] : llvm::zip(from, to))
    *target = castTo(*source, (*target).getType(), loc);
  returnSlot_->flag = make<arith::ConstantIntOp>(loc, 1, 1);
  setExit(&ExitFlags::broke, loc);
}

/// A branch whose arms both return. The result's types are known only when the first arm is built,
/// so the arms are built aside and moved.
void Builder::buildReturningBranch(mlir::Value condition, const std::function<void()> &thenArm,
                                   const std::function<void()> &elseArm, Location loc) {
  Frame saved = *frame_;
  auto buildArm = [&](Region &region, const std::function<void()> &arm) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.createBlock(&region);
    *frame_ = saved;
    arm();
    return returned_;
  };
  Region thenRegion, elseRegion;
  Bound thenValue = buildArm(thenRegion, thenArm);
  Bound elseValue = buildArm(elseRegion, elseArm);
  *frame_ = saved;
  llvm::SmallVector<mlir::Value> thenValues, elseValues;
  flatten(thenValue, thenValues);
  flatten(elseValue, elseValues);
  auto branch = make<scf::IfOp>(loc, ValueRange(thenValues).getTypes(), condition, false, false);
  auto finish = [&](Region &target, Region &source, llvm::ArrayRef<mlir::Value> values) {
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(&source.front());
    llvm::SmallVector<mlir::Value> results;
    for (auto [value, type] : llvm::zip(values, branch.getResultTypes()))
      results.push_back(castTo(value, type, loc));
    make<scf::YieldOp>(loc, results);
    target.takeBody(source);
  };
  finish(branch.getThenRegion(), thenRegion, thenValues);
  finish(branch.getElseRegion(), elseRegion, elseValues);
  returned_ = thenValue;
  size_t position = 0;
  refill(returned_, branch.getResults(), position);
}

/// `if c { return a } rest` is `if c { a } else { rest }`, as a value.
void Builder::buildReturningIf(const IfStmt &stmt, const std::vector<Stmt *> &stmts, size_t next) {
  auto continueWith = [&](const ptl::Block *block) {
    std::vector<Stmt *> all;
    if (block)
      all = block->stmts;
    all.insert(all.end(), stmts.begin() + static_cast<ptrdiff_t>(next), stmts.end());
    buildStmts(all, 0);
  };
  mlir::Value condition = buildValue(*stmt.condition);
  if (std::optional<bool> known = constantCondition(condition))
    return continueWith(*known ? stmt.thenBlock : stmt.elseBlock);
  buildReturningBranch(
      condition, [&] { continueWith(stmt.thenBlock); }, [&] { continueWith(stmt.elseBlock); },
      location(stmt.span));
}

/// The outermost loop with a `return` carries whether it was reached, and its value.
void Builder::buildReturningLoop(const Stmt &loop, const std::vector<Stmt *> &stmts, size_t next) {
  Location loc = location(loop.span);
  const Type *type = frame_->decl->kind == DeclKind::Fn ? frame_->decl->returnType : nullptr;
  bool hasValue = type && type->kind != TypeKind::Void;
  returnSlot_ =
      ReturnSlot{make<arith::ConstantIntOp>(loc, 0, 1), hasValue ? zeroOf(*type, loc) : Bound()};
  buildStmt(loop);
  ReturnSlot slot = *std::exchange(returnSlot_, std::nullopt);
  buildReturningBranch(
      slot.flag, [&] { returned_ = slot.value; }, [&] { buildStmts(stmts, next); }, loc);
}

void Builder::buildWhile(const WhileStmt &stmt) {
  Location loc = location(stmt.span);
  std::optional<ExitFlags> outer = exits_;
  bool exits = mayExit(*stmt.body) || mayReturn(stmt);
  mlir::Value no = make<arith::ConstantIntOp>(loc, 0, 1);
  exits_ = ExitFlags{no, no};
  Slots slots = assignedSlots({stmt.body});
  llvm::SmallVector<mlir::Value> init = slotValues(slots);
  llvm::SmallVector<mlir::Type> types(ValueRange(init).getTypes());
  auto before = [&](OpBuilder &, Location, ValueRange args) {
    setSlots(slots, args);
    mlir::Value go = buildValue(*stmt.condition);
    if (exits) {
      mlir::Value one = make<arith::ConstantIntOp>(loc, 1, 1);
      mlir::Value running = make<arith::XOrIOp>(loc, exits_->broke, one);
      go = make<arith::AndIOp>(loc, running, go);
    }
    make<scf::ConditionOp>(loc, go, args);
  };
  auto after = [&](OpBuilder &, Location, ValueRange args) {
    setSlots(slots, args);
    if (exits)
      exits_->continued = make<arith::ConstantIntOp>(loc, 0, 1);
    buildBlock(*stmt.body);
    make<scf::YieldOp>(loc, slotValuesAs(slots, types, loc));
  };
  auto loop = builder_.create<scf::WhileOp>(loc, types, init, before, after);
  nameArguments(slots, loop.getBeforeArguments());
  nameArguments(slots, loop.getAfterArguments());
  setSlots(slots, loop.getResults());
  exits_ = outer;
  leaveOuterLoop(loc);
}

} // namespace ptl::ir
