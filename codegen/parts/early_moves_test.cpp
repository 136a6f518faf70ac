// Movements that go on while a part computes: which ones may, and that they change no result.
#include "codegen/parts/early_moves.h"
#include "codegen/parts/parts_test_util.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

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

/// The messages of ranks that really run at the same time.
class Letters {
public:
  explicit Letters(uint32_t count) : boxes_(count * count), count_(count) {}

  class RankPort : public movement::Port {
  public:
    RankPort(Letters &all, uint32_t me) : all_(all), me_(me) {}
    void send(uint32_t rank, std::span<const uint8_t> bytes) override {
      std::lock_guard held(all_.lock_);
      all_.boxes_[me_ * all_.count_ + rank].emplace_back(bytes.begin(), bytes.end());
      all_.changed_.notify_all();
    }
    bool receive(uint32_t rank, std::span<uint8_t> bytes) override {
      std::unique_lock held(all_.lock_);
      std::deque<std::vector<uint8_t>> &box = all_.boxes_[rank * all_.count_ + me_];
      all_.changed_.wait(held, [&] { return !box.empty(); });
      bool isRight = box.front().size() == bytes.size();
      if (isRight)
        std::copy(box.front().begin(), box.front().end(), bytes.begin());
      box.pop_front();
      return isRight;
    }

  private:
    Letters &all_;
    uint32_t me_;
  };

private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<std::deque<std::vector<uint8_t>>> boxes_;
  uint32_t count_;
};

/// The results of the first rank. Each rank has a program of its own, as processes do.
RunResult runOnRanks(const std::string &text, const std::vector<Value> &args, uint32_t count) {
  Letters letters(count);
  std::vector<RunResult> results(count);
  std::vector<std::thread> ranks;
  for (uint32_t rank = 0; rank < count; ++rank)
    ranks.emplace_back([&, rank] {
      CheckedText checked(text);
      Letters::RankPort port(letters, rank);
      OwnPart own{rank, port};
      PartsOptions options;
      options.shape = {{"chip", count}};
      options.own = &own;
      options.movesBeside = true;
      std::vector<Value> mine = args;
      results[rank] = runOnParts(*checked.program, checked.sources,
                                 *checked.placed(*checked.find("p")), std::move(mine), options);
    });
  for (std::thread &rank : ranks)
    rank.join();
  return results[0];
}

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
