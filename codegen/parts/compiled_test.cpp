// Parts whose stretches other code computes: which it gets, how often, and what is said where it stops.
#include "codegen/parts/parts_test_util.h"

namespace ptl::parts {
namespace {

/// Counts the texts that it gets, and computes them.
class Counted : public PartCode {
public:
  explicit Counted(double worth) : PartCode(worth) {}
  std::optional<std::vector<Value>> compute(const std::string &text,
                                            const std::vector<Value> &inputs) override {
    ++texts[text];
    return code_.compute(text, inputs);
  }
  std::map<std::string, int> texts;

private:
  CodeFromText code_{0};
};

struct Ran {
  RunResult result;
  std::map<std::string, int> texts;
};

Ran ran(const std::string &text, const std::vector<Value> &args, uint32_t chips, double worth) {
  CheckedText checked(text);
  EXPECT_TRUE(checked.ok()) << checked.errors();
  Counted code(worth);
  PartsOptions options;
  options.shape = {{"chip", chips}};
  options.code = worth < 0 ? nullptr : &code;
  RunResult result = runOnParts(*checked.program, checked.sources,
                                *checked.placed(*checked.find("p")), args, options);
  return {std::move(result), std::move(code.texts)};
}

TEST(CompiledParts, GetWhatLiesBetweenMovements) {
  std::string text = R"(
pub program p[B, D, F](x: f32[B, D], up: f32[D, F] over chip by F, down: f32[F, D] over chip by F)
    -> (y: f32[B, D]) at host
{
    let hidden = max(x @ up, 0.0) * 2.0 + 1.0
    y = all_reduce(hidden @ down, over: chip) + x
}
)";
  std::vector<Value> args = {numbers({3, 4}, 1), numbers({4, 6}, 2), numbers({6, 4}, 3)};
  Ran made = ran(text, args, 2, 0), alone = ran(text, args, 2, -1);
  ASSERT_TRUE(made.result.ok()) << made.result.message;
  EXPECT_EQ(difference(made.result.outputs[0], alone.result.outputs[0]), "");
  // What becomes the hidden layer, the product that may go by chunks, and the sum with `x`: each on both parts.
  EXPECT_EQ(made.texts.size(), 3u);
  for (const auto &[each, times] : made.texts)
    EXPECT_EQ(times, 2) << each;
}

/// A value that all parts have is not computed by the text of a block, which has another length on the last part.
TEST(CompiledParts, ComputeWhatAllHaveByOneText) {
  std::string text = R"(
pub program p[B, D](x: f32[B, D] over chip by B, w: f32[D]) -> (y: f32[B, D] over chip by B, z: f32[D]) at host
{
    z = exp(w) * 3.0
    y = x * z + 1.0
}
)";
  Ran made = ran(text, {numbers({5, 4}, 1), numbers({4}, 2)}, 2, 0);
  ASSERT_TRUE(made.result.ok()) << made.result.message;
  std::vector<int> times;
  for (const auto &[each, count] : made.texts)
    times.push_back(count);
  std::ranges::sort(times);
  EXPECT_EQ(times, (std::vector<int>{1, 1, 2}));
}

/// A loop that goes round often is worth what one round is not; the reference executor computes what is not.
TEST(CompiledParts, AreWorthTheirCompilation) {
  std::string text = R"(
pub program p[B](x: f32[B] over chip by B, often: int) -> (y: f32[B] over chip by B) at host {
    var rows = x
    for i in 0..often { rows = rows * 0.5 + 1.0 }
    y = rows
}
)";
  for (int64_t often : {1, 1000}) {
    Ran made = ran(text, {numbers({64}, 1), Value::integer(often)}, 2, 1e5);
    ASSERT_TRUE(made.result.ok()) << made.result.message;
    EXPECT_EQ(made.texts.size(), often == 1 ? 0u : 1u);
    EXPECT_TRUE(often == 1 || made.texts.begin()->second == 2 * often);
  }
}

/// Where other code stops, the reference executor says what is wrong, and where.
TEST(CompiledParts, StopWithTheSameWords) {
  const char *texts[] = {
      R"(
pub program p[B](x: i32[B] over chip by B, w: i32[B]) -> (y: i32[B] over chip by B, v: i32[B]) at host {
    v = w * 2 + w[w]
    y = x + 1
}
)",
      R"(
pub program p[B](x: i32[B] over chip by B, w: i32[B]) -> (y: i32[B] over chip by B) at host {
    let all = all_gather(x * 2, over: chip)
    assert(max(all) < 3, "too large")
    y = x / (x - 2)
}
)",
      R"(
pub program p[B](x: i32[B] over chip by B, w: i32[B]) -> (y: i32[B] over chip by B) at host {
    let z = x * 3
    y = z / (x - 2)
}
)"};
  for (const char *text : texts) {
    std::vector<Value> args = {ints({7}, 1), ints({7}, 2)};
    Ran made = ran(text, args, 3, 0), alone = ran(text, args, 3, -1);
    EXPECT_FALSE(alone.result.ok()) << text;
    EXPECT_EQ(made.result.message, alone.result.message) << text;
    EXPECT_EQ(made.result.span.begin, alone.result.span.begin) << text;
  }
}

} // namespace
} // namespace ptl::parts
