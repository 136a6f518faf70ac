// Random kernels are run step by step, on paper: every two accesses of the same bytes must be in
// order, every wait must be answered, no event set twice, none left.
#include "passes/transform/sync/derive_sync_trace.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <ctime>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

using namespace mlir;

namespace ptl::pto {
namespace {

// ---- random kernels -----------------------------------------------------------------------------

/// Writes a kernel with all kinds of pipes; its buffers overlap here and there.
class RandomKernel {
public:
  explicit RandomKernel(unsigned seed) : random_(seed) {}
  std::string write();

private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string name() { return "%v" + std::to_string(next_++); }
  std::string tile(const std::string &type);
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

std::string RandomKernel::tile(const std::string &type) {
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
    std::string from = box(), to = tile("!vec");
    out_ << "pto.tload ins(" << from << " : !box) outs(" << to << " : !vec)\n";
    break;
  }
  case 2:
  case 3: {
    std::string a = tile("!vec"), b = tile("!vec"), to = pick(2) ? a : tile("!vec");
    out_ << "pto.tadd ins(" << a << ", " << b << " : !vec, !vec) outs(" << to << " : !vec)\n";
    break;
  }
  case 4: {
    std::string from = tile("!vec"), to = box();
    out_ << "pto.tstore ins(" << from << " : !vec) outs(" << to << " : !box)\n";
    break;
  }
  case 5: {
    std::string to = tile("!mat");
    out_ << "pto.tload ins(%hp : !hbox) outs(" << to << " : !mat)\n";
    break;
  }
  case 6: {
    bool left = pick(2);
    std::string type = left ? "!left" : "!right", from = tile("!mat"), to = tile(type);
    out_ << "pto.tmov ins(" << from << " : !mat) outs(" << to << " : " << type << ")\n";
    break;
  }
  case 7: {
    std::string l = tile("!left"), r = tile("!right"), to = tile("!acc");
    out_ << "pto.tmatmul ins(" << l << ", " << r << " : !left, !right) outs(" << to << " : !acc)\n";
    break;
  }
  case 8: {
    std::string from = tile("!acc"), to = tile("!mat");
    out_ << "pto.tmov ins(" << from << " : !acc) outs(" << to << " : !mat)\n";
    break;
  }
  default: {
    std::string from = tile("!vec"), to = name();
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
    std::string other = tile("!vec");
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

// ---- tests --------------------------------------------------------------------------------------

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
  unsigned seeds = more ? static_cast<unsigned>(atoi(more)) : 150;
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

/// Loads into one of `count` slots, computes, stores from one of `count` others.
static std::string pipelined(int count) {
  std::ostringstream out;
  std::string multi = "!pto.multi_tile_buf<!vec, count = " + std::to_string(count) + ">";
  out << header << "%as = pto.alloc_multi_tile addr = %a0 : " << multi
      << "\n%bs = pto.alloc_multi_tile addr = %a6 : " << multi << R"(
scf.for %i = %c0 to %n step %c1 {
  %row = arith.muli %i, %c8 : index
  %xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c8, %c8] : !view -> !box
  %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c8, %c8] : !view -> !box
  %a = pto.multi_tile_get %as[%i] : )"
      << multi << " -> !vec loc(\"a\")\n%b = pto.multi_tile_get %bs[%i] : " << multi
      << R"( -> !vec loc("b")
  pto.tload ins(%xp : !box) outs(%a : !vec) loc("k.ptl":1:2)
  pto.tadd ins(%a, %a : !vec, !vec) outs(%b : !vec) loc("k.ptl":3:4)
  pto.tstore ins(%b : !vec) outs(%yp : !box) loc("k.ptl":5:6)
}
return
}
)";
  return out.str();
}

TEST_F(DeriveSync, SlotsInTurnHaveEventsInTurn) {
  for (int count : {2, 3, 4}) {
    SyncResult result;
    EXPECT_EQ(check(pipelined(count), BlockMachine(), &result), "");
    const SyncStatistics &statistics = result.statistics;
    EXPECT_EQ(statistics.events, 4u);
    EXPECT_EQ(statistics.barriers, 0u) << "the way through the store orders the vector pipe, too";
    for (auto [from, to] :
         {std::pair{Pipe::MTE2, Pipe::V}, {Pipe::V, Pipe::MTE2}, {Pipe::V, Pipe::MTE3}})
      EXPECT_EQ(statistics.ids[pairIndex(from, to)], static_cast<unsigned>(count));
  }
}

TEST_F(DeriveSync, SaysWhy) {
  OwningOpRef<ModuleOp> module = parse(pipelined(2));
  SyncResult result;
  ASSERT_TRUE(deriveSync(kernel(*module), BlockMachine(), result));
  std::vector<std::string> reasons;
  for (const SyncEdge &edge : result.edges)
    reasons.push_back(edge.why);
  EXPECT_EQ(reasons,
            (std::vector<std::string>{"RAW on `a`: tload (1:2) -> tadd (3:4)",
                                      "RAW on `b`: tadd (3:4) -> tstore (5:6)",
                                      "WAR on `a`: tadd (3:4) in iteration i-2 -> tload (1:2)",
                                      "WAR on `b`: tstore (5:6) in iteration i-2 -> tadd (3:4)"}));
  std::string json;
  llvm::raw_string_ostream os(json);
  writeSyncJson("k", result, os);
  EXPECT_NE(json.find("\"why\": \"RAW on `a`: tload (1:2) -> tadd (3:4)\""), std::string::npos)
      << json;
  EXPECT_NE(json.find("\"mte2->v\": 2"), std::string::npos) << json;
}

TEST_F(DeriveSync, LeavesAloneWhatIsSynchronised) {
  std::string text = std::string(header) + "pto.barrier <PIPE_ALL>\nreturn\n}\n";
  OwningOpRef<ModuleOp> module = parse(text);
  SyncResult result;
  EXPECT_FALSE(deriveSync(kernel(*module), BlockMachine(), result));
}

TEST_F(DeriveSync, FewIdsMakeCoarserOrder) {
  BlockMachine machine;
  for (machine.eventIds = 1; machine.eventIds <= 4; ++machine.eventIds) {
    EXPECT_EQ(check(pipelined(4), machine), "") << machine.eventIds;
    EXPECT_EQ(check(straight(100, 6), machine), "") << machine.eventIds;
  }
}

/// Adds up many inputs as they come, each in two slots.
static std::string sumOf(int inputs) {
  std::ostringstream out;
  std::string multi = "!pto.multi_tile_buf<!vec, count = 2>";
  out << header << "%acc = pto.alloc_tile addr = %a6 : !vec\n";
  for (int i = 0; i < inputs; ++i)
    out << "%at" << i << " = arith.constant " << 8192 + 512 * i << " : i64\n%in" << i
        << " = pto.alloc_multi_tile addr = %at" << i << " : " << multi << "\n";
  out << "scf.for %i = %c0 to %n step %c1 {\n%row = arith.muli %i, %c8 : index\n%xp = "
         "pto.partition_view %xv, "
         "offsets = [%row, %c0], sizes = [%c8, %c8] : !view -> !box\n";
  for (int i = 0; i < inputs; ++i)
    out << "%t" << i << " = pto.multi_tile_get %in" << i << "[%i] : " << multi << " -> !vec\n"
        << "pto.tload ins(%xp : !box) outs(%t" << i << " : !vec)\n"
        << "pto.tadd ins(%acc, %t" << i << " : !vec, !vec) outs(%acc : !vec)\n";
  out << "}\nreturn\n}\n";
  return out.str();
}

TEST_F(DeriveSync, ManyInputsStillRunAhead) {
  for (int inputs : {2, 4, 5, 6, 9, 20, 30}) {
    SyncResult result;
    EXPECT_EQ(check(sumOf(inputs), BlockMachine(), &result), "") << inputs;
    EXPECT_EQ(result.statistics.fullBarriers, 0u) << inputs;
    // There are fewer ids than slots, so inputs take turns together; loads still run ahead by
    // slots.
    bool inTurn = llvm::any_of(result.edges,
                               [](const SyncEdge &edge) { return edge.carried && edge.ids == 2; });
    EXPECT_TRUE(inTurn) << inputs;
    EXPECT_GE(result.statistics.ids[pairIndex(Pipe::MTE2, Pipe::V)], 2u) << inputs;
  }
}

TEST_F(DeriveSync, TimeGrowsWithSize) {
  for (int buffers : {8, 300}) {
    OwningOpRef<ModuleOp> module = parse(straight(10000, buffers));
    std::clock_t start = std::clock(); // of the processor, which other work does not lengthen
    SyncResult result;
    ASSERT_TRUE(deriveSync(kernel(*module), BlockMachine(), result));
    double ms = 1000 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    RecordProperty("milliseconds" + std::to_string(buffers), std::to_string(ms));
    EXPECT_LT(ms, 2000) << buffers; // far above what it takes, for machines under load
  }
}

} // namespace
} // namespace ptl::pto
