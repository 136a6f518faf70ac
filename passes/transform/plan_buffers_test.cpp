// Random programs at block level are placed as tightly as may be and then executed on memory whose
// bytes remember who wrote them last: what an instruction reads must be what was written for it.
#include "passes/transform/plan_buffers.h"

#include "ir/dialect/instruction_op.h"
#include "passes/analysis/memory_map.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <random>

using namespace mlir;
using namespace ptl::pto;

namespace ptl::block {
namespace {

/// Writes a random program.
class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string program(int statements) {
    out_ = R"(!t0 = !pto.tile_buf<vec, 8x8xf32>
!t1 = !pto.tile_buf<vec, 16x32xf32>
!t2 = !pto.tile_buf<vec, 64x32xf32>
module { func.func @f(%x: !pto.ptr<f32>) {
%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%c3 = arith.constant 3 : index
%one = arith.constant 1.0 : f32
)";
    block(statements, 0);
    return out_ + "return\n}}\n";
  }

private:
  struct Tile {
    std::string name, type;
  };
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  std::string fresh() { return std::to_string(counter_++); }
  const Tile *pick(const std::string &type = "") {
    std::vector<const Tile *> fitting;
    for (const Tile &tile : tiles_)
      if (type.empty() || tile.type == type)
        fitting.push_back(&tile);
    return fitting.empty() ? nullptr : fitting[below(static_cast<unsigned>(fitting.size()))];
  }
  void instruction(const Tile &target) {
    const Tile *a = pick(target.type), *b = pick(target.type);
    std::string outs = " outs(" + target.name + " : " + target.type + ")\n";
    if (!a || below(4) == 0)
      out_ += (below(4) ? "pto.texpands ins(%one : f32)" : "pto.tci ins(%c0 : index)") + outs;
    else if (below(3) == 0)
      out_ += "pto.trecip ins(" + a->name + " : " + a->type + ")" + outs;
    else
      out_ += "pto.tadd ins(" + a->name + ", " + b->name + " : " + a->type + ", " + b->type + ")" +
              outs;
  }
  void newTile() {
    Tile tile{"%t" + fresh(), "!t" + std::to_string(below(3))};
    out_ += tile.name + " = pto.alloc_tile : " + tile.type + "\n";
    instruction(tile);
    tiles_.push_back(tile);
  }
  /// Each iteration writes the slot of the next and reads its own.
  void turn(int depth) {
    std::string n = fresh(), type = "!t" + std::to_string(below(3));
    std::string slots = "!pto.multi_tile_buf<" + type + ", count = 2>";
    out_ += "%m" + n + " = pto.alloc_multi_tile : " + slots + "\n";
    out_ += "scf.for %i" + n + " = %c0 to %c3 step %c1 {\n%n" + n + " = arith.addi %i" + n +
            ", %c1 : index\n";
    for (std::string slot : {"i", "n"})
      out_ += "%" + slot + "s" + n + " = pto.multi_tile_get %m" + n + "[%" + slot + n +
              "] : " + slots + " -> " + type + "\n";
    instruction({"%ns" + n, type});
    size_t scope = tiles_.size();
    tiles_.push_back({"%is" + n, type});
    block(3, depth + 1);
    tiles_.resize(scope);
    out_ += "}\n";
  }
  void nest(int statements, int depth) {
    std::string n = fresh();
    size_t scope = tiles_.size();
    if (below(2)) {
      out_ += "scf.for %j" + n + " = %c0 to %c3 step %c1 {\n";
      block(statements, depth + 1);
    } else {
      out_ += "%b" + n + " = arith.cmpi eq, %c0, %c" + std::to_string(below(2)) +
              " : index\nscf.if %b" + n + " {\n";
      block(statements, depth + 1);
      tiles_.resize(scope);
      out_ += "} else {\n";
      block(statements, depth + 1);
    }
    tiles_.resize(scope);
    out_ += "}\n";
  }
  void block(int statements, int depth) {
    for (int i = 0; i < statements; ++i) {
      unsigned kind = below(10);
      if (kind < 5 || tiles_.empty())
        newTile();
      else if (kind < 8)
        instruction(*pick());
      else if (depth < 3)
        kind == 8 ? nest(std::min(statements / 2 + 1, 6), depth) : turn(depth);
    }
  }

  std::mt19937 random_;
  std::string out_;
  std::vector<Tile> tiles_;
  unsigned counter_ = 0;
};

/// Executes in program order.
class Machine32 {
public:
  void run(Block &block) {
    for (Operation &op : block)
      step(&op);
  }
  int checked = 0, undefined = 0;

private:
  struct Storage {
    int64_t address, bytes;
    int *version;
  };
  static int64_t constantOf(Value value) {
    IntegerAttr attribute;
    EXPECT_TRUE(value && matchPattern(value, m_Constant(&attribute)));
    return attribute ? attribute.getInt() : 0;
  }
  Storage storageOf(Value tile) {
    int64_t bytes = cast<TileBufType>(tile.getType()).getBytes();
    if (auto alloc = tile.getDefiningOp<AllocTileOp>())
      return {constantOf(alloc.getAddr()), bytes, &versions_[{alloc, 0}]};
    auto get = tile.getDefiningOp<MultiTileGetOp>();
    auto alloc = get.getSource().getDefiningOp<AllocMultiTileOp>();
    int64_t slot = numbers_[get.getSlot()] % alloc.getType().getCount();
    return {constantOf(alloc.getAddr()) + slot * bytes, bytes, &versions_[{alloc, slot}]};
  }
  void step(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (int64_t i = 0; i < constantOf(loop.getUpperBound()); ++i) {
        numbers_[loop.getInductionVar()] = i;
        run(*loop.getBody());
      }
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      run((branch.thenBlock() && numbers_[branch.getCondition()]) ? *branch.thenBlock()
                                                                  : *branch.elseBlock());
    } else if (auto add = dyn_cast<arith::AddIOp>(op)) {
      numbers_[add] = numbers_[add.getLhs()] + 1;
    } else if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      numbers_[compare] = constantOf(compare.getLhs()) == constantOf(compare.getRhs());
    } else if (auto tile = dyn_cast<AllocTileOp>(op)) {
      versions_[{op, 0}] = 0;
    } else if (isa<AllocMultiTileOp>(op)) {
      versions_[{op, 0}] = versions_[{op, 1}] = 0;
    } else if (Instruction instruction(op); instruction) {
      execute(instruction);
    }
  }
  void execute(const Instruction &instruction) {
    Storage out = storageOf(instruction.outs().front());
    for (Value value : instruction.ins()) {
      if (!isa<TileBufType>(value.getType()))
        continue;
      Storage in = storageOf(value);
      bool shared = in.address < out.address + out.bytes && out.address < in.address + in.bytes;
      bool inPlace = instruction.info().has(InstructionInfo::InPlace) &&
                     !instruction.info().has(InstructionInfo::EitherOrder) &&
                     in.address == out.address;
      EXPECT_TRUE(!shared || in.version == out.version || inPlace);
      if (*in.version == 0) { // undefined
        ++undefined;
        continue;
      }
      ++checked;
      for (int64_t unit = in.address / 32; unit < (in.address + in.bytes) / 32; ++unit)
        ASSERT_EQ(memory_[unit], *in.version) << "what was read has been overwritten";
    }
    *out.version = ++writes_;
    for (int64_t unit = out.address / 32; unit < (out.address + out.bytes) / 32; ++unit)
      memory_[unit] = writes_;
  }

  llvm::DenseMap<Value, int64_t> numbers_;
  std::map<std::pair<Operation *, int64_t>, int> versions_;
  std::map<int64_t, int> memory_;
  int writes_ = 0;
};

class PlanBuffers : public testing::Test {
protected:
  PlanBuffers() {
    context_.loadDialect<PtoDialect, arith::ArithDialect, func::FuncDialect, scf::SCFDialect>();
  }
  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, ParserConfig(&context_));
  }
  MLIRContext context_;
};

// A machine with as much vector memory as is asked for.
ptl::Machine machineWith(int64_t bytes) {
  ptl::Machine machine;
  machine.name = "test";
  MemorySpace vec;
  vec.place = "vec";
  vec.bytes = bytes;
  vec.alignment = 32;
  machine.memories.push_back(vec);
  return machine;
}

TEST_F(PlanBuffers, RandomProgramsReadWhatWasWrittenForThem) {
  int checked = 0;
  int64_t peaks = 0, bounds = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    OwningOpRef<ModuleOp> module = parse(Generator(seed).program(4 + static_cast<int>(seed % 30)));
    ASSERT_TRUE(module);
    BufferLedger ledger;
    PlanOptions options;
    options.tight = seed % 4 != 0;
    ASSERT_FALSE(planBuffers(*module, machineWith(int64_t(1) << 30), ledger, options));
    const LedgerSpace &space = ledger.functions.at(0).spaces.at(0);
    if (options.tight) {
      peaks += space.peak;
      bounds += space.lowerBound;
    }
    Machine32 machine;
    machine.run((*module->getOps<func::FuncOp>().begin()).getBody().front());
    checked += machine.checked;
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GT(checked, 10000);
  EXPECT_LE(static_cast<double>(peaks), 1.02 * static_cast<double>(bounds));
  std::printf("%d reads checked, peak %.3f of the lower bound\n", checked,
              static_cast<double>(peaks) / static_cast<double>(bounds));
}

// With less and less memory, more is shared, until the lower bound; below it, it does not fit.
TEST_F(PlanBuffers, SharesOnlyAsMuchAsItMust) {
  OwningOpRef<ModuleOp> module = parse(Generator(7).program(40));
  BufferLedger ledger;
  PlanOptions look{.apply = false};
  ASSERT_FALSE(planBuffers(*module, machineWith(int64_t(1) << 30), ledger, look));
  LedgerSpace free = ledger.functions.at(0).spaces.at(0);
  EXPECT_EQ(free.sharing, Sharing::None);
  Sharing last = Sharing::None;
  for (int64_t bytes = free.peak; bytes >= free.lowerBound + free.lowerBound / 50;
       bytes -= free.peak / 40) {
    ASSERT_FALSE(planBuffers(*module, machineWith(bytes), ledger, look)) << bytes;
    EXPECT_GE(ledger.functions.at(0).spaces.at(0).sharing, last);
    last = ledger.functions.at(0).spaces.at(0).sharing;
  }
  EXPECT_GE(last, Sharing::Turns);
  auto overflow = planBuffers(*module, machineWith(free.lowerBound - 1), ledger, look);
  ASSERT_TRUE(overflow);
  EXPECT_EQ(overflow->needed, free.lowerBound);
  int64_t live = 0;
  for (const LedgerBuffer &buffer : overflow->live)
    live += buffer.total;
  EXPECT_GE(live, overflow->needed); // in-place pairs are both live where one takes over
}

TEST_F(PlanBuffers, PlanningIsRepeatable) {
  std::string text = Generator(3).program(30), first;
  for (int round = 0; round < 2; ++round) {
    OwningOpRef<ModuleOp> module = parse(text);
    BufferLedger ledger;
    ASSERT_FALSE(planBuffers(*module, machineWith(1 << 20), ledger));
    std::string now =
        ledgerJson(ledger) + ledgerText(ledger) + memoryMapText(ledger) + memoryMapSvg(ledger);
    if (round)
      EXPECT_EQ(now, first);
    first = now;
    // What has an address keeps it.
    BufferLedger again;
    ASSERT_FALSE(planBuffers(*module, machineWith(1 << 20), again));
    for (size_t i = 0; i < ledger.functions[0].spaces[0].buffers.size(); ++i)
      EXPECT_EQ(again.functions[0].spaces[0].buffers[i].address,
                ledger.functions[0].spaces[0].buffers[i].address);
  }
}

TEST_F(PlanBuffers, LargeFunctionsAreQuick) {
  std::string text = Generator(11).program(2000);
  OwningOpRef<ModuleOp> module = parse(text);
  BufferLedger ledger;
  std::clock_t start = std::clock();
  ASSERT_FALSE(planBuffers(*module, machineWith(int64_t(1) << 40), ledger, {.tight = true}));
  double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const LedgerSpace &space = ledger.functions[0].spaces[0];
  std::printf("%zu buffers: %.1f ms, waste %.2f %%\n", space.buffers.size(), 1000 * seconds,
              100.0 * static_cast<double>(space.waste) / static_cast<double>(space.lowerBound));
  EXPECT_LT(seconds, 2);
}

TEST(BufferOverflow, TheLargestThatFitsIsFoundByFewQuestions) {
  std::vector<int64_t> candidates = {16, 32, 64, 96, 128, 192, 256, 512};
  int asked = 0;
  auto fits = [&](int64_t limit) {
    return largestThatFits(candidates, [&, limit](int64_t value) {
      ++asked;
      return value <= limit;
    });
  };
  EXPECT_EQ(fits(200), 192);
  EXPECT_LE(asked, 4);
  EXPECT_EQ(fits(1000), 512);
  EXPECT_EQ(fits(16), 16);
  EXPECT_EQ(fits(1), std::nullopt);
}

TEST(BufferOverflow, SaysWhatIsLiveLargestFirst) {
  Overflow overflow;
  overflow.machine = "a3";
  overflow.needed = 204 * 1024;
  overflow.at.line = 37;
  overflow.space = {
      .place = "vec", .bytes = 196608, .reserved = 8192, .usable = 188416, .buffers = {}};
  overflow.space.lowerBound = overflow.needed;
  auto add = [&](std::string name, int64_t kib, int64_t count, uint32_t line) {
    LedgerBuffer buffer;
    buffer.name = name;
    buffer.bytes = kib * 1024;
    buffer.count = count;
    buffer.kind = count > 1 ? LedgerBuffer::Kind::Slots : LedgerBuffer::Kind::Tile;
    buffer.total = buffer.bytes * count;
    buffer.place = {"f.ptl", line, 7};
    overflow.live.push_back(buffer);
  };
  add("o", 48, 2, 18);
  add("s", 64, 1, 27);
  add("p", 32, 1, 30);
  for (const char *name : {"m", "l", "alpha"})
    add(name, 4, 1, 31);
  EXPECT_EQ(overflowText(overflow),
            "the vector buffer is full: 204 KiB needed at line 37, but `a3` has 184 "
            "KiB (192 less 8 reserved)");
  EXPECT_EQ(liveText(overflow), "o 2 × 48 KiB, `pipeline 2` (18:7) · s 64 KiB (27:7) · p 32 KiB "
                                "(30:7) · 12 KiB in 3 others");
  DiagnosticSink sink;
  reportOverflow(
      sink, {0, 1, 2}, overflow,
      {{FixId::SmallerTile, "`BK = 192` is the largest that fits", std::vector<TextEdit>()}});
  EXPECT_EQ(sink.all().at(0).helps.at(0), "`BK = 192` is the largest that fits");
}

} // namespace
} // namespace ptl::block
