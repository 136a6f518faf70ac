// Loops of programs on parts beside the reference, and their checkpoints: saved on some parts, resumed on others.
#include "codegen/parts/parts_test_util.h"
#include "frontend/base/folder_test_util.h"

#include <cstdlib>
#include <filesystem>

namespace ptl::parts {
namespace {

namespace fs = std::filesystem;

// ---- Loops -------------------------------------------------------------------------------------

constexpr const char *kLoops = R"(
fn power[N](x: i32[N, N], times: int) -> i32[N, N] {
    var y = x
    for i in 1..times {
        y = y @ x
    }
    return y
}
program descent[B, D, F](x: f32[B, D] over chip by B, t: f32[B, F] over chip by B, w: f32[D, F], steps: int)
    -> (y: f32[D, F], loss: f32[1, 1]) at host
{
    var weights = w
    var last = zeros(f32[1, 1])
    for step in 0..steps {
        let error = x @ weights - t
        last = all_reduce(sum(error * error, axis: [0, 1]), over: chip)
        weights = weights - all_reduce(x.T @ error, over: chip)
    }
    y = weights
    loss = last
}
program becomes_cut[B, D](x: i32[B, D] over chip by B, steps: int) -> (y: i32[B, D] over chip by B, s: i32[1, D]) at host {
    var sum_of = zeros(i32[B, D])
    for i in 0..steps step 2 {
        sum_of = sum_of * 3 + x + i32(i)
    }
    y = sum_of
    s = all_reduce(sum(sum_of, axis: 0), over: chip)
}
program ring[B, D](x: i32[B, D] over chip by B, steps: int) -> (y: i32[1, D]) at host {
    var block = x
    var total = zeros(i32[1, D])
    for i in 0..steps {
        for j in 0..i {
            block = block * 2 + i32(j)
        }
        total += all_reduce(sum(block, axis: 0), over: chip)
    }
    y = total
}
program swapped[N, D](a: i32[N, D] over chip by N, b: i32[N, D] over chip by N, steps: int)
    -> (y: i32[N, D] over chip by N, z: i32[N, D] over chip by N) at host
{
    var first = a
    var second = b
    for i in 3..steps {
        let old = first
        first = second + 1
        second = old
    }
    y = first
    z = second
}
program within[M, N](x: i32[N, N], z: i32[M, N] over chip by M, times: int) -> (y: i32[M, N] over chip by M) at host {
    y = z @ power(x, times)
}
program on_one[N](x: i32[N] at chip 0, steps: int) -> (y: i32[N] at chip 0) at host {
    var there = x
    for i in 0..steps {
        there = there * 3 - 1
    }
    y = there
}
)";

Value number(int64_t value) { return Value::integer(value); }

TEST(Loops, AgreeWithTheReference) {
  CheckedText checked(kLoops);
  ASSERT_TRUE(checked.ok()) << checked.errors();
  auto ints = [](std::vector<int64_t> shape, int64_t salt) {
    return numbers(std::move(shape), salt, ElemKind::I32);
  };
  for (uint32_t parts : {1u, 2u, 3u, 5u, 8u})
    for (int64_t steps : {0, 1, 2, 5}) {
      std::map<std::string, std::vector<Value>> calls = {
          {"descent",
           {numbers({5, 3}, 1), numbers({5, 2}, 2), numbers({3, 2}, 3),
            number(std::min<int64_t>(steps, 2))}},
          {"becomes_cut", {ints({7, 2}, 1), number(steps)}},
          {"ring", {ints({7, 2}, 1), number(steps)}},
          {"swapped", {ints({4, 2}, 1), ints({4, 2}, 2), number(steps)}},
          {"within", {ints({4, 4}, 1), ints({7, 4}, 2), number(steps)}},
          {"on_one", {ints({6}, 1), number(steps)}},
      };
      for (const auto &[name, args] : calls)
        EXPECT_EQ(compareOnParts(checked, *checked.find(name), args, parts, 7), "")
            << name << " on " << parts << " chips, " << steps << " steps";
    }
}

TEST(Loops, WhatTheyCarryLiesWhereItBegan) {
  CheckedText checked(R"(
program p[B, D](x: i32[B, D] over chip by B) -> (y: i32[1, D]) at host {
    var total = zeros(i32[1, D])
    for i in 0..3 {
        total = sum(x + total, axis: 0)
    }
    y = total
}
program q[B, D](x: i32[B, D] over chip by B, z: i32[B, D]) -> (y: i32[B, D]) at host {
    var rows = x
    for i in 0..3 {
        rows = all_gather(rows, over: chip) + z
        rows = rows * 2
    }
    y = all_gather(rows, over: chip)
}
)");
  std::string errors = checked.errors();
  EXPECT_NE(errors.find("E1009 `total` is the same on all chips before this loop"), errors.npos)
      << errors;
  EXPECT_EQ(errors.find("rows"), errors.npos)
      << errors; // A block of what is whole is taken for nothing.
}

TEST(Loops, WhereNoCheckpointCanBe) {
  const std::pair<const char *, const char *> cases[] = {
      {"fn f(n: int) -> int { var x = 0\n for i in 0..n checkpoint \"run\" every 2 { x += 1 }\n "
       "return x }",
       "E1008"},
      {"program p[N](x: i32[N]) -> (y: i32[N]) { var z = x\n for i in 0..3 checkpoint \"run\" "
       "every 2 { z = z + 1 }\n y = z }",
       "E1008"},
      {"program p[N](x: i32[N] over chip by N) -> (y: i32[N] over chip by N) at host { var z = x\n "
       "for j in 0..2 { for i in 0..3 "
       "checkpoint \"run\" every 2 { z = z + 1 } }\n y = z }",
       "E1008"},
      {"program p[N](x: i32[N] over chip by N) -> (y: i32[N] over chip by N) at host { var z = x\n "
       "for i in 0..3 "
       "checkpoint \"run\" every 2 { z = z + 1 }\n for i in 0..3 checkpoint \"else\" every 2 { z = "
       "z + 1 }\n y = z }",
       "E1008"},
      {"program p[N](x: i32[N] over chip by N) -> (y: i32[N] over chip by N) at host { var z = x\n "
       "for i in 0..3 "
       "checkpoint \"run\" every 0 { z = z + 1 }\n y = z }",
       "E0540"},
      {"program p[N](x: i32[N] over chip by N) -> (y: i32[N] over chip by N) at host { var z = x\n "
       "for i in 0..3 "
       "checkpoint \"\" every 1 { z = z + 1 }\n y = z }",
       "E1008"},
      {"program p[N](x: i32[N] over chip by N) -> (y: i32[N] over chip by N) at host { var z = x\n "
       "for i in 0..3 "
       "checkpoint \"run\" every 1 keep 0 { z = z + 1 }\n y = z }",
       "E0540"},
      {"program p[N](x: i32[N] partial(+) over chip) -> (y: i32[N] partial(+) over chip) at host { "
       "var z = x\n for i in 0..3 "
       "checkpoint \"run\" every 1 { z = z + z }\n y = z }",
       "E1005"},
  };
  for (const auto &[text, code] : cases) {
    CheckedText checked(text);
    EXPECT_NE(checked.errors().find(code), std::string::npos) << text << "\n" << checked.errors();
  }
}

// ---- Checkpoints -------------------------------------------------------------------------------

class SavedLoops : public FolderTest {
protected:
  void SetUp() override {
    FolderTest::SetUp();
    std::string text = projectText("codegen/parts/testdata/training.ptl");
    size_t at = text.find("\"run\"");
    ASSERT_NE(at, text.npos);
    checked_ = std::make_unique<CheckedText>(text.replace(at, 5, "\"" + folder_ + "/run\""));
    ASSERT_TRUE(checked_->ok()) << checked_->errors();
  }

  static std::vector<Value> arguments(int64_t steps, int64_t positions = 5) {
    return {numbers({positions, 4}, 1),
            numbers({positions, 4}, 2),
            numbers({4, 7}, 3),
            numbers({7, 4}, 4),
            numbers({7, 4}, 5, ElemKind::I32),
            Value::scalar(ElemKind::F32, Scalar::real(0.001)),
            number(steps)};
  }

  RunResult run(const std::vector<Value> &args, uint32_t hosts, uint32_t chips, bool resumes) {
    const CallableDecl &decl = *checked_->find("train");
    auto placed = checked_->placed(decl);
    PartsOptions options;
    options.shape = {{"host", hosts}, {"chip", chips}};
    options.checkpoints = {true, resumes, [&](const std::string &note) { notes_ += note + "\n"; }};
    return runOnParts(*checked_->program, checked_->sources, *placed, args, options);
  }
  RunResult reference(int64_t steps) {
    return reference::runEntry(*checked_->program, checked_->sources, *checked_->find("train"),
                               arguments(steps));
  }
  std::string folder() const { return folder_ + "/run"; }
  std::vector<int64_t> saved() const { return checkpoint::checkpointsIn(folder()); }

  /// What differs between two runs: of whole numbers all, of floats more than rounding.
  static std::string differs(const RunResult &a, const RunResult &b, bool isSameShape) {
    if (!a.ok() || !b.ok())
      return a.message + " / " + b.message;
    for (size_t i = 0; i < a.outputs.size(); ++i) {
      const RefArray &x = a.outputs[i].asArray(), &y = b.outputs[i].asArray();
      for (int64_t at = 0; at < x.count(); ++at) {
        double left = x.at(at).f, right = y.at(at).f;
        bool isNear = x.isReal() && !isSameShape &&
                      std::abs(left - right) <= 1e-4 * std::max(1.0, std::abs(right));
        if (!isNear && (left != right || x.at(at).i != y.at(at).i))
          return "output " + std::to_string(i) + ": " + reference::valueText(a.outputs[i]) +
                 " is not " + reference::valueText(b.outputs[i]);
      }
    }
    return {};
  }

  std::string notes_;
  std::unique_ptr<CheckedText> checked_;
};

TEST_F(SavedLoops, GoOnOnEveryOtherShape) {
  const std::pair<uint32_t, uint32_t> shapes[] = {{1, 1}, {2, 2}, {1, 3}, {2, 4}, {5, 1}, {3, 8}};
  RunResult expected = reference(8);
  for (auto [hosts, chips] : shapes)
    for (auto [otherHosts, otherChips] : shapes) {
      fs::remove_all(folder());
      ASSERT_TRUE(run(arguments(5), hosts, chips, false).ok());
      ASSERT_EQ(saved(), std::vector<int64_t>{3});
      RunResult result = run(arguments(8), otherHosts, otherChips, true);
      EXPECT_EQ(differs(result, expected, false), "")
          << hosts << "x" << chips << " to " << otherHosts << "x" << otherChips;
      EXPECT_EQ(saved(), (std::vector<int64_t>{6, 3}));
    }
  EXPECT_EQ(notes_, "");
}

TEST_F(SavedLoops, GoOnBitByBitOnTheSameShape) {
  RunResult undisturbed = run(arguments(11), 2, 2, false);
  for (int64_t steps : {3, 4, 8}) {
    fs::remove_all(folder());
    ASSERT_TRUE(run(arguments(steps), 2, 2, false).ok());
    EXPECT_EQ(differs(run(arguments(11), 2, 2, true), undisturbed, true), "") << steps;
  }
  // All is done already.
  EXPECT_EQ(saved(), (std::vector<int64_t>{9, 6}));
  EXPECT_EQ(differs(run(arguments(9), 2, 2, true), reference(9), false), "");
}

TEST_F(SavedLoops, ADamagedOneIsNotUsed) {
  ASSERT_TRUE(run(arguments(7), 2, 2, false).ok());
  ASSERT_EQ(saved(), (std::vector<int64_t>{6, 3}));
  std::string path = folder() + "/step-6/part-2.safetensors";
  fs::resize_file(path, fs::file_size(path) - 1);
  EXPECT_EQ(differs(run(arguments(8), 1, 3, true), reference(8), false), "");
  EXPECT_NE(notes_.find("step-6` is not used: `part-2.safetensors` has"), std::string::npos)
      << notes_;
  EXPECT_TRUE(fs::exists(folder() + "/step-6.damaged"));
  ASSERT_EQ(saved(), (std::vector<int64_t>{6, 3}));
  for (int64_t next : saved())
    fs::resize_file(folder() + "/" + checkpoint::nameOf(next) + "/manifest.json", 40);
  RunResult none = run(arguments(8), 1, 3, true);
  EXPECT_EQ(none.status, reference::RunStatus::Arguments);
  EXPECT_NE(none.message.find("no checkpoint in"), std::string::npos) << none.message;
}

TEST_F(SavedLoops, WhatDoesNotFitIsRefused) {
  ASSERT_TRUE(run(arguments(4), 1, 1, false).ok());
  RunResult again = run(arguments(4), 1, 1, false);
  EXPECT_NE(again.message.find("has checkpoints of an earlier run"), std::string::npos)
      << again.message;
  std::vector<Value> others = arguments(5);
  others[2] = numbers({4, 6}, 1), others[3] = numbers({6, 4}, 1);
  others[4] = numbers({6, 4}, 1, ElemKind::I32);
  RunResult wider = run(others, 1, 1, true);
  EXPECT_NE(wider.message.find("carries `w_up: f32[4, 6]`, and it has `w_up: f32[4, 7]`"),
            std::string::npos)
      << wider.message;
  RunResult fewer = run(arguments(2), 1, 1, true);
  EXPECT_NE(fewer.message.find("come to `step` = 3, and the loop ends at 2"), std::string::npos)
      << fewer.message;
  // Nothing of the state has that size.
  EXPECT_TRUE(run(arguments(5, 9), 1, 1, true).ok());
}

TEST_F(SavedLoops, WithoutACheckpointARunBegins) {
  EXPECT_EQ(differs(run(arguments(5), 1, 2, true), reference(5), false), "");
  EXPECT_NE(notes_.find("has no checkpoint yet"), std::string::npos) << notes_;
}

/// Each iteration takes a step's data of an array whose first axis is not cut.
TEST(Loops, TakeStepsOfArrays) {
  CheckedText steps(R"(
program p[S, B, D](x: f32[S, B, D] over host by B, chip by D, w0: f32[B, D] over host by B)
    -> (w: f32[B, D] over host by B, chip by D, s: f32[D] over chip by D)
    at pod
where S > 2, B > 0
{
    var weights = w0
    for step in 0..S {
        weights = weights * 2.0 + x[step, :, :] - x[S - step - 1, ..]
    }
    w = weights
    s = all_gather(x, over: host)[2, 0, :]
}
)");
  ASSERT_TRUE(steps.ok()) << steps.errors();
  for (auto [hosts, chips] : {std::pair(1u, 1u), {2u, 1u}, {1u, 3u}, {3u, 2u}, {2u, 8u}})
    EXPECT_EQ(compareOnShape(steps, *steps.find("p"), {numbers({5, 4, 6}, 1), numbers({4, 6}, 2)},
                             {{"host", hosts}, {"chip", chips}}, 2),
              "")
        << hosts << " hosts, " << chips << " chips";
  CheckedText cut(R"(
program p[S, D](x: f32[S, D] over chip by S) -> (w: f32[D]) at host
where S > 0
{
    w = x[0, :]
}
)");
  EXPECT_NE(cut.errors().find("E1005"), std::string::npos) << cut.errors();
}

} // namespace
} // namespace ptl::parts
