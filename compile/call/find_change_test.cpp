// Passes that are wrong on purpose are found by their names.
#include "compile/call/find_change.h"
#include "compile/chip/lower_to_chip.h"
#include "frontend/sema/check.h"
#include "ir/dialect/attributes.h"
#include "ir/dialect/pto_dialect.h"
#include "runtime/npy/owned_array.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace ptl {
namespace {

/// A kernel compiled for a chip, with the IR after every pass.
class Compiled {
public:
  explicit Compiled(const std::string &text, const char *chip = "a3") {
    CheckOptions check;
    check.stdPath = PTL_STD_PATH;
    program_ = checkFile(sources_, sources_.add("k.ptl", text), check, sink_);
    CompilerOptions options;
    options.chip = findMachine(chip);
    options.keepsStages = true;
    context_ = std::make_unique<CompileContext>(*program_, sources_, options, sink_);
    ir::EntryBinding binding;
    binding.decl = program_->modules.front()->callables.front();
    entry_ = buildEntry(*context_, binding, "ptl_" + binding.decl->name);
    ChipResult lowered;
    if (entry_)
      lowered = lowerToChip(*context_, *entry_);
    if (lowered.program)
      record = std::move(lowered.stages);
  }

  /// The first change of meaning for arrays of these lengths, the last of them the output.
  std::optional<StageDifference> find(const std::vector<std::vector<int64_t>> &shapes,
                                      std::vector<int64_t> lengths) {
    std::vector<rt::OwnedArray> arrays;
    std::vector<PtlArray> views;
    for (const std::vector<int64_t> &shape : shapes) {
      arrays.push_back(*rt::OwnedArray::make(PTL_F32, shape));
      auto *values = static_cast<float *>(arrays.back().data());
      for (int64_t i = 0; i < arrays.back().count(); ++i)
        values[i] = static_cast<float>(i % 7) - 2.5f;
    }
    for (const rt::OwnedArray &array : arrays)
      views.push_back(array.view());
    StageCall call;
    for (const PtlArray &view : views)
      call.arrays.push_back(&view);
    call.lengths = std::move(lengths);
    return findChange(*record, &*context_->options().chip, call);
  }

  /// The stage that a pass made.
  Stage &after(const std::string &pass) {
    for (const Stage &stage : record->all())
      if (stage.pass == pass)
        return const_cast<Stage &>(stage);
    ADD_FAILURE() << "there is no stage after " << pass;
    std::abort();
  }

private:
  SourceManager sources_;
  DiagnosticSink sink_;
  std::unique_ptr<CheckedProgram> program_;
  std::unique_ptr<CompileContext> context_; // has the context of all modules
  std::optional<BuiltEntry> entry_;

public:
  std::unique_ptr<StageRecord> record;
};

const char *const Difference = R"(
kernel difference[N](a: f32[N], b: f32[N]) -> (y: f32[N])
{
    parallel i in tiles(N, 64) {
        var s = a[i]
        for k in 0..3 { s = s * 0.5 - b[i] }
        y[i] = s
    }
}
)";
const std::vector<std::vector<int64_t>> Rows = {{100}, {100}, {100}};

TEST(Stages, EveryPassKeepsTheMeaning) {
  Compiled compiled(Difference);
  ASSERT_TRUE(compiled.record);
  EXPECT_FALSE(compiled.find(Rows, {100}));
  std::vector<std::string> passes;
  for (const Stage &stage : compiled.record->all())
    if (passes.empty() || passes.back() != stage.pass)
      passes.push_back(stage.pass);
  EXPECT_EQ(passes, (std::vector<std::string>{"build",
                                              "ptl-simplify",
                                              "ptl-chunk",
                                              "ptl-simplify",
                                              "ptl-hoist-checks",
                                              "ptl-simplify",
                                              "ptl-share-rows",
                                              "ptl-simplify",
                                              "ptl-legalize",
                                              "ptl-simplify",
                                              "ptl-set-choices",
                                              "ptl-check-places",
                                              "ptl-unroll",
                                              "ptl-rotate-while",
                                              "ptl-hand-operands",
                                              "ptl-cut-tiles",
                                              "ptl-cut-statements",
                                              "ptl-hand-numbers",
                                              "ptl-hand-late",
                                              "ptl-outline",
                                              "ptl-assign-cores",
                                              "ptl-plan-queues",
                                              "ptl-stage-operands",
                                              "ptl-cut-products",
                                              "ptl-stage-loops",
                                              "ptl-select-instructions",
                                              "ptl-lower-block",
                                              "pto-plan-buffers",
                                              "pto-peel-stages",
                                              "pto-derive-sync"}));
}

TEST(Stages, AWrongRewritingOfTilesIsNamed) {
  Compiled compiled(Difference);
  ASSERT_TRUE(compiled.record);
  // A pass that exchanges the operands of a difference.
  compiled.after("ptl-legalize").tiles->walk([](ir::SubOp sub) {
    Value a = sub.getA();
    sub->setOperand(0, sub.getB());
    sub->setOperand(1, a);
  });
  std::optional<StageDifference> found = compiled.find(Rows, {100});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pass, "ptl-legalize");
  EXPECT_EQ(found->text.substr(0, 34), "`difference`: `y`: element [0] is ") << found->text;
}

TEST(Stages, AnExtentThatIsNoneIsNamed) {
  Compiled compiled(Difference);
  ASSERT_TRUE(compiled.record);
  // A pass that forgets that the last tile is a shorter one.
  compiled.after("ptl-unroll").tiles->walk([](arith::MinSIOp least) {
    least.replaceAllUsesWith(least.getLhs());
  });
  std::optional<StageDifference> found = compiled.find(Rows, {100});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pass, "ptl-unroll");
}

const char *const Mixed = R"(
kernel mixed[M, K](x: f32[M, K], a: f32[K, 32]) -> (z: f32[M, 32])
{
    parallel i in tiles(M, 32) {
        var acc = zeros(f32[i, 32])
        for k in tiles(K, 16) { acc += x[i, k] @ a[k, :] }
        z[i, :] = exp((acc - max(acc, axis: 1)) * 0.1)
    }
}
)";
const std::vector<std::vector<int64_t>> Products = {{40, 33}, {33, 32}, {40, 32}};

TEST(Stages, AValueThatIsNotHandedOverIsNamed) {
  Compiled compiled(Mixed);
  ASSERT_TRUE(compiled.record);
  EXPECT_FALSE(compiled.find(Products, {40, 33}));
  compiled.after("ptl-assign-cores").tiles->walk([](Operation *op) { attrs::crosses.remove(op); });
  std::optional<StageDifference> found = compiled.find(Products, {40, 33});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pass, "ptl-assign-cores");
  EXPECT_NE(found->text.find("reads what that core does not have"), std::string::npos)
      << found->text;
}

TEST(Stages, AnEffectOfBothKindsOfCoresIsNamed) {
  Compiled compiled(R"(
kernel sums[M](x: f32[M, 32], a: f32[32, 32]) -> (z: f32[1, 32] = 0.0)
{
    parallel i in tiles(M, 32) {
        let p = exp((x[i, :] @ a[:, :]) * 0.01)
        atomic z[:, :] += sum(p, axis: 0)
        atomic z[:, :] += x[i, :][0:1, :]
    }
}
)");
  ASSERT_TRUE(compiled.record);
  const std::vector<std::vector<int64_t>> shapes = {{40, 32}, {32, 32}, {1, 32}};
  EXPECT_FALSE(compiled.find(shapes, {40}));
  // The stored value is a loaded one, so each kind of core could store it.
  compiled.after("ptl-assign-cores").tiles->walk([](ir::StoreOp store) {
    attrs::core.remove(store);
  });
  std::optional<StageDifference> found = compiled.find(shapes, {40});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pass, "ptl-assign-cores");
}

TEST(Stages, AStageThatComesTooEarlyIsNamed) {
  Compiled compiled(R"(
kernel att[L](q: f32[64, 32], k: f32[L, 32], v: f32[L, 32]) -> (y: f32[64, 32])
{
    parallel i in tiles(64, 64) {
        var acc = zeros(f32[i, 32])
        for j in tiles(L, 32) pipeline 2 {
            let s = q[i, :] @ k[j, :].T
            acc += exp(s * 0.01) @ v[j, :]
        }
        y[i, :] = acc * 0.5
    }
}
)");
  ASSERT_TRUE(compiled.record);
  const std::vector<std::vector<int64_t>> shapes = {{64, 32}, {150, 32}, {150, 32}, {64, 32}};
  EXPECT_FALSE(compiled.find(shapes, {150}));
  bool any = false;
  compiled.after("ptl-stage-loops").tiles->walk([&](ir::ExpOp exp) { // before its product
    any = attrs::turn.isOn(exp);
    for (Operation &op : *exp->getBlock())
      if (isa<ir::MatmulOp>(op)) {
        attrs::turn.set(&op, "behind");
        break;
      }
  });
  ASSERT_TRUE(any);
  std::optional<StageDifference> found = compiled.find(shapes, {150});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pass, "ptl-stage-loops");
}

/// Moves every buffer to the same bytes.
void stack(block::BlockProgram &program) {
  auto move = [](Value address) {
    if (auto constant = address.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(IntegerAttr::get(constant.getType(), 0));
  };
  for (OwningOpRef<ModuleOp> &kernel : program.kernels) {
    kernel->walk([&](pto::AllocTileOp tile) { move(tile.getAddr()); });
    kernel->walk([&](pto::AllocMultiTileOp tile) { move(tile.getAddr()); });
  }
}

TEST(Stages, WrongAddressesAreNamed) {
  Compiled compiled(Difference);
  ASSERT_TRUE(compiled.record);
  for (const char *pass : {"pto-plan-buffers", "pto-peel-stages", "pto-derive-sync"})
    stack(compiled.after(pass).blocks.program);
  std::optional<StageDifference> found = compiled.find(Rows, {100});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pass, "pto-plan-buffers");
}

TEST(Stages, AMissingWaitIsNamed) {
  Compiled compiled(Difference);
  ASSERT_TRUE(compiled.record);
  for (OwningOpRef<ModuleOp> &kernel : compiled.after("pto-derive-sync").blocks.program.kernels) {
    llvm::SmallVector<Operation *> order;
    kernel->walk([&](Operation *op) {
      if (isa<pto::SetFlagOp, pto::WaitFlagOp, pto::SetFlagDynOp, pto::WaitFlagDynOp>(op))
        order.push_back(op);
    });
    ASSERT_FALSE(order.empty());
    for (Operation *op : order)
      op->erase();
  }
  std::optional<StageDifference> found = compiled.find(Rows, {100});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->pass, "pto-derive-sync");
}

} // namespace
} // namespace ptl
