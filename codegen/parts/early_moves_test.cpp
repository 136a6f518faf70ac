// Movements that go on while a part computes: which ones may, and that they change no result.
#include "codegen/parts/early_moves.h"
#include "codegen/parts/letters_test_util.h"

namespace ptl::parts {
namespace {

constexpr const char *kRound = R"(
program p[P, S](x: f32[P, S] over chip by P, w: f32[S, S]) -> (y: f32[P, S] over chip by P) at host {
    var block = x
    var sums = zeros(f32[P, S])
    for r in 0..P {
        sums = sums * 0.5 + block @ w
        let least = all_reduce(min(sums, axis: 0), over: chip)
        block = shift(block, over: chip, by: r + 1)
        sums = max(sums, least)
    }
    y = sums
}
)";

TEST(EarlyMoves, BeginBeforeWhatTheyDoNotNeed) {
  CheckedText checked(std::string{kRound});
  ASSERT_TRUE(checked.ok()) << checked.errors();
  auto placed = checked.placed(*checked.find("p"));
  ASSERT_TRUE(placed);
  const PlacedLoop &loop = placed->loops.back();
  EarlyMoves early = earlyMovesOf(*placed, loop.body(), loop.end);
  // The minimum is needed at once; the blocks are there when the round begins, and are needed when it ends.
  ASSERT_EQ(early.before.size(), 1u);
  auto [first, moves] = *early.before.begin();
  EXPECT_EQ(first, loop.body());
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_EQ(placed->values[moves[0]].movement->name, "shift");
}

TEST(EarlyMoves, WaitForWhatTheySend) {
  CheckedText checked(R"(
program p[M, N](x: f32[M, N] over chip by M, w: f32[N, N]) -> (y: f32[M, N], z: f32[M, N] over chip by M) at host {
    let a = x @ w
    let all = all_gather(a, over: chip)
    z = max(a, x) * 2.0
    y = all
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  auto placed = checked.placed(*checked.find("p"));
  ASSERT_TRUE(placed);
  EarlyMoves early = earlyMovesOf(*placed, 0, static_cast<ValueId>(placed->values.size()));
  ASSERT_EQ(early.before.size(), 1u);
  auto [before, moves] = *early.before.begin();
  ASSERT_EQ(moves.size(), 1u);
  EXPECT_GT(before, *placed->values[moves[0]].operands[0]);
}

TEST(EarlyMoves, ChangeNoResult) {
  CheckedText checked(std::string{kRound});
  for (auto [blocks, ranks] : {std::pair(1, 2u), {4, 4u}, {5, 2u}, {7, 3u}}) {
    std::vector<Value> args = {numbers({blocks, 6}, 1), numbers({6, 6}, 2)};
    RunResult expected =
        reference::runEntry(*checked.program, checked.sources, *checked.find("p"), args);
    RunResult result = runOnRanks(kRound, args, ranks);
    ASSERT_TRUE(result.ok() && expected.ok()) << result.message << expected.message;
    EXPECT_EQ(difference(result.outputs[0], expected.outputs[0]), "") << blocks << " " << ranks;
    // In one process the seed draws when what was sent arrives.
    for (uint64_t seed = 0; seed < 8; ++seed)
      EXPECT_EQ(compareOnParts(checked, *checked.find("p"), args, ranks, seed), "") << seed;
  }
}

TEST(EarlyMoves, GoOnBesideAllThatUsesTheOtherParts) {
  const char *text = R"(
program p[M, N](x: f32[M, N] over chip by M, w: f32[N, N]) -> (y: f32[M, N], z: f32[M, N] over chip by M) at host {
    let columns = all_to_all(x, over: chip, by: N)
    let a = x @ w
    let b = a * 2.0 - 1.0
    let sums = all_reduce(sum(b, axis: 0), over: chip)
    let c = max(b, a)
    let back = all_to_all(columns * 0.5, over: chip, by: M)
    y = all_gather(c, over: chip) + sums
    z = back + c
}
)";
  CheckedText checked{std::string(text)};
  ASSERT_TRUE(checked.ok()) << checked.errors();
  std::vector<Value> args = {numbers({5, 7}, 1), numbers({7, 7}, 2)};
  RunResult expected =
      reference::runEntry(*checked.program, checked.sources, *checked.find("p"), args);
  for (uint32_t ranks : {1u, 2u, 3u, 8u}) {
    RunResult result = runOnRanks(text, args, ranks);
    ASSERT_TRUE(result.ok()) << result.message;
    for (size_t i = 0; i < 2; ++i)
      EXPECT_EQ(difference(result.outputs[i], expected.outputs[i]), "") << ranks;
  }
}

} // namespace
} // namespace ptl::parts
