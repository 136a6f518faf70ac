#include "passes/prover/prover_fixture.h"

#include "passes/prover/mutation/mutate.h"
#include "passes/prover/mutation/shuffle.h"
#include "passes/prover/prove_kernel.h"
#include "passes/prover/read.h"

namespace ptl::prove {
namespace {

TEST_F(Prover, VectorBarrierIsUpToTheMachine) {
  std::string dependent = std::string(kFill) + kAbs;
  EXPECT_EQ(codes(prove(dependent, "a2")), "E0917 ");
  EXPECT_EQ(codes(prove(dependent, "a5")), "");
  EXPECT_EQ(codes(prove(std::string(kFill) + "pto.barrier <PIPE_V>\n" + kAbs, "a2")), "");
  EXPECT_EQ(codes(prove(std::string(kFill) + "pto.barrier <PIPE_ALL>\n" + kAbs, "a2")), "");
}

TEST_F(Prover, AnEventOrdersWhatStandsBeforeAndAfter) {
  std::string set = "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n";
  std::string wait = "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n";
  std::string store = "pto.tstore ins(%a : !t) outs(%xb : !v)\n";
  EXPECT_EQ(codes(prove(kFill + set + wait + store)), "");
  EXPECT_EQ(codes(prove(set + kFill + wait + store)), "E0917 ");
  EXPECT_EQ(codes(prove(kFill + set + store + wait)), "E0917 ");
  EXPECT_EQ(codes(prove(kFill + wait + store)), "E0920 ");
  EXPECT_EQ(codes(prove(kFill + set + store)), "E0922 ");
}

TEST_F(Prover, AScalarReadNeedsAnEventToo) {
  std::string get = "%s = pto.tgetval ins(%a, %c0 : !t, index) outs : f32\n";
  EXPECT_EQ(codes(prove(kFill + get)), "E0917 ");
  EXPECT_EQ(codes(prove(std::string(kFill) + "pto.set_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]\n" +
                        "pto.wait_flag[<PIPE_V>, <PIPE_S>, <EVENT_ID0>]\n" + get)),
            "");
}

TEST_F(Prover, BranchesAndLoopsThatDoNotRun) {
  std::string inLoop =
      "scf.for %i = %c0 to %n step %c8 {\n" + std::string(kFill) + "pto.barrier <PIPE_V>\n}\n";
  ProofResult result = prove(inLoop + kAbs);
  EXPECT_EQ(codes(result), "E0919 ");
  ASSERT_EQ(result.findings.size(), 1u);
  ASSERT_FALSE(result.findings[0].notes.empty());
  EXPECT_EQ(result.findings[0].notes[0], "it happens with n = 0");
  EXPECT_EQ(codes(prove(std::string(kFill) + "pto.barrier <PIPE_V>\n" + inLoop + kAbs)), "");
}

TEST_F(Prover, OneFindingForEachCause) {
  ProofResult result =
      prove("scf.for %i = %c0 to %n step %c1 {\n" + std::string(kFill) + kAbs + "}\n", "a2");
  // The fill and the absolute value; each back to the fill follows from these and the next turn.
  for (const Finding &finding : result.findings)
    EXPECT_EQ(finding.code(), "E0917");
  EXPECT_LE(result.findings.size(), 3u);
}

TEST_F(Prover, WindowsTouchTheirPartOnly) {
  std::string windows = R"(
    %c4 = arith.constant 4 : index
    %top = pto.subset %a[%c0, %c0] : !t -> !pto.tile_buf<vec, 4x64xf32>
    %low = pto.subset %a[%c4, %c0] : !t -> !pto.tile_buf<vec, 4x64xf32>
    pto.texpands ins(%one : f32) outs(%top : !pto.tile_buf<vec, 4x64xf32>)
    pto.texpands ins(%one : f32) outs(%low : !pto.tile_buf<vec, 4x64xf32>)
  )";
  EXPECT_EQ(codes(prove(windows)), "");
  EXPECT_EQ(codes(prove(windows + std::string("pto.barrier <PIPE_V>\n") + kAbs)), "");
}

// No loop depends on `n`: how much of the tiles is valid does, and with little of it they are
// apart.
TEST_F(Prover, TilesAreTriedWhole) {
  std::string tiles = R"(
    %near = arith.constant 128 : i64
    %p = pto.alloc_tile addr = %a0 valid_row = %c1 valid_col = %n : !pto.tile_buf<vec, 8x64xf32, valid=?x?>
    %q = pto.alloc_tile addr = %near valid_row = %c1 valid_col = %n : !pto.tile_buf<vec, 8x64xf32, valid=?x?>
    pto.texpands ins(%one : f32) outs(%p : !pto.tile_buf<vec, 8x64xf32, valid=?x?>)
    pto.barrier <PIPE_V>
    pto.texpands ins(%one : f32) outs(%q : !pto.tile_buf<vec, 8x64xf32, valid=?x?>)
    pto.barrier <PIPE_V>
    pto.tabs ins(%p : !pto.tile_buf<vec, 8x64xf32, valid=?x?>) outs(%p : !pto.tile_buf<vec, 8x64xf32, valid=?x?>)
  )";
  EXPECT_EQ(codes(prove(tiles)), "E0918 ");
}

// `D` is a length of nothing here: it grows, and the loop has more than one turn.
TEST_F(Prover, WhatDecidesNothingMeetsRequirements) {
  std::string text = kernel(R"(
    scf.for %i = %c0 to %n step %c64 {
      pto.tload ins(%xb : !v) outs(%a : !t)
      pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
      pto.tabs ins(%a : !t) outs(%b : !t)
    })");
  text.replace(text.find("pto.entry"), 0, "ptl.checked = [\"n <= D\"], ");
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  EXPECT_EQ(codes(proveBlock(*module, *findMachine("a5"))), "E0921 ");
}

// A number that is cut to fewer bits keeps its sign, or this branch would never be taken.
TEST_F(Prover, ShorterNumbersMayBeNegative) {
  std::string less = R"(
    %less = arith.subi %n, %c8 : index
    %long = arith.index_cast %less : index to i64
    %short = arith.trunci %long : i64 to i32
    %zero = arith.constant 0 : i32
    %negative = arith.cmpi slt, %short, %zero : i32
    scf.if %negative {
  )";
  EXPECT_EQ(codes(prove(less + std::string(kFill) + kAbs + "}\n", "a2")), "E0917 ");
}

TEST_F(Prover, KernelsAlikeAreJudgedOnce) {
  Machine machine = *findMachine("a2");
  std::string body = std::string(kFill) + "pto.barrier <PIPE_V>\n" + kAbs, other = body;
  other.replace(other.find("barrier <PIPE_V>"), 16, "barrier <PIPE_M>");
  std::string renamed = kernel(body);
  renamed.replace(renamed.find("@k("), 3, "@other(");
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> owned;
  std::vector<mlir::ModuleOp> modules;
  for (const std::string &text : {kernel(body), renamed, kernel(other), kernel(other)}) {
    owned.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    modules.push_back(*owned.back());
  }
  std::vector<ProofResult> results = proveBlocks(modules, machine);
  EXPECT_EQ(codes(results[0]) + codes(results[1]), "");
  EXPECT_EQ(results[0].instances, results[1].instances);
  EXPECT_EQ(results[0].events, results[1].events);
  // A fault is found in each that has it.
  for (size_t i : {2, 3}) {
    ASSERT_EQ(codes(results[i]), "E0917 ");
    EXPECT_TRUE(modules[i]->isAncestor(results[i].findings.front().operation));
  }
}

TEST_F(Prover, DataMayEndALoopWithSlots) {
  std::string loop = R"(
    %d = pto.load_scalar %x[%c0] : !pto.ptr<f32> -> f32
    %l = arith.fptosi %d : f32 to i64
    %m = arith.index_cast %l : i64 to index
    %s = pto.alloc_multi_tile addr = %a0 : !pto.multi_tile_buf<!t, count = 2>
    scf.for %i = FROM to UNTIL step %c1 {
      %t = pto.multi_tile_get %s[%i] : !pto.multi_tile_buf<!t, count = 2> -> !t
      pto.barrier <PIPE_V>
      pto.texpands ins(%one : f32) outs(%t : !t)
    }
  )";
  auto bounds = [&](const char *from, const char *to) {
    std::string text = loop;
    text.replace(text.find("FROM"), 4, from);
    return text.replace(text.find("UNTIL"), 5, to);
  };
  EXPECT_EQ(codes(prove(bounds("%c0", "%m"))), "");
  EXPECT_EQ(codes(prove(bounds("%m", "%n"))), "W1901 ");
}

// Turns that are left out fill what lies between those that run.
TEST_F(Prover, ALoopFillsATileElementByElement) {
  auto fill = [&](const char *from, const char *to, const char *step) {
    return std::string("%from = arith.constant ") + from + " : index\n%to = arith.constant " + to +
           " : index\n%step = arith.constant " + step + R"( : index
      scf.for %i = %from to %to step %step {
        pto.tsetval ins(%i, %one : index, f32) outs(%a : !t)
      }
      pto.set_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>]
    )" + kAbs;
  };
  EXPECT_EQ(codes(prove(fill("0", "512", "1"))), "");
  EXPECT_EQ(codes(prove(fill("0", "511", "1"))), "E0919 ");
  EXPECT_EQ(codes(prove(fill("1", "512", "1"))), "E0919 ");
  EXPECT_EQ(codes(prove(fill("0", "1024", "2"))), "E0919 ");
}

// Scalar code on elements is some events, whatever it fills, and what it reads it has written.
TEST_F(Prover, OneEventStandsForManyElements) {
  auto fill = [&](const char *from, const char *body) {
    return std::string("%from = arith.constant ") + from + R"( : index
      pto.tsetval ins(%c0, %one : index, f32) outs(%a : !t)
      scf.for %i = %c0 to %c8 step %c1 {
        scf.for %j = %from to %c64 step %c1 {
          %row = arith.muli %i, %c64 : index
          %at = arith.addi %row, %j : index
          %before = arith.subi %at, %from : index
    )" + body +
           R"(
        }
      }
      pto.set_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>]
      pto.wait_flag[<PIPE_S>, <PIPE_V>, <EVENT_ID0>]
    )";
  };
  const char *set = "pto.tsetval ins(%at, %one : index, f32) outs(%a : !t)\n";
  const char *last = "%p = pto.tgetval ins(%a, %before : !t, index) outs : f32\n";
  ProofResult result = prove(fill("0", set) + kAbs);
  EXPECT_EQ(codes(result), "");
  EXPECT_LT(result.events, 60u);
  EXPECT_EQ(codes(prove(fill("1", set) + kAbs)), "E0919 ");
  EXPECT_EQ(codes(prove(fill("0", (std::string(set) + last).c_str()) + kAbs)), "");
  EXPECT_EQ(codes(prove(fill("0", (std::string(last) + set).c_str()) + kAbs)), "E0919 ");
  // What is read by another pipe still may be overwritten.
  EXPECT_EQ(codes(prove(std::string(kFill) + kAbs + fill("0", set), "a5")).substr(0, 5), "E0917");
}

// What takes more than others because there is more of it is decided all the same.
TEST_F(Prover, LongTextsAreRun) {
  std::string body = kFill;
  for (int i = 0; i < 61000; ++i)
    body += kAbs;
  EXPECT_EQ(codes(prove(body, "a5")), "");
}

// What the compiler takes from a buffer is what it has left there.
TEST_F(Prover, ABufferHoldsTheValueThatIsTakenFromIt) {
  auto doubled = [&](const char *taken) {
    return std::string(
               "pto.texpands ins(%one : f32) outs(%a : !t) {ptl.held = array<i32: 0, 1, 1>}\n"
               "pto.tabs ins(%a : !t) outs(%a : !t) {ptl.held = array<i32: 1, 1, 1, 2>}\n"
               "pto.tabs ins(%a : !t) outs(%b : !t) {ptl.held = array<i32: ") +
           taken + ", 1, 3>}\n";
  };
  EXPECT_EQ(codes(prove(doubled("1, 2"), "a5")), "");
  EXPECT_EQ(codes(prove(doubled("2, 1, 2"), "a5")), "");
  EXPECT_EQ(codes(prove(doubled("1, 1"), "a5")), "E0918 ");
  EXPECT_EQ(codes(prove(doubled("0"), "a5")), ""); // nobody knows
}

const char *const kOrdered = R"(
  pto.texpands ins(%one : f32) outs(%a : !t)
  pto.barrier <PIPE_V>
  pto.tabs ins(%a : !t) outs(%b : !t)
  pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.tstore ins(%b : !t) outs(%xb : !v)
)";

TEST_F(Prover, MutantsAreFoundAndTakenBack) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel(kOrdered), &context);
  ASSERT_TRUE(module);
  auto textOf = [&] {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  };
  std::string before = textOf();
  MutationReport report = mutate(*module, *findMachine("a2"), /*confirm=*/true);
  EXPECT_EQ(textOf(), before);
  EXPECT_EQ(report.survived, 0u);
  EXPECT_EQ(report.strict, 0u);
  std::map<std::string, std::string> verdicts;
  for (const MutantReport &mutant : report.mutants) {
    std::string change = mutant.change;
    if (size_t place = change.find(" ("); place != change.npos)
      change.erase(place, change.find(')', place) + 1 - place);
    verdicts[change] = mutant.verdict + " " + mutant.code;
  }
  EXPECT_EQ(verdicts["without `barrier`"], "killed E0917");
  EXPECT_EQ(verdicts["without `wait_flag`"], "killed E0922");
  EXPECT_EQ(verdicts["`set_flag` moved up"], "killed E0917");
  EXPECT_EQ(verdicts["`set_flag` moved down"], "harmless ");
  EXPECT_EQ(verdicts["`a` at byte 2048 instead of 0"], "harmless ");
  EXPECT_EQ(verdicts["`a` at byte -2048 instead of 0"], "killed E0910");
}

// Without the barrier and the events some interleaving of two turns for each pipe differs; with
// them none does.
TEST_F(Prover, InterleavingsShowWhatIsNotOrdered) {
  Machine machine = *findMachine("a2");
  auto differs = [&](std::string body) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel(body), &context);
    Findings findings;
    RangeTable ranges;
    Kernel read = readKernels(*module, machine, findings).front();
    Execution execution = runKernel(read, {1}, ranges, findings, kEventsPerInstance);
    Shuffler shuffler(read, execution, ranges, machine);
    Outcome expected = shuffler.inOrder();
    unsigned different = 0;
    for (uint64_t turn = 0; turn < 2 * shuffler.lanes(); ++turn)
      different += !(shuffler.shuffled(turn) == expected);
    return different;
  };
  auto without = [](const char *part) {
    std::string text = kOrdered;
    for (size_t at; (at = text.find(part)) != text.npos;)
      text.erase(at, text.find('\n', at) - at);
    return text;
  };
  EXPECT_EQ(differs(kOrdered), 0u);
  EXPECT_GT(differs(without("pto.barrier")), 0u);
  EXPECT_GT(differs(without("pto.wait_flag")), 0u);
}

TEST_F(Prover, EqualExecutionsHaveEqualFingerprints) {
  Machine machine = *findMachine("a2");
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel(kOrdered), &context);
  RangeTable ranges;
  auto now = [&] {
    Findings findings;
    Kernel read = readKernels(*module, machine, findings).front();
    return fingerprint(read, runKernel(read, {1}, ranges, findings, kEventsPerInstance));
  };
  mlir::Operation *set = nullptr, *store = nullptr;
  module->walk([&](mlir::Operation *op) {
    set = mlir::isa<pto::SetFlagOp>(op) ? op : set;
    store = op->getName().getStringRef() == "pto.tstore" ? op : store;
  });
  uint64_t before = now();
  mlir::Operation *wait = set->getNextNode();
  set->moveAfter(wait); // another pipe
  EXPECT_EQ(now(), before);
  wait->moveAfter(store);
  EXPECT_NE(now(), before);
}

// A vector core stores a tile, the cube core loads it; `cube` and `vector` are in loops of `n`
// turns.
std::string crossing(const std::string &cube, const std::string &vector) {
  auto function = [](const std::string &name, const std::string &kind, const std::string &tile,
                     const std::string &body) {
    return "func.func @k_" + name +
           "(%x: !pto.ptr<f32> {ptl.name = \"x\"}, %n: index {ptl.name = " +
           "\"n\"}) attributes {pto.entry, ptl.kernel = \"k\", pto.kernel_kind = " +
           "#pto.kernel_kind<" + kind + ">} {" + R"(
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        %c4 = arith.constant 4 : index
        %c64 = arith.constant 64 : index
        %a0 = arith.constant 0 : i64
        %one = arith.constant 1.0 : f32
        %xv = pto.make_tensor_view %x, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<64x64xf32>
        %xb = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c64, %c64] : !pto.tensor_view<64x64xf32> -> !v
        %t = pto.alloc_tile addr = %a0 : )" +
           tile + "\n" + body + "\n return }\n";
  };
  return "!t = !pto.tile_buf<vec, 64x64xf32>\n"
         "!m = !pto.tile_buf<mat, 64x64xf32, blayout=col_major, slayout=row_major>\n"
         "!v = !pto.partition_tensor_view<64x64xf32>\n"
         "module attributes {ptl.by_hand} {\n" +
         function("aic", "cube", "!m", cube) + function("aiv", "vector", "!t", vector) + "}";
}

const char *const kStored = "scf.for %i = %c0 to %n step %c1 {\n"
                            "pto.sync.wait <PIPE_MTE3>, %c4\n"
                            "pto.texpands ins(%one : f32) outs(%t : !t)\n"
                            "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n"
                            "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n"
                            "pto.tstore ins(%t : !t) outs(%xb : !v)\n"
                            "pto.sync.set <PIPE_MTE3>, %c3\n"
                            "pto.barrier <PIPE_ALL>\n"
                            "}\n";
const char *const kLoaded = "pto.sync.set <PIPE_MTE2>, %c4\n"
                            "scf.for %i = %c0 to %n step %c1 {\n"
                            "pto.sync.wait <PIPE_MTE2>, %c3\n"
                            "pto.tload ins(%xb : !v) outs(%t : !m)\n"
                            "pto.sync.set <PIPE_MTE2>, %c4\n"
                            "pto.barrier <PIPE_ALL>\n"
                            "}\n";

TEST_F(Prover, EventsBetweenCoresOrderWhatTheyHandOver) {
  auto found = [&](std::string cube, std::string vector, const char *machine) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(crossing(cube, vector), &context);
    EXPECT_TRUE(module);
    return module ? proveBlock(*module, *findMachine(machine)) : ProofResult();
  };
  auto without = [](std::string text, const std::string &line) {
    size_t at = text.rfind(line);
    return text.erase(at, line.size() + 1);
  };
  // What is signalled once more than it is waited for is waited for at the end.
  std::string vector = std::string(kStored) + "pto.sync.wait <PIPE_MTE3>, %c4\n";
  for (const char *machine : {"a2", "a5"}) {
    EXPECT_EQ(codes(found(kLoaded, vector, machine)), "") << machine;
    // Without turns it is the first signal, with turns that of the last one.
    EXPECT_EQ(codes(found(kLoaded, kStored, machine)), "E0922 E0922 ") << machine;
    // The loads are overwritten: the signal that they are done comes too early.
    std::string early = without(kLoaded, "pto.sync.set <PIPE_MTE2>, %c4");
    early.insert(early.find("pto.tload"), "pto.sync.set <PIPE_MTE2>, %c4\n");
    ProofResult result = found(early, vector, machine);
    ASSERT_EQ(codes(result), "E0917 ") << machine;
    EXPECT_NE(result.findings[0].fix.find("event e: aic.mte2 -> aiv.mte3"), std::string::npos)
        << result.findings[0].fix;
    // Each waits for the other.
    std::string late = without(kLoaded, "pto.sync.set <PIPE_MTE2>, %c4");
    EXPECT_EQ(codes(found(late.erase(0, late.find("scf")), kStored, machine)), "E0920 ") << machine;
  }
}

// Vector cores push tiles through a queue of four slots; the cube core has given back all but
// `held` of those that it popped when it pops the next.
std::string holding(int held) {
  auto function = [](const std::string &name, const std::string &kind, const std::string &body) {
    return "func.func @k_" + name +
           "(%x: !pto.ptr<f32> {ptl.name = \"x\"}, %w: !pto.ptr<f32> {ptl.name = \"w\", ptl.role = "
           "\"workspace\"}) attributes {pto.entry, ptl.kernel = \"k\", pto.kernel_kind = "
           "#pto.kernel_kind<" +
           kind + R"(>} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c12 = arith.constant 12 : index
        %a0 = arith.constant 0 : i64
        %one = arith.constant 1.0 : f32
    )" + body +
           "\n return }\n";
  };
  const std::string pipe = "%q = pto.initialize_l2g2l_pipe {dir_mask = 2, slot_size = 16384, "
                           "slot_num = 4, local_slot_num = 1, flag_base = 0}"
                           "(%w : !pto.ptr<f32>, %base : i32) -> !pto.pipe loc(\"q\")\n";
  const std::string pop = "%p = pto.declare_tile -> !m\n"
                          "pto.tpop(%p, %q : !m, !pto.pipe) {split = 1}\n";
  const std::string free = "pto.tfree(%q : !pto.pipe) {split = 1}\n";
  std::string cube =
      "%base = pto.reserve_buffer {name = \"q\", size = 16384, location = <mat>, auto = "
      "false, base = 0} -> i32\n" +
      pipe;
  std::string rest = "%first = arith.constant " + std::to_string(held) + " : index\n";
  cube += rest + "scf.for %i = %c0 to %first step %c1 {\n" + pop + "}\n" +
          "scf.for %i = %first to %c12 step %c1 {\n" + pop + free + "}\n" +
          "scf.for %i = %c0 to %first step %c1 {\n" + free + "}\n";
  std::string vector =
      "%base = pto.import_reserved_buffer {name = \"q\", peer_func = @k_aic} -> i32\n" + pipe +
      "%t = pto.alloc_tile addr = %a0 : !t\n"
      "pto.texpands ins(%one : f32) outs(%t : !t)\n"
      "pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n"
      "pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n"
      "scf.for %i = %c0 to %c12 step %c1 {\n"
      "pto.tpush(%t, %q : !t, !pto.pipe) {split = 1}\n}\n";
  return "!t = !pto.tile_buf<vec, 32x64xf32>\n"
         "!m = !pto.tile_buf<mat, 64x64xf32, blayout=col_major, slayout=row_major>\n"
         "module attributes {ptl.by_hand} {\n" +
         function("aic", "cube", cube) + function("aiv", "vector", vector) + "}";
}

// In PTO-ISA the consumer of a queue with four slots signals free slots two at a time.
TEST_F(Prover, FreeSlotsAreSignalledSeveralAtOnce) {
  for (int held : {0, 1, 2, 3}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(holding(held), &context);
    ASSERT_TRUE(module);
    ProofResult result = proveBlock(*module, *findMachine("a2"));
    EXPECT_EQ(codes(result), held <= 2 ? "" : "E0923 ") << held;
    if (held > 2)
      EXPECT_EQ(result.findings[0].notes[0],
                "free slots of `q` are signalled 2 at a time, when 2 have been given back");
  }
}

// The wait stops the whole core where it is for one hub, so that what would signal comes too late.
TEST_F(Prover, AWaitForAnotherCoreMayStopTheCore) {
  std::string cube = "pto.sync.wait <PIPE_MTE2>, %c3\npto.sync.set <PIPE_MTE1>, %c4\n";
  std::string vector = "pto.sync.wait <PIPE_MTE2>, %c4\npto.sync.set <PIPE_MTE3>, %c3\n";
  for (auto [machine, code] : {std::pair("a2", "E0923 "), std::pair("a5", "")}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(crossing(cube, vector), &context);
    ASSERT_TRUE(module);
    EXPECT_EQ(codes(proveBlock(*module, *findMachine(machine))), code) << machine;
  }
}

TEST_F(Prover, EventsBetweenCoresCountUpToALimit) {
  auto many = [](int count, const std::string &line) {
    std::string text;
    while (count-- > 0)
      text += line + "\n";
    return text;
  };
  auto found = [&](int count) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        crossing(many(count, "pto.sync.wait <PIPE_MTE2>, %c3"),
                 many(count, "pto.sync.set <PIPE_MTE3>, %c3")),
        &context);
    return codes(proveBlock(*module, *findMachine("a3")));
  };
  EXPECT_EQ(found(15), "");
  EXPECT_EQ(found(16), "E0921 ");
}

// What a point leaves for the next one is there only if the same core group has that.
TEST_F(Prover, PointsThatNeedTheOneBeforeAreRefused) {
  auto points = [](const std::string &body) {
    return "%b = pto.get_block_idx -> i64\n%bi = arith.index_cast %b : i64 to index\n"
           "%g = pto.get_block_num -> i64\n%gi = arith.index_cast %g : i64 to index\n"
           "scf.for %p = %bi to %n step %gi {\n" +
           body + "pto.barrier <PIPE_ALL>\n}\n";
  };
  auto found = [&](const std::string &waits, const std::string &signals) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(
        crossing(points(waits + "scf.if %c { pto.sync.wait <PIPE_MTE2>, %c3 }\n"),
                 points(signals + "scf.if %c { pto.sync.set <PIPE_MTE3>, %c3 }\n")),
        &context);
    EXPECT_TRUE(module);
    return module ? codes(proveBlock(*module, *findMachine("a3"))) : "";
  };
  std::string notFirst = "%c = arith.cmpi sgt, %p, %c0 : index\n";
  std::string notLast = "%q = arith.addi %p, %c1 : index\n%c = arith.cmpi slt, %q, %n : index\n";
  EXPECT_EQ(found(notFirst, notFirst), "");
  EXPECT_NE(found(notFirst, notLast), "");
}

TEST_F(Prover, EventsBetweenCoresHaveFlagsOfTheirOwn) {
  auto found = [&](const char *id) {
    std::string text = crossing("pto.sync.wait <PIPE_MTE2>, %c3", "pto.sync.set <PIPE_MTE3>, %c3");
    for (size_t at; (at = text.find("%c3 = arith.constant 3")) != text.npos;)
      text.replace(at, 22, std::string("%c3 = arith.constant  ") + id);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    return codes(proveBlock(*module, *findMachine("a3")));
  };
  EXPECT_EQ(found("15"), "");
  EXPECT_EQ(found("12"), "E0913 E0913 ");
  EXPECT_EQ(found("16"), "E0912 E0912 ");
}

TEST_F(Prover, ReportsBecomeDiagnostics) {
  ProofResult result = prove(std::string(kFill) + kAbs);
  DiagnosticSink sink;
  report(result, sink, [](mlir::Location) { return Span(); });
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(sink.all()[0].message, "`tabs` reads `a` while `texpands` may still be writing it");
}

} // namespace
} // namespace ptl::prove
