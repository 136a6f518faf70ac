// What `Trace` does for each operation.
#include "passes/transform/sync/derive_sync_trace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ptl::pto {

Trace::Trace(func::FuncOp function, int64_t size, bool vectorBarrier)
    : vectorBarrier_(vectorBarrier) {
  for (BlockArgument argument : function.getArguments())
    values_[argument] = size;
  for (Counts &clock : clocks_)
    clock.fill(0);
  function.walk([&](TPopOp pop) { queueOf_[pop.getTile()] = pop.getPipe(); });
  run(function.front());
  for (auto &[flag, state] : flags_)
    if (state.set)
      fault("an event is left set");
}

Range Trace::rangeOf(Value memory) {
  Operation *op = memory.getDefiningOp();
  if (auto box = dyn_cast_if_present<PartitionViewOp>(op)) {
    Range range{static_cast<unsigned>(100 + cast<BlockArgument>(rootOf(memory)).getArgNumber()),
                {}};
    for (auto [offset, size] : llvm::zip(box.getOffsets(), box.getSizes()))
      range.axes.push_back({value(offset), value(offset) + value(size)});
    return range;
  }
  if (auto window = dyn_cast<SubsetOp>(op)) {
    Range range = rangeOf(window.getSource());
    int64_t rowBytes = elementOffset(window.getSource().getType(), 1, 0);
    range.axes[0].first += value(window.getRow()) * rowBytes;
    range.axes[0].second = range.axes[0].first + window.getType().getRows() * rowBytes;
    return range;
  }
  auto type = cast<TileBufType>(memory.getType());
  int64_t begin = 0;
  if (auto alloc = dyn_cast<AllocTileOp>(op)) {
    begin = value(alloc.getAddr());
  } else if (auto get = dyn_cast<MultiTileGetOp>(op)) {
    auto alloc = get.getSource().getDefiningOp<AllocMultiTileOp>();
    begin = value(alloc.getAddr()) +
            value(get.getSlot()) % alloc.getType().getCount() * type.getBytes();
  } else {
    Value queue = queueOf_.lookup(memory);
    auto init = queue.getDefiningOp<InitializeL2G2LPipeOp>();
    int64_t slot = (pops_[queue] - 1) % *init.getLocalSlotNum();
    begin =
        *init.getLocalAddr().getDefiningOp<ReserveBufferOp>().getBase() + slot * type.getBytes();
  }
  return {static_cast<unsigned>(type.getPlace()), {{begin, begin + type.getBytes()}}};
}

void Trace::touch(Operation &op, size_t pipe, const pto::Access &what) {
  Access access{rangeOf(what.value), what.writes || what.scratch, pipe, done_[pipe], &op};
  for (const Access &earlier : accesses_) {
    if (!(earlier.writes || access.writes) || (earlier.op == &op && earlier.index == access.index))
      continue;
    bool inOrder = earlier.pipe == pipe &&
                   (pipe != pipeIndex(Pipe::V) || !vectorBarrier_ || access.range.space >= 100);
    if (inOrder || clocks_[pipe][earlier.pipe] > earlier.index ||
        !earlier.range.overlaps(access.range))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << "not in order: " << *earlier.op << " number " << earlier.index
                                   << "\n  and " << op << " number " << access.index;
    fault(text);
  }
  accesses_.push_back(access);
  ++numAccesses;
}

void Trace::runInstruction(Operation &op, size_t pipe) {
  if (auto pop = dyn_cast<TPopOp>(op))
    ++pops_[pop.getPipe()];
  for (const pto::Access &access : accessesOf(&op))
    touch(op, pipe, access);
  ++done_[pipe];
  if (auto get = dyn_cast<TGetValOp>(op))
    values_[get.getValue()] = 0;
}

void Trace::setFlag(PipeKind from, PipeKind to, int64_t id) {
  Flag &flag = flags_[{from, to, id}];
  size_t setter = static_cast<size_t>(from), waiter = static_cast<size_t>(to);
  if (flag.set || clocks_[setter][waiter] <= flag.lastWait)
    fault("an event is set that may not have been waited for: " + std::to_string(setter) + "->" +
          std::to_string(waiter) + " id " + std::to_string(id));
  if (id < 0 || id >= 8)
    fault("there is no such event");
  flag.set = true;
  flag.payload = clocks_[setter];
  flag.payload[setter] = done_[setter];
  ++numFlags;
  mostPending = std::max(mostPending, ++pending_);
}

void Trace::waitFlag(PipeKind from, PipeKind to, int64_t id) {
  Flag &flag = flags_[{from, to, id}];
  size_t waiter = static_cast<size_t>(to);
  if (!flag.set)
    fault("a wait for an event that nobody sets");
  for (size_t i = 0; i < kNumPipes; ++i)
    clocks_[waiter][i] = std::max(clocks_[waiter][i], flag.payload[i]);
  flag.set = false;
  flag.lastWait = done_[waiter]++;
  --pending_;
}

void Trace::runBarrier(PipeKind kind) {
  size_t pipe = static_cast<size_t>(kind);
  if (kind == PipeKind::PIPE_ALL)
    clocks_.fill(done_);
  else
    clocks_[pipe][pipe] = done_[pipe];
}

bool Trace::runSync(Operation &op) {
  if (auto set = dyn_cast<SetFlagOp>(op))
    setFlag(set.getSrcPipe(), set.getDstPipe(), static_cast<int64_t>(set.getEventId()));
  else if (auto set = dyn_cast<SetFlagDynOp>(op))
    setFlag(set.getSrcPipe(), set.getDstPipe(), value(set.getEventId()));
  else if (auto wait = dyn_cast<WaitFlagOp>(op))
    waitFlag(wait.getSrcPipe(), wait.getDstPipe(), static_cast<int64_t>(wait.getEventId()));
  else if (auto wait = dyn_cast<WaitFlagDynOp>(op))
    waitFlag(wait.getSrcPipe(), wait.getDstPipe(), value(wait.getEventId()));
  else if (auto barrier = dyn_cast<BarrierOp>(op))
    runBarrier(barrier.getPipe());
  else
    return false;
  return true;
}

bool Trace::runScalar(Operation &op) {
  if (!isa<arith::ArithDialect>(op.getDialect()))
    return false;
  int64_t a = op.getNumOperands() > 0 ? value(op.getOperand(0)) : 0;
  int64_t b = op.getNumOperands() > 1 ? value(op.getOperand(1)) : 0;
  int64_t result = 0;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto number = dyn_cast<IntegerAttr>(constant.getValue()))
      result = number.getInt();
  } else if (isa<arith::AddIOp>(op)) {
    result = a + b;
  } else if (isa<arith::SubIOp>(op)) {
    result = a - b;
  } else if (isa<arith::MulIOp>(op)) {
    result = a * b;
  } else if (isa<arith::DivUIOp>(op)) {
    result = a / b;
  } else if (isa<arith::RemUIOp>(op)) {
    result = a % b;
  } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    result = compare.getPredicate() == arith::CmpIPredicate::eq ? a == b : a < b;
  }
  values_[op.getResult(0)] = result;
  return true;
}

void Trace::runFor(scf::ForOp loop) {
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    values_[argument] = value(init);
  for (int64_t i = value(loop.getLowerBound()); i < value(loop.getUpperBound());
       i += value(loop.getStep())) {
    values_[loop.getInductionVar()] = i;
    run(*loop.getBody());
    llvm::SmallVector<int64_t> next;
    for (Value yielded : loop.getBody()->getTerminator()->getOperands())
      next.push_back(value(yielded));
    for (auto [argument, number] : llvm::zip(loop.getRegionIterArgs(), next))
      values_[argument] = number;
  }
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    values_[result] = value(argument);
}

void Trace::runWhile(scf::WhileOp loop) {
  llvm::SmallVector<int64_t> carried;
  for (Value init : loop.getInits())
    carried.push_back(value(init));
  for (;;) {
    for (auto [argument, number] : llvm::zip(loop.getBeforeArguments(), carried))
      values_[argument] = number;
    run(*loop.getBeforeBody());
    auto condition = loop.getConditionOp();
    for (auto [i, passed] : llvm::enumerate(condition.getArgs())) {
      values_[loop.getAfterArguments()[i]] = value(passed);
      values_[loop.getResult(static_cast<unsigned>(i))] = value(passed);
    }
    if (!value(condition.getCondition()))
      return;
    run(*loop.getAfterBody());
    for (auto [i, yielded] : llvm::enumerate(loop.getYieldOp()->getOperands()))
      carried[i] = value(yielded);
  }
}

void Trace::run(Block &block) {
  for (Operation &op : block) {
    if (runScalar(op) || runSync(op))
      continue;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      runFor(loop);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      runWhile(loop);
    else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (value(branch.getCondition()))
        run(*branch.thenBlock());
      else if (branch.elseBlock())
        run(*branch.elseBlock());
    } else if (std::optional<Pipe> pipe = pipeOf(&op)) {
      runInstruction(op, pipeIndex(*pipe));
    }
  }
}

} // namespace ptl::pto
