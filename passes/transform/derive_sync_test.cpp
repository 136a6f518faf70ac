// Random kernels are run step by step, on paper: every two accesses of the same bytes must be in
// order, every wait must be answered, no event set twice, none left.
#include "passes/transform/derive_sync.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <chrono>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace mlir;

namespace ptl::pto {
namespace {

using Counts = std::array<int64_t, numPipes>;

struct Range {
  unsigned space;
  std::vector<std::pair<int64_t, int64_t>> axes; ///< begin, end
  bool overlaps(const Range &other) const {
    if (space != other.space)
      return false;
    for (size_t i = 0; i < axes.size(); ++i)
      if (axes[i].first >= other.axes[i].second || other.axes[i].first >= axes[i].second)
        return false;
    return true;
  }
};

/// Runs a function's control flow and scalars, and keeps what each pipe knows of the others'
/// progress.
class Trace {
public:
  Trace(func::FuncOp function, int64_t size, bool vectorBarrier) : vectorBarrier_(vectorBarrier) {
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
  std::vector<std::string> faults;
  int64_t numAccesses = 0;
  unsigned numFlags = 0;
  /// How far the pipes can run apart: most sets that were pending at once.
  unsigned mostPending = 0;

private:
  struct Access {
    Range range;
    bool writes;
    size_t pipe;
    int64_t index;
    Operation *op;
  };
  struct Flag {
    bool set = false;
    Counts payload{};
    int64_t lastWait = -1;
  };

  void fault(std::string text) {
    if (faults.size() < 5)
      faults.push_back(std::move(text));
  }
  int64_t value(Value v) { return values_.lookup(v); }
  Range rangeOf(Value tile);
  void run(Block &block);
  void runFor(scf::ForOp loop);
  void runWhile(scf::WhileOp loop);
  bool runScalar(Operation &op);
  void runInstruction(Operation &op, size_t pipe);
  void touch(Operation &op, size_t pipe, const pto::Access &access);
  void setFlag(PipeKind from, PipeKind to, int64_t id);
  void waitFlag(PipeKind from, PipeKind to, int64_t id);
  void runBarrier(PipeKind kind);
  bool runSync(Operation &op);

  bool vectorBarrier_;
  llvm::DenseMap<Value, int64_t> values_;
  std::array<Counts, numPipes> clocks_; ///< what has been done for sure, by pipe that knows
  Counts done_{};
  std::vector<Access> accesses_;
  std::map<std::tuple<PipeKind, PipeKind, int64_t>, Flag> flags_;
  llvm::DenseMap<Value, Value> queueOf_;
  llvm::DenseMap<Value, int64_t> pops_; ///< by queue
  unsigned pending_ = 0;
};

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
    if (!(earlier.writes || access.writes) || earlier.op == &op && earlier.index == access.index)
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
  for (size_t i = 0; i < numPipes; ++i)
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

// ---- random kernels
// -------------------------------------------------------------------------------------------

/// Writes a kernel with all kinds of pipes; its buffers overlap here and there.
class RandomKernel {
public:
  explicit RandomKernel(unsigned seed) : random_(seed) {}
  std::string write();

private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string name() { return "%v" + std::to_string(next_++); }
  std::string tile(const std::string &type, int place);
  std::string box();
  void instruction();
  void statement(int depth);
  void body(int depth);
  void loop(int depth);
  void branch(int depth);
  void whileLoop(int depth);

  std::mt19937 random_;
  std::ostringstream out_;
  std::vector<std::string> numbers_; ///< that may number slots
  int next_ = 0;
};

static const char *const header = R"(
!vec = !pto.tile_buf<vec, 8x8xf32>
!mat = !pto.tile_buf<mat, 16x16xf16, blayout=col_major, slayout=row_major>
!left = !pto.tile_buf<left, 16x16xf16, blayout=col_major, slayout=row_major>
!right = !pto.tile_buf<right, 16x16xf16, slayout=col_major>
!acc = !pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>
!view = !pto.tensor_view<?x8xf32>
!box = !pto.partition_tensor_view<8x8xf32>
!hview = !pto.tensor_view<?x16xf16>
!hbox = !pto.partition_tensor_view<16x16xf16>
func.func @k(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %h: !pto.ptr<f16>, %n: index) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %k = arith.constant 2.0 : f32
  %a0 = arith.constant 0 : i64
  %a1 = arith.constant 256 : i64
  %a2 = arith.constant 384 : i64
  %a3 = arith.constant 512 : i64
  %a4 = arith.constant 1024 : i64
  %a5 = arith.constant 2048 : i64
  %a6 = arith.constant 4096 : i64
  %xv = pto.make_tensor_view %x, shape = [%n, %c8], strides = [%c8, %c1] : !view
  %yv = pto.make_tensor_view %y, shape = [%n, %c8], strides = [%c8, %c1] : !view
  %hv = pto.make_tensor_view %h, shape = [%n, %c16], strides = [%c16, %c1] : !hview
  %hp = pto.partition_view %hv, offsets = [%c0, %c0], sizes = [%c16, %c16] : !hview -> !hbox
  %res = pto.reserve_buffer {name = "q", size = 512, location = <vec>, auto = true, base = 8192} -> i32
  %queue = pto.initialize_l2g2l_pipe {dir_mask = 1, slot_size = 256, slot_num = 8, local_slot_num = 2} (%x : !pto.ptr<f32>, %res : i32) -> !pto.pipe
)";

std::string RandomKernel::tile(const std::string &type, int place) {
  std::string tile = name();
  int address = pick(7);
  if (pick(3)) {
    out_ << tile << " = pto.alloc_tile addr = %a" << address << " : " << type << "\n";
    return tile;
  }
  int count = 2 + pick(2);
  std::string all = name(),
              multi = "!pto.multi_tile_buf<" + type + ", count = " + std::to_string(count) + ">";
  out_ << all << " = pto.alloc_multi_tile addr = %a" << 4 + pick(3) << " : " << multi << "\n";
  std::string slot = numbers_.empty() || !pick(5) ? "%c" + std::to_string(pick(4))
                                                  : numbers_[random_() % numbers_.size()];
  if (pick(2)) {
    std::string rest = name();
    out_ << rest << " = arith.remui " << slot << ", %c" << count << " : index\n";
    slot = rest;
  }
  out_ << tile << " = pto.multi_tile_get " << all << "[" << slot << "] : " << multi << " -> "
       << type << "\n";
  (void)place;
  return tile;
}

std::string RandomKernel::box() {
  std::string box = name(), offset = "%c0";
  if (!numbers_.empty() && pick(3)) {
    offset = name();
    out_ << offset << " = arith.muli " << numbers_[random_() % numbers_.size()]
         << ", %c8 : index\n";
  }
  out_ << box << " = pto.partition_view " << (pick(2) ? "%xv" : "%yv") << ", offsets = [" << offset
       << ", %c0], sizes = [%c8, %c8] : !view -> !box\n";
  return box;
}

void RandomKernel::instruction() {
  switch (pick(10)) {
  case 0:
  case 1: {
    std::string from = box(), to = tile("!vec", 0);
    out_ << "pto.tload ins(" << from << " : !box) outs(" << to << " : !vec)\n";
    break;
  }
  case 2:
  case 3: {
    std::string a = tile("!vec", 0), b = tile("!vec", 0), to = pick(2) ? a : tile("!vec", 0);
    out_ << "pto.tadd ins(" << a << ", " << b << " : !vec, !vec) outs(" << to << " : !vec)\n";
    break;
  }
  case 4: {
    std::string from = tile("!vec", 0), to = box();
    out_ << "pto.tstore ins(" << from << " : !vec) outs(" << to << " : !box)\n";
    break;
  }
  case 5: {
    std::string to = tile("!mat", 1);
    out_ << "pto.tload ins(%hp : !hbox) outs(" << to << " : !mat)\n";
    break;
  }
  case 6: {
    bool left = pick(2);
    std::string type = left ? "!left" : "!right", from = tile("!mat", 1), to = tile(type, 2);
    out_ << "pto.tmov ins(" << from << " : !mat) outs(" << to << " : " << type << ")\n";
    break;
  }
  case 7: {
    std::string l = tile("!left", 2), r = tile("!right", 3), to = tile("!acc", 4);
    out_ << "pto.tmatmul ins(" << l << ", " << r << " : !left, !right) outs(" << to << " : !acc)\n";
    break;
  }
  case 8: {
    std::string from = tile("!acc", 4), to = tile("!mat", 1);
    out_ << "pto.tmov ins(" << from << " : !acc) outs(" << to << " : !mat)\n";
    break;
  }
  default: {
    std::string from = tile("!vec", 0), to = name();
    out_ << to << " = pto.tgetval ins(" << from << ", %c0 : !vec, index) outs : f32\n";
  }
  }
}

void RandomKernel::loop(int depth) {
  std::string i = name(), count = name(), more = name();
  const char *trips[] = {"%c0", "%c1", "%c2", "%c3", "%n", "%n"};
  std::string trip =
      numbers_.empty() || pick(3) ? trips[pick(6)] : numbers_[random_() % numbers_.size()];
  out_ << name() << " = scf.for " << i << " = %c0 to " << trip << " step %c1 iter_args(" << count
       << " = %c0) -> (index) {\n";
  size_t outer = numbers_.size();
  numbers_.push_back(i);
  numbers_.push_back(i);
  if (!pick(3))
    numbers_.push_back(count);
  if (!pick(3)) {
    std::string shifted = name();
    out_ << shifted << " = arith.addi " << i << ", %c1 : index\n";
    numbers_.push_back(shifted);
  }
  if (!pick(4)) {
    std::string popped = name();
    out_ << popped << " = pto.declare_tile -> !vec\npto.tpop(" << popped
         << ", %queue : !vec, !pto.pipe) {split = 0}\n";
    std::string other = tile("!vec", 0);
    out_ << "pto.tadd ins(" << popped << ", " << other << " : !vec, !vec) outs(" << other
         << " : !vec)\npto.tfree(%queue : !pto.pipe) {split = 0}\n";
  }
  body(depth + 1);
  numbers_.resize(outer);
  out_ << more << " = arith.addi " << count << ", %c1 : index\nscf.yield " << more
       << " : index\n}\n";
}

void RandomKernel::branch(int depth) {
  std::string rest = name(), condition = name();
  out_ << rest << " = arith.remui " << (numbers_.empty() ? "%n" : numbers_.back())
       << ", %c2 : index\n"
       << condition << " = arith.cmpi eq, " << rest << ", %c0 : index\nscf.if " << condition
       << " {\n";
  body(depth + 1);
  if (pick(2)) {
    out_ << "} else {\n";
    body(depth + 1);
  }
  out_ << "}\n";
}

void RandomKernel::whileLoop(int depth) {
  std::string i = name(), less = name(), j = name(), more = name();
  out_ << name() << " = scf.while (" << i << " = %c0) : (index) -> index {\n";
  if (pick(2))
    instruction();
  out_ << less << " = arith.cmpi ult, " << i << ", %n : index\nscf.condition(" << less << ") " << i
       << " : index\n} do {\n^bb0(" << j << ": index):\n";
  numbers_.push_back(j);
  body(depth + 1);
  numbers_.pop_back();
  out_ << more << " = arith.addi " << j << ", %c1 : index\nscf.yield " << more << " : index\n}\n";
}

void RandomKernel::statement(int depth) {
  int kind = depth < 3 ? pick(10) : 9;
  if (kind < 3)
    loop(depth);
  else if (kind == 3)
    branch(depth);
  else if (kind == 4 && !pick(4))
    whileLoop(depth);
  else
    instruction();
}

void RandomKernel::body(int depth) {
  for (int i = 1 + pick(5); i > 0; --i)
    statement(depth);
}

std::string RandomKernel::write() {
  out_ << header;
  body(0);
  body(0);
  out_ << "return\n}\n";
  return out_.str();
}

// ---- tests
// ----------------------------------------------------------------------------------------------------

class DeriveSync : public testing::Test {
protected:
  DeriveSync() {
    context_.loadDialect<ir::PtlDialect, PtoDialect, arith::ArithDialect, func::FuncDialect,
                         scf::SCFDialect>();
  }
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, &context_);
  }
  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }
  static func::FuncOp kernel(ModuleOp module) { return *module.getOps<func::FuncOp>().begin(); }

  /// Derives, and runs the result for several sizes. What is out of order, and the kernel; empty if
  /// all is well.
  std::string check(const std::string &text, const BlockMachine &machine,
                    SyncResult *out = nullptr) {
    OwningOpRef<ModuleOp> module = parse(text);
    if (!module)
      return "does not parse:\n" + text;
    SyncResult result;
    if (!deriveSync(kernel(*module), machine, result) || failed(verify(*module)))
      return "nothing derived, or invalid:\n" + text;
    if (out)
      *out = result;
    for (int64_t size : {0, 1, 2, 5}) {
      Trace trace(kernel(*module), size, machine.vectorBarrier);
      if (!trace.faults.empty())
        return "size " + std::to_string(size) + ": " + trace.faults.front() + "\n" + print(*module);
    }
    return "";
  }

  MLIRContext context_;
};

TEST_F(DeriveSync, RandomKernelsAreInOrder) {
  const char *more = getenv("PTL_SYNC_SEEDS");
  unsigned seeds = more ? static_cast<unsigned>(atoi(more)) : 300;
  unsigned full = 0, events = 0, failures = 0;
  std::string smallest;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    BlockMachine machine;
    machine.vectorBarrier = seed % 3 != 0;
    machine.eventIds = seed % 5 == 0 ? 3 : 8;
    SyncResult result;
    std::string wrong = check(RandomKernel(seed).write(), machine, &result);
    failures += !wrong.empty();
    if (!wrong.empty() && (smallest.empty() || wrong.size() < smallest.size()))
      smallest = "seed " + std::to_string(seed) + ", " + wrong;
    full += result.statistics.fullBarriers;
    events += result.statistics.events;
  }
  EXPECT_EQ(failures, 0u) << smallest;
  RecordProperty("events", static_cast<int>(events));
  RecordProperty("fullBarriers", static_cast<int>(full));
}

static std::string straight(int count, int buffers) {
  std::ostringstream out;
  out << header;
  for (int i = 0; i < buffers; ++i)
    out << "%b" << i << "a = arith.constant " << 256 * i << " : i64\n%b" << i
        << " = pto.alloc_tile addr = %b" << i << "a : !vec\n";
  out << "%xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !view -> !box\n"
      << "%yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c8] : !view -> !box\n";
  std::mt19937 random(7);
  for (int i = 0; i < count; ++i) {
    unsigned a = random() % static_cast<unsigned>(buffers),
             b = random() % static_cast<unsigned>(buffers);
    switch (random() % 4) {
    case 0:
      out << "pto.tload ins(%xp : !box) outs(%b" << a << " : !vec)\n";
      break;
    case 1:
      out << "pto.tstore ins(%b" << a << " : !vec) outs(%yp : !box)\n";
      break;
    default:
      out << "pto.tadd ins(%b" << a << ", %b" << b << " : !vec, !vec) outs(%b" << a << " : !vec)\n";
    }
  }
  out << "return\n}\n";
  return out.str();
}

TEST_F(DeriveSync, LongStraightCode) {
  for (int buffers : {4, 60, 400}) {
    SyncResult result;
    EXPECT_EQ(check(straight(600, buffers), BlockMachine(), &result), "") << buffers;
    EXPECT_EQ(result.statistics.fullBarriers, 0u) << buffers;
  }
}

TEST_F(DeriveSync, TimeGrowsWithSize) {
  for (int buffers : {8, 300}) {
    OwningOpRef<ModuleOp> module = parse(straight(10000, buffers));
    auto start = std::chrono::steady_clock::now();
    SyncResult result;
    ASSERT_TRUE(deriveSync(kernel(*module), BlockMachine(), result));
    double ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    RecordProperty("milliseconds" + std::to_string(buffers), std::to_string(ms));
    EXPECT_LT(ms, 2000) << buffers; // far above what it takes, for machines under load
  }
}

} // namespace
} // namespace ptl::pto
