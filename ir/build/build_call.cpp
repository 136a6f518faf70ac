// Calls, and folds with a function of the program.
#include "ir/build/build_call.h"
#include "ir/build/build_assign.h"
#include "ir/build/build_check.h"
#include "ir/build/build_decl.h"
#include "ir/build/build_dim.h"
#include "ir/build/build_expr.h"
#include "ir/build/build_packed.h"
#include "ir/build/build_schedule.h"
#include "ir/build/build_stmt.h"
#include "ir/build/build_type.h"
#include "ir/build/carried.h"
#include "ir/dialect/fold.h"

using namespace mlir;

namespace ptl::ir {

static Frame calleeFrame(BuildContext &c, const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  Frame frame;
  frame.decl = &callee;
  frame.locals.resize(callee.locals.size());
  for (size_t i = 0; i < callee.dims.size() && i < expr.dimArgs.size(); ++i)
    frame.roots[callee.dims[i].symbol] = rootDim(c, expr.dimArgs[i]);
  for (const Elem &elem : expr.elemArgs)
    frame.elems.push_back(elemKind(c, elem));
  if (expr.prefixHasPrefix)
    frame.prefix = c.frame->prefix;
  for (const ptl::Extent &extent : expr.prefixArgs)
    frame.prefix.push_back(rootDim(c, extent.length));
  for (const DimParam &dim : callee.dims)
    if (dim.local)
      frame.locals[dim.local->index] = Bound::of(emitRoot(c, frame.roots[dim.symbol]));
  return frame;
}

/// Storage for `inout` arguments that are values here: the callee stores, the caller reads back.
static bool isValueInout(const CallArg &arg, const Bound &bound) {
  return arg.isInout && bound.kind == Bound::Kind::Value && isa<ArrayType>(bound.value.getType());
}

static mlir::Value allocate(BuildContext &c, ArrayType type, mlir::Value like, Location loc) {
  llvm::SmallVector<mlir::Value> lengths;
  for (auto [axis, extent] : llvm::enumerate(type.getExtents()))
    if (!extent.isConstant())
      lengths.push_back(lengthOf(c, like, static_cast<int64_t>(axis)));
  auto ref = RefType::get(&c.context, type.getElementType(), type.getExtents(), Place::Gm);
  return c.make<AllocOp>(loc, ref, lengths);
}

/// Gives an `inout` argument its new content.
static void assignInout(BuildContext &c, const CallArg &arg, mlir::Value value, Location loc) {
  Bound &target = slotOf(c, *arg.value);
  if (arg.value->kind != ExprKind::Index) {
    target.value = value;
    return;
  }
  const auto &place = cast<IndexExpr>(*arg.value);
  Box box = buildBox(c, place, target, true);
  if (isa<RefType>(target.value.getType()))
    return storeInto(c, value, target, box, AssignMode::Set, loc);
  target.value = c.make<InsertOp>(loc, target.value.getType(), value, target.value, box.offsets,
                                  box.lengths, box.steps, box.scatter,
                                  c.b.getDenseI64ArrayAttr(box.dropped), IntegerAttr());
}

/// The body of a kernel or program, with storage for its outputs, whose contents it gives.
static Bound runKernel(BuildContext &c, const CallableDecl &callee, Location loc) {
  for (const Local *output : callee.outputs) {
    // A kernel by hand is a function of its own, whose arguments have their names.
    Location own = callee.kind == DeclKind::ManualKernel
                       ? Location(NameLoc::get(c.b.getStringAttr(output->name), loc))
                       : loc;
    mlir::Value ref =
        c.make<AllocOp>(own, refType(c, *output->type), namedLengths(c, *output->type));
    c.bound(*output) = Bound::of(ref);
  }
  initOutputs(c);
  buildKernelBody(c, callee);
  Bound result;
  result.kind = Bound::Kind::Parts;
  for (const Local *output : callee.outputs)
    result.parts.push_back(readRef(c, c.bound(*output), loc));
  return result.parts.size() == 1 ? Bound(result.parts[0]) : result;
}

static Bound runCallee(BuildContext &c, const CallExpr &expr, Frame frame) {
  const CallableDecl &callee = *expr.callee;
  Location loc = c.here(expr);
  std::vector<std::pair<const CallArg *, mlir::Value>> copies;
  for (const CallArg &arg : expr.args) {
    Bound &bound = frame.locals[arg.param->index];
    // Only storage can be changed in place. A value gets some for the time of the call, and is read from it again behind the call.
    if (!isValueInout(arg, bound))
      continue;
    mlir::Value ref = allocate(c, cast<ArrayType>(bound.value.getType()), bound.value, loc);
    storeBox(c, bound.value, ref, wholeBox(c, ref), AssignMode::Set, loc);
    copies.emplace_back(&arg, ref);
    bound.value = ref;
  }
  Frame *outer = std::exchange(c.frame, &frame);
  LengthNames outside = c.names;
  assumeWheres(c);
  // A jump in the callee ends loops of the callee, or its call, and nothing around the call.
  std::optional<ExitFlags> outerExits = std::exchange(c.exits, std::nullopt);
  std::optional<ReturnSlot> outerSlot = std::exchange(c.returnSlot, std::nullopt);
  mlir::Block *block = c.b.getInsertionBlock();
  // What the call builds stands behind this operation, which is how its grids are found afterwards.
  bool atStart = c.b.getInsertionPoint() == block->begin();
  Operation *before = atStart ? nullptr : &*std::prev(c.b.getInsertionPoint());
  Bound result;
  if (callee.kind == DeclKind::Fn) {
    c.returned = {};
    buildStmts(c, bodyStmts(c, *callee.body), 0);
    result = c.returned;
  } else {
    result = runKernel(c, callee, loc);
  }
  bool ownsGrids = callee.kind == DeclKind::Kernel || callee.kind == DeclKind::ManualKernel;
  if (int64_t cores = frame.schedule ? frame.schedule->cores : 0; cores > 0 && !ownsGrids) {
    if (c.isInKernel())
      refuse(c, frame.schedule->coresSpan, "cores " + std::to_string(cores),
             "`" + callee.name + "` is called within a kernel, which has its cores");
    else
      shareCores(c, cores, *block, before);
  }
  refuseUntaken(c);
  c.frame = outer;
  c.names = outside;
  c.exits = outerExits;
  c.returnSlot = outerSlot;
  for (auto &[arg, ref] : copies)
    assignInout(c, *arg, readRef(c, Bound::of(ref), loc).value, loc);
  return result;
}

/// Whether a call cannot be compiled, which is said.
static bool isRefused(BuildContext &c, const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  if (callee.isBlockLevel && callee.kind != DeclKind::ManualKernel)
    c.fail(DiagId::BlockLevelNotOnTarget, expr.span, {callee.name, c.binding.machine});
  else if (!callee.body)
    c.fail(DiagId::ExternNotOnTarget, expr.span, {callee.name, c.binding.machine});
  else
    return c.isTooLarge(expr.span, "the call of `" + callee.name + "`");
  return true;
}

/// Bytes of elements of four bits are passed as they are: what the callee takes of them is unpacked there.
static Bound buildArgument(BuildContext &c, const CallArg &arg, Location loc) {
  const Bound *packed = packedBehind(c, *arg.value);
  if (packed && (arg.isInout || isa<ArrayType>(packed->value.getType())))
    return *packed;
  Bound value = buildExpr(c, *arg.value);
  return arg.isInout ? value : readRef(c, value, loc);
}

Bound buildCall(BuildContext &c, const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  Location loc = c.here(expr);
  for (const RuntimeCheck &check : expr.checks)
    if (check.condition && c.binding.checked)
      emitCondition(c, *check.condition, "where",
                    "`" + callee.name + "` needs `" + check.text + "`", loc);
  // What uses the result is built all the same, of zeros.
  if (isRefused(c, expr))
    return expr.type->kind == TypeKind::Void ? Bound() : zeroOf(c, *expr.type, loc);
  Frame frame = calleeFrame(c, expr);
  if (c.binding.ranges)
    frame.call = loc;
  checkElementTypes(c, frame);
  std::map<std::string, int64_t> overrides;
  for (const auto &[local, value] : expr.tunables)
    if (auto constant = value->dim ? constantDim(c, value->dim) : std::nullopt)
      overrides[local->name] = *constant;
    else if (value->kind == ExprKind::Const)
      overrides[local->name] = cast<ConstExpr>(value)->intValue;
  std::vector<std::pair<Local *, Bound>> written;
  for (const CallArg &arg : expr.args) {
    Bound value = buildArgument(c, arg, loc);
    frame.locals[arg.param->index] = value;
    if (arg.param->symbol && value.kind == Bound::Kind::Value) {
      Frame *outer = std::exchange(c.frame, &frame);
      bindSymbol(c, *arg.param->symbol, value.value);
      c.frame = outer;
    }
  }
  frame.schedule = scheduleOf(c, callee, frame);
  bindTunables(c, frame, overrides);
  return runCallee(c, expr, std::move(frame));
}

// ---- folds with a function: one operation, instead of steps that each go through all elements ----

/// The body of an elementwise function whose parameters are these arrays, which have the extents of the prefix.
static Bound buildOnArrays(BuildContext &c, const CallExpr &expr, std::vector<Dim> prefix,
                           ValueRange arrays) {
  Frame frame = calleeFrame(c, expr);
  frame.prefix = std::move(prefix);
  for (auto [arg, array] : llvm::zip_equal(expr.args, arrays))
    frame.locals[arg.param->index] = Bound::of(array);
  checkElementTypes(c, frame);
  frame.schedule = scheduleOf(c, *expr.callee, frame);
  bindTunables(c, frame, {});
  return readRefs(c, runCallee(c, expr, std::move(frame)), c.here(expr));
}

/// Whether there is code for a fold. Dimensions and tunables of the function would be values from around the body.
static bool hasCode(const BuildContext &c, const WrittenFold &fold) {
  return c.binding.machine == "cpu" && fold.step && fold.step->callee->body &&
         fold.step->callee->dims.empty() && fold.step->callee->tunables.empty();
}

/// Whether registers hold the elements: numbers of whole bytes, and conditions.
static bool fitsRegisters(BuildContext &c, const Expr *operand) {
  mlir::Type element = elementTypeOf(irType(c, *operand->type));
  return element.isInteger(1) || element.getIntOrFloatBitWidth() >= 8;
}

/// The function on single elements, as the body of the operation.
static void buildBody(BuildContext &c, const WrittenFold &fold, FoldOp op, Location loc) {
  OpBuilder::InsertionGuard guard(c.b);
  llvm::SmallVector<mlir::Type> types;
  // All results are wanted as yet.
  for (mlir::Type result : op.getResultTypes())
    types.push_back(arrayTypeOf(elementTypeOf(result), {Extent::constant(1)}));
  llvm::SmallVector<mlir::Type> both(types);
  both.append(types);
  mlir::Block *body =
      c.b.createBlock(&op.getBody(), {}, both, llvm::SmallVector<Location>(both.size(), loc));
  llvm::SmallVector<mlir::Value> values, combined;
  // Whatever shape the arrays of the call have, one element of each is combined at a time.
  flatten(buildOnArrays(c, *fold.step, {c.dims.constant(1)}, body->getArguments()), values);
  for (auto [value, type] : llvm::zip(values, types))
    combined.push_back(castTo(c, value, type, loc));
  c.make<FoldYieldOp>(loc, combined);
}

/// Whether the body yields what it should and needs nothing from around it.
static bool isClosed(FoldOp op) {
  size_t arrays = op.getNumResults();
  Operation *end = op.getBody().front().getTerminator();
  if (end->getNumOperands() != arrays)
    return false;
  return !op.getBody()
              .walk([&](Operation *inner) {
                for (mlir::Value operand : inner->getOperands())
                  if (!op.getBody().isAncestor(operand.getParentRegion()))
                    return WalkResult::interrupt();
                return WalkResult::advance();
              })
              .wasInterrupted();
}

/// One position of an axis, which what stands there lacks.
struct AxisPosition {
  int64_t axis;
  mlir::Value at;
};

/// The box of an array or of storage at some positions.
static Box boxAt(BuildContext &c, mlir::Value array, llvm::ArrayRef<AxisPosition> positions) {
  Box box;
  for (int64_t axis = 0; axis < rankOf(array.getType()); ++axis) {
    box.offsets.push_back(c.index(0));
    box.lengths.push_back(lengthOf(c, array, axis));
  }
  for (auto [axis, at] : positions) {
    box.offsets[static_cast<size_t>(axis)] = at;
    box.lengths[static_cast<size_t>(axis)] = c.index(1);
    box.dropped.push_back(axis);
  }
  llvm::sort(box.dropped);
  return box;
}

/// The extents of an array without the axes of the positions.
static llvm::SmallVector<Extent> extentsBeside(mlir::Type type,
                                               llvm::ArrayRef<AxisPosition> positions) {
  llvm::SmallVector<Extent> kept;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(type)))
    if (llvm::none_of(positions, [&](const AxisPosition &each) {
          return each.axis == static_cast<int64_t>(axis);
        }))
      kept.push_back(extent);
  return kept;
}

static mlir::Value elementsAt(BuildContext &c, mlir::Value array,
                              llvm::ArrayRef<AxisPosition> positions, Location loc) {
  Box box = boxAt(c, array, positions);
  llvm::SmallVector<Extent> kept = extentsBeside(array.getType(), positions);
  mlir::Type element = elementTypeOf(array.getType());
  mlir::Type type = kept.empty() ? element : mlir::Type(arrayTypeOf(element, kept));
  return c.make<SliceOp>(loc, type, array, box.offsets, box.lengths, ValueRange(), mlir::Value(),
                         c.b.getDenseI64ArrayAttr(box.dropped));
}

Bound buildFold(BuildContext &c, const WrittenFold &fold, Location loc) {
  if (!hasCode(c, fold) ||
      !llvm::all_of(fold.operands, [&](const Expr *x) { return fitsRegisters(c, x); }))
    return {};
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<mlir::Type> types;
  for (const Expr *operand : fold.operands)
    operands.push_back(buildValue(c, *operand));
  // Equal lengths may have several names.
  llvm::SmallVector<Extent> extents(extentsOf(operands.front().getType())), kept(extents);
  int64_t axis = static_cast<int64_t>(extents.size()) + fold.axis;
  if (fold.isReduce)
    kept[static_cast<size_t>(axis)] = Extent::constant(1);
  for (mlir::Value &operand : operands) {
    mlir::Type element = elementTypeOf(operand.getType());
    types.push_back(arrayTypeOf(element, kept));
    operand = castTo(c, operand, arrayTypeOf(element, extents), loc);
  }
  for (const Expr *start : fold.starts)
    operands.push_back(buildValue(c, *start));
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, static_cast<int64_t>(types.size())));
  auto op =
      c.make<FoldOp>(loc, types, operands, c.b.getI64IntegerAttr(axis),
                     c.b.getDenseI64ArrayAttr(all), fold.isReduce ? c.b.getUnitAttr() : UnitAttr());
  buildBody(c, fold, op, loc);
  if (!isClosed(op)) {
    op.erase();
    return {};
  }
  Bound result;
  result.kind = Bound::Kind::Parts;
  for (mlir::Value value : op.getResults())
    result.parts.push_back(
        Bound::of(fold.keepsAxis ? value : elementsAt(c, value, {{axis, c.index(0)}}, loc)));
  return result.parts.size() == 1 ? Bound(result.parts[0]) : result;
}

// ---- scans position by position ------------------------------------------------------------------

/// The last axis beside the scan's is run by the lanes of vector units, one before it by cores.
static constexpr size_t kMostLaneAxes = 2;
/// From so many bytes of one position on, passes through memory take longer than a round: it takes about
/// 50 ns on a3, and each pass reads the elements twice and writes them.
static constexpr int64_t kManyBytes = 2048;
/// Columns are turned into rows for the rounds, and back.
static constexpr int64_t kManyBytesOfColumns = 4 * kManyBytes;
/// A loop of fewer positions takes no longer than the launches of the passes.
static constexpr int64_t kFewPositions = 512;

mlir::Value goesByPosition(BuildContext &c, const WrittenFold &fold, Location loc) {
  if (!c.binding.chip || c.isInKernel() || fold.isReduce || !fold.step || !fold.step->callee->body)
    return {};
  size_t rank = extentsOf(irType(c, *fold.operands.front()->type)).size();
  int64_t most = fold.axis == -1 ? kManyBytesOfColumns : kManyBytes, bytes = 0;
  for (const Expr *operand : fold.operands) {
    auto bits = elementTypeOf(irType(c, *operand->type)).getIntOrFloatBitWidth();
    if (bits < 8) // bits do not lie in memory as in tiles
      return {};
    bytes += bits / 8;
  }
  if (rank < 2 || rank > kMostLaneAxes + 1)
    return {};
  mlir::Value array = buildValue(c, *fold.operands.front());
  auto axis = static_cast<int64_t>(rank) + fold.axis;
  mlir::Value elements = c.index(1);
  for (int64_t each = 0; each < static_cast<int64_t>(rank); ++each)
    if (each != axis)
      elements = c.b.createOrFold<arith::MulIOp>(loc, elements, lengthOf(c, array, each));
  auto atLeast = [&](mlir::Value a, mlir::Value b) {
    return c.b.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, a, b);
  };
  return c.b.createOrFold<arith::OrIOp>(loc, atLeast(elements, c.index(most / bytes)),
                                        atLeast(c.index(kFewPositions), lengthOf(c, array, axis)));
}

/// The last axis beside the scan's, by what the steps that are written out say of their arrays.
static std::vector<Dim> lanesOf(BuildContext &c, const WrittenFold &fold) {
  std::vector<Dim> lanes = calleeFrame(c, *fold.step).prefix;
  // The steps have the last axis of a matrix where its rows are.
  lanes.erase(lanes.end() + (fold.axis == -1 ? -2 : fold.axis));
  lanes.erase(lanes.begin(), lanes.end() - 1);
  return lanes;
}

/// What the loop carries into its first round.
static mlir::Value startOfLanes(BuildContext &c, const Expr &start, mlir::Value operand,
                                llvm::ArrayRef<AxisPosition> positions, Location loc) {
  Box box = boxAt(c, operand, positions);
  llvm::SmallVector<mlir::Value> values;
  for (auto [axis, extent] : llvm::enumerate(extentsOf(operand.getType())))
    if (!extent.isConstant() && !llvm::is_contained(box.dropped, static_cast<int64_t>(axis)))
      values.push_back(box.lengths[axis]);
  values.push_back(buildValue(c, start));
  OperationState state(loc, FullOp::getOperationName());
  state.addOperands(values);
  state.addTypes(
      arrayTypeOf(elementTypeOf(operand.getType()), extentsBeside(operand.getType(), positions)));
  return c.b.create(state)->getResult(0);
}

/// The rounds along the axis of the last position, at the others, which are there already.
static void buildRounds(BuildContext &c, const WrittenFold &fold,
                        llvm::ArrayRef<mlir::Value> operands, llvm::ArrayRef<mlir::Value> storage,
                        llvm::SmallVector<AxisPosition> positions, Location loc) {
  llvm::SmallVector<mlir::Value> starts, next;
  for (auto [operand, start] : llvm::zip_equal(operands, fold.starts))
    starts.push_back(startOfLanes(c, *start, operand, positions, loc));
  mlir::Value count = lengthOf(c, operands.front(), positions.back().axis);
  auto loop = c.make<scf::ForOp>(loc, c.index(0), count, c.index(1), starts);
  OpBuilder::InsertionGuard guard(c.b);
  c.b.setInsertionPointToStart(loop.getBody());
  positions.back().at = loop.getInductionVar();
  llvm::SmallVector<mlir::Value> both(loop.getRegionIterArgs());
  for (mlir::Value operand : operands)
    both.push_back(elementsAt(c, operand, positions, loc));
  flatten(buildOnArrays(c, *fold.step, lanesOf(c, fold), both), next);
  for (auto [value, before, ref] : llvm::zip_equal(next, starts, storage)) {
    value = castTo(c, value, before.getType(), loc);
    storeBox(c, value, ref, boxAt(c, ref, positions), AssignMode::Set, loc);
  }
  c.make<scf::YieldOp>(loc, next);
}

Bound buildByPosition(BuildContext &c, const WrittenFold &fold, Location loc) {
  llvm::SmallVector<mlir::Value> operands, storage;
  for (const Expr *operand : fold.operands) {
    operands.push_back(buildValue(c, *operand));
    auto type = cast<ArrayType>(operands.back().getType());
    storage.push_back(allocate(c, type, operands.back(), loc));
  }
  int64_t rank = rankOf(operands.front().getType()), axis = rank + fold.axis;
  {
    OpBuilder::InsertionGuard guard(c.b);
    llvm::SmallVector<AxisPosition> positions;
    // Of three axes the first one beside the scan's is a loop, whose rounds cores share.
    if (rank > 2) {
      int64_t other = axis == 0 ? 1 : 0;
      mlir::Value count = lengthOf(c, operands.front(), other);
      auto around = c.make<scf::ForOp>(loc, c.index(0), count, c.index(1));
      c.b.setInsertionPointToStart(around.getBody());
      positions.push_back({other, around.getInductionVar()});
    }
    positions.push_back({axis, mlir::Value()});
    buildRounds(c, fold, operands, storage, positions, loc);
  }
  Bound result;
  result.kind = Bound::Kind::Parts;
  for (mlir::Value ref : storage)
    result.parts.push_back(readRef(c, Bound::of(ref), loc));
  return result.parts.size() == 1 ? Bound(result.parts[0]) : result;
}

} // namespace ptl::ir
