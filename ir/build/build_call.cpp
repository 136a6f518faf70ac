// Calls: the callee's body is built in place, with its dimensions expressed in the entry's.
#include "ir/build/build_context.h"

#include "machines/machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::ir {

void Builder::bindTunables(Frame &frame, const std::map<std::string, int64_t> &overrides) {
  Frame *outer = std::exchange(frame_, &frame);
  for (const Tunable &tunable : frame.decl->tunables) {
    int64_t value = tunable.defaultValue;
    if (frame.schedule)
      for (const auto &[local, scheduled] : frame.schedule->tunables)
        if (local == tunable.local)
          value = scheduled;
    if (auto found = overrides.find(tunable.local->name); found != overrides.end())
      value = found->second;
    if (tunable.local->symbol)
      bindSymbolConstant(*tunable.local->symbol, value);
    Location loc = location(tunable.local->span);
    mlir::Value bound =
        tunable.isBool ? mlir::Value(make<arith::ConstantIntOp>(loc, value, 1)) : index(value);
    frame.locals[tunable.local->index] = Bound::of(bound);
  }
  frame_ = outer;
}

/// Why a machine cannot use so many core groups; empty: it can.
static std::string whyNotCores(int64_t cores, const EntryBinding &binding) {
  if (!binding.chip || binding.chip->executable)
    return "on `" + binding.machine + "` threads do the work";
  int64_t most = 0;
  for (const char *kind : {"aic", "aiv"})
    if (const MachineCore *core = binding.chip->core(kind))
      most = std::max<int64_t>(most, core->count);
  if (most == 0 || cores <= most)
    return "";
  return "`" + binding.machine + "` has " + std::to_string(most) + " cores of a kind";
}

/// The first schedule for this machine, then the first for every machine, whose `when` holds.
const ScheduleDecl *Builder::scheduleOf(const CallableDecl &decl, const Frame &frame) {
  auto holds = [&](const ScheduleDecl &schedule) {
    if (!schedule.when)
      return true;
    Frame copy = frame;
    Frame *outer = std::exchange(frame_, &copy);
    std::optional<bool> known = constantCondition(buildValue(*schedule.when));
    frame_ = outer;
    return known.value_or(false);
  };
  for (bool forMachine : {true, false})
    for (const auto &module : program_.modules)
      for (const ScheduleDecl *schedule : module->schedules)
        if (schedule->target == &decl &&
            schedule->machine == (forMachine ? binding_.machine : std::string()) &&
            holds(*schedule)) {
          std::string why = schedule->cores ? whyNotCores(schedule->cores, binding_) : "";
          if (!why.empty())
            fail(DiagId::ScheduleCannot, schedule->coresSpan,
                 {"cores " + std::to_string(schedule->cores), why});
          return schedule;
        }
  return nullptr;
}

Frame Builder::calleeFrame(const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  Frame frame;
  frame.decl = &callee;
  frame.locals.resize(callee.locals.size());
  for (size_t i = 0; i < callee.dims.size() && i < expr.dimArgs.size(); ++i)
    frame.roots[callee.dims[i].symbol] = rootDim(expr.dimArgs[i]);
  for (const Elem &elem : expr.elemArgs)
    frame.elems.push_back(elemKind(elem));
  if (expr.prefixHasPrefix)
    frame.prefix = frame_->prefix;
  for (const ptl::Extent &extent : expr.prefixArgs)
    frame.prefix.push_back(rootDim(extent.length));
  for (const DimParam &dim : callee.dims)
    if (dim.local)
      frame.locals[dim.local->index] = Bound::of(emitRoot(frame.roots[dim.symbol]));
  return frame;
}

Bound Builder::buildCall(const CallExpr &expr) {
  const CallableDecl &callee = *expr.callee;
  Location loc = here(expr);
  if (callee.isBlockLevel && callee.kind != DeclKind::ManualKernel)
    return fail(DiagId::BlockLevelNotOnTarget, expr.span, {callee.name, binding_.machine});
  for (const RuntimeCheck &check : expr.checks)
    if (check.condition && binding_.checked)
      emitCondition(*check.condition, "where", "`" + callee.name + "` needs `" + check.text + "`",
                    loc);
  if (isTooLarge(expr.span, "the call of `" + callee.name + "`"))
    return expr.type->kind == TypeKind::Void ? Bound() : zeroOf(*expr.type, loc);
  Frame frame = calleeFrame(expr);
  if (binding_.ranges)
    frame.call = loc;
  checkElementTypes(frame);
  std::map<std::string, int64_t> overrides;
  for (const auto &[local, value] : expr.tunables)
    if (auto constant = value->dim ? constantDim(value->dim) : std::nullopt)
      overrides[local->name] = *constant;
    else if (value->kind == ExprKind::Const)
      overrides[local->name] = static_cast<const ConstExpr *>(value)->intValue;
  std::vector<std::pair<Local *, Bound>> written;
  for (const CallArg &arg : expr.args) {
    Bound value = buildExpr(*arg.value);
    if (!arg.isInout)
      value = readRef(value, loc);
    frame.locals[arg.param->index] = value;
    if (arg.param->symbol && value.kind == Bound::Kind::Value) {
      Frame *outer = std::exchange(frame_, &frame);
      bindSymbol(*arg.param->symbol, value.value);
      frame_ = outer;
    }
  }
  frame.schedule = scheduleOf(callee, frame);
  bindTunables(frame, overrides);
  return runCallee(expr, std::move(frame));
}

/// Storage for `inout` arguments that are values here: the callee stores, the caller reads back.
static bool isValueInout(const CallArg &arg, const Bound &bound) {
  return arg.isInout && bound.kind == Bound::Kind::Value && isa<ArrayType>(bound.value.getType());
}

Bound Builder::runCallee(const CallExpr &expr, Frame frame) {
  const CallableDecl &callee = *expr.callee;
  Location loc = here(expr);
  std::vector<std::pair<const CallArg *, mlir::Value>> copies;
  for (const CallArg &arg : expr.args) {
    Bound &bound = frame.locals[arg.param->index];
    if (!isValueInout(arg, bound))
      continue;
    mlir::Value ref = allocate(cast<ArrayType>(bound.value.getType()), bound.value, loc);
    storeBox(bound.value, ref, wholeBox(ref), AssignMode::Set, loc);
    copies.emplace_back(&arg, ref);
    bound.value = ref;
  }
  Frame *outer = std::exchange(frame_, &frame);
  LengthNames outside = names_;
  assumeWheres();
  std::optional<ExitFlags> outerExits = std::exchange(exits_, std::nullopt);
  std::optional<ReturnSlot> outerSlot = std::exchange(returnSlot_, std::nullopt);
  mlir::Block *block = builder_.getInsertionBlock();
  bool atStart = builder_.getInsertionPoint() == block->begin();
  Operation *before = atStart ? nullptr : &*std::prev(builder_.getInsertionPoint());
  Bound result;
  if (callee.kind == DeclKind::Fn) {
    returned_ = {};
    buildStmts(bodyStmts(*callee.body), 0);
    result = returned_;
  } else {
    for (size_t i = 0; i < callee.outputs.size(); ++i) {
      const Type &type = *callee.outputs[i]->type;
      // A kernel by hand is a function of its own, whose arguments have their names.
      Location own =
          callee.kind == DeclKind::ManualKernel
              ? Location(NameLoc::get(builder_.getStringAttr(callee.outputs[i]->name), loc))
              : loc;
      mlir::Value ref = make<AllocOp>(own, refType(type), namedLengths(type));
      frame.locals[callee.outputs[i]->index] = Bound::of(ref);
    }
    initOutputs();
    buildKernelBody(callee);
    result.kind = Bound::Kind::Parts;
    for (const Local *output : callee.outputs)
      result.parts.push_back(readRef(frame.locals[output->index], loc));
    if (result.parts.size() == 1)
      result = Bound(result.parts[0]);
  }
  bool ownsGrids = callee.kind == DeclKind::Kernel || callee.kind == DeclKind::ManualKernel;
  if (int64_t cores = frame.schedule ? frame.schedule->cores : 0; cores > 0 && !ownsGrids) {
    if (isa<ParallelOp>(block->getParentOp()) ||
        block->getParentOp()->getParentOfType<ParallelOp>())
      refuse(frame.schedule->coresSpan, "cores " + std::to_string(cores),
             "`" + callee.name + "` is called within a kernel, which has its cores");
    else
      shareCores(cores, *block, before);
  }
  refuseUntaken();
  frame_ = outer;
  names_ = outside;
  exits_ = outerExits;
  returnSlot_ = outerSlot;
  for (auto &[arg, ref] : copies)
    assignInout(*arg, readRef(Bound::of(ref), loc).value, loc);
  return result;
}

mlir::Value Builder::allocate(ArrayType type, mlir::Value like, Location loc) {
  llvm::SmallVector<mlir::Value> lengths;
  for (auto [axis, extent] : llvm::enumerate(type.getExtents()))
    if (!extent.isConstant())
      lengths.push_back(lengthOf(like, static_cast<int64_t>(axis)));
  auto ref = RefType::get(&context_, type.getElementType(), type.getExtents(), Place::Gm);
  return make<AllocOp>(loc, ref, lengths);
}

/// Gives an `inout` argument its new content.
void Builder::assignInout(const CallArg &arg, mlir::Value value, Location loc) {
  if (arg.value->kind == ExprKind::LocalRef) {
    bound(*static_cast<const LocalRefExpr *>(arg.value)->local).value = value;
    return;
  }
  const auto &place = static_cast<const IndexExpr &>(*arg.value);
  if (place.base->kind != ExprKind::LocalRef)
    return;
  Bound &target = bound(*static_cast<const LocalRefExpr *>(place.base)->local);
  Box box = buildBox(place, target.value, true);
  if (isa<RefType>(target.value.getType()))
    return storeBox(value, target.value, box, AssignMode::Set, loc);
  target.value = make<InsertOp>(loc, target.value.getType(), value, target.value, box.offsets,
                                box.lengths, box.steps, box.scatter,
                                builder_.getDenseI64ArrayAttr(box.dropped), IntegerAttr());
}

} // namespace ptl::ir
