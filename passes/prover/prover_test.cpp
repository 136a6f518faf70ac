#include "passes/prover/prover.h"

#include "passes/prover/mutate.h"
#include "passes/prover/tiles.h"

#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace ptl::prove {
namespace {

class Prover : public ::testing::Test {
protected:
  Prover() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.loadDialect<ir::PtlDialect, pto::PtoDialect, mlir::arith::ArithDialect,
                        mlir::func::FuncDialect, mlir::scf::SCFDialect>();
  }
  /// The body of a vector kernel with a size `n`, two tiles at bytes 0 and 2048 and a box of
  /// global memory.
  std::string kernel(const std::string &body) {
    return R"(
      !t = !pto.tile_buf<vec, 8x64xf32>
      !v = !pto.partition_tensor_view<8x64xf32>
      func.func @k(%x: !pto.ptr<f32> {ptl.name = "x"}, %n: index {ptl.name = "n"})
          attributes {pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c8 = arith.constant 8 : index
        %c64 = arith.constant 64 : index
        %a0 = arith.constant 0 : i64
        %a1 = arith.constant 2048 : i64
        %one = arith.constant 1.0 : f32
        %xv = pto.make_tensor_view %x, shape = [%c8, %c64], strides = [%c64, %c1] : !pto.tensor_view<8x64xf32>
        %xb = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c64] : !pto.tensor_view<8x64xf32> -> !v
        %a = pto.alloc_tile addr = %a0 : !t loc("a")
        %b = pto.alloc_tile addr = %a1 : !t
    )" + body +
           "\n return }";
  }
  ProofResult prove(const std::string &body, const char *machine = "a2") {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(kernel(body), &context);
    EXPECT_TRUE(module);
    return module ? proveBlock(*module, *findMachine(machine)) : ProofResult();
  }
  static std::string codes(const ProofResult &result) {
    std::string text;
    for (const Finding &finding : result.findings)
      text += finding.code() + " ";
    for (const Finding &finding : result.undecided)
      text += finding.code() + " ";
    return text;
  }

  mlir::MLIRContext context;
};

const char *const kFill = "pto.texpands ins(%one : f32) outs(%a : !t)\n";
const char *const kAbs = "pto.tabs ins(%a : !t) outs(%b : !t)\n";

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

TEST_F(Prover, ReportsBecomeDiagnostics) {
  ProofResult result = prove(std::string(kFill) + kAbs);
  DiagnosticSink sink;
  report(result, sink, [](mlir::Location) { return Span(); });
  ASSERT_EQ(sink.all().size(), 1u);
  EXPECT_EQ(sink.all()[0].message, "`tabs` reads `a` while `texpands` may still be writing it");
}

TEST(Boxes, OverlapByAxes) {
  auto box = [](int64_t row, int64_t rows, int64_t col, int64_t cols) {
    GlobalBox made;
    made.rank = 2;
    made.offset = row * 100 + col;
    made.axes[0] = {rows, 100};
    made.axes[1] = {cols, 1};
    return made;
  };
  EXPECT_TRUE(mayOverlap(box(0, 4, 0, 10), box(3, 4, 9, 10)));
  EXPECT_FALSE(mayOverlap(box(0, 4, 0, 10), box(0, 4, 10, 10)));
  EXPECT_FALSE(mayOverlap(box(0, 4, 0, 10), box(4, 4, 0, 10)));
  GlobalBox anywhere = box(9, 1, 0, 1);
  anywhere.known = false;
  EXPECT_TRUE(mayOverlap(box(0, 4, 0, 10), anywhere));
}

} // namespace
} // namespace ptl::prove
