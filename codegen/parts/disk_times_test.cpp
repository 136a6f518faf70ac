// Disks in time: checkpoints of loops, pages that are found, and loops of which only a number of rounds is given.
#include "codegen/parts/disk_times.h"
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

/// Two hosts of eight chips, each with a disk.
movement::Fabric withDisks(double rate) {
  movement::Fabric fabric = someFabric();
  fabric.levels[0].diskRate = rate;
  fabric.levels[0].diskLatency = 80 * us;
  return fabric;
}

TEST(Disks, AreSharedByTheChipsOfAHost) {
  movement::Fabric fabric = withDisks(1e9);
  EXPECT_NEAR(*diskSeconds(fabric, {0}, {1'000'000}), 1080 * us, 1e-12);
  EXPECT_NEAR(*diskSeconds(fabric, {0, 7}, {1'000'000, 1'000'000}), 2080 * us, 1e-12);
  EXPECT_NEAR(*diskSeconds(fabric, {0, 8}, {1'000'000, 500'000}), 1080 * us, 1e-12);
  EXPECT_EQ(*diskSeconds(fabric, {0, 8}, {0, 0}), 0);
  EXPECT_FALSE(diskSeconds(someFabric(), {0}, {1'000'000}));
}

/// By going through the rounds one by one.
double slowly(const SavedRounds &rounds) {
  double round = rounds.loop / static_cast<double>(rounds.rounds), now = 0, saved = 0;
  for (int64_t i = 1; i <= rounds.rounds; ++i) {
    now += round;
    if (i % rounds.every)
      continue;
    now = std::max(now, saved); // The checkpoint before is done.
    saved = now + rounds.save;
  }
  return std::max(now, saved) - rounds.loop;
}

TEST(Disks, SavingAddsWhatNoRoundsHide) {
  for (int64_t rounds : {1, 4, 7, 30})
    for (int64_t every : {1, 2, 3, 30, 40})
      for (double save : {0.0, 0.5, 1.0, 2.5, 100.0}) {
        SavedRounds saved{rounds, every, static_cast<double>(rounds), save};
        EXPECT_NEAR(saved.adds(), slowly(saved), 1e-9) << rounds << " " << every << " " << save;
      }
}

constexpr const char *kTraining = R"(
program p[B, D](x: f32[B, D] over chip by B, w0: f32[D, D], steps: int) -> (w: f32[D, D]) at host {
    var weights = w0
    for step in 0..steps checkpoint "run" every 10 {
        weights = weights + all_reduce(x.T @ (x @ weights), over: chip)
    }
    w = weights
}
)";

TEST(Disks, ALoopWithCheckpoints) {
  TimedHow how{.sizes = {{"steps", 35}}};
  Timed without(kTraining, "p", {{"chip", 4}}, how);
  ASSERT_TRUE(without.time);
  EXPECT_FALSE(without.time->save);
  how.fabric = withDisks(1e6); // 64 * 64 * 4 bytes take 16.384 ms and 80 us.
  Timed with(kTraining, "p", {{"chip", 4}}, how);
  ASSERT_TRUE(with.time && with.time->save);
  const SaveTime &save = *with.time->save;
  EXPECT_EQ(save.times, 3);
  EXPECT_EQ(save.bytes, 64 * 64 * 4 / 4); // All have the weights: each writes a quarter.
  EXPECT_NEAR(save.seconds, 16384 * us + 80 * us, 1e-9);
  EXPECT_NEAR(with.seconds(), without.seconds() + save.adds, 1e-9);
  double round = without.seconds() / 35;
  EXPECT_NEAR(save.adds, 2 * (save.seconds - 10 * round) + save.seconds - 5 * round, 1e-9);
  how.fabric = withDisks(1e12);
  Timed fast(kTraining, "p", {{"chip", 4}}, how);
  EXPECT_EQ(fast.seconds(), without.seconds());
}

TEST(Disks, PagesThatAreFoundAreRead) {
  auto text = [](const std::string &room) {
    return "program p[P, N](rows: f32[P, N]) -> (y: f32[N] over chip by N) at host {\n"
           "    let kv = pool(f32[N], " +
           room +
           ")\n    var all = zeros(f32[N])\n"
           "    for p in 0..P { all = all * 0.5 + (if p < find(kv, rows) { kv[p] } else { "
           "keep(kv, rows[p, :]) }) }\n"
           "    y = all\n}\n";
  };
  TimedHow how{.sizes = {{"P", 6}}, .foundPages = 6};
  Timed free(text("disk: 1MiB"), "p", {{"chip", 4}}, how);
  how.fabric = withDisks(1e9);
  Timed read(text("disk: 1MiB"), "p", {{"chip", 4}}, how);
  Timed memory(text("memory: 1MiB"), "p", {{"chip", 4}}, how);
  ASSERT_TRUE(free.time && read.time && memory.time);
  // All four parts read 256 bytes each; one page after the other, the next one beside what is computed.
  double page = 80 * us + 4 * 256 / 1e9;
  EXPECT_NEAR(read.seconds(), 6 * page + 10 * us, 1e-9);
  EXPECT_EQ(memory.seconds(), free.seconds());
  how.foundPages = 0;
  Timed none(text("disk: 1MiB"), "p", {{"chip", 4}}, how);
  ASSERT_TRUE(none.time);
  EXPECT_LT(none.seconds(), read.seconds());
}

constexpr const char *kWhile = R"(
program p[B, D](x: f32[B, D] over chip by B, limit: f32) -> (y: f32[B, D] over chip by B) at host
where B > 0, D > 0
{
    var rows = x
    var largest = all_reduce(max(abs(rows), axis: [0, 1]), over: chip)
    while largest[0, 0] > limit {
        rows = rows / 2.0
        largest = all_reduce(max(abs(rows), axis: [0, 1]), over: chip)
    }
    y = rows
}
)";

TEST(Disks, AWhileGoesRoundAsOftenAsIsSaid) {
  Timed unknown(kWhile, "p", {{"chip", 4}});
  EXPECT_FALSE(unknown.time);
  EXPECT_NE(unknown.why.find("--rounds N"), std::string::npos) << unknown.why;
  std::vector<double> seconds;
  for (int64_t rounds : {0, 1, 2, 12, 100'000}) {
    Timed timed(kWhile, "p", {{"chip", 4}}, {.rounds = rounds});
    ASSERT_TRUE(timed.time) << timed.why;
    ASSERT_EQ(timed.time->loops.size(), 1u);
    EXPECT_EQ(timed.time->loops[0].rounds, rounds);
    seconds.push_back(timed.seconds());
  }
  // Each round waits for the one before, so all take as long.
  double round = seconds[2] - seconds[1];
  EXPECT_GT(round, 10 * us);
  EXPECT_NEAR(seconds[3], seconds[1] + 11 * round, 1e-9);
  EXPECT_NEAR(seconds[4], seconds[1] + 99'999 * round, 1e-5 * seconds[4]);
}

} // namespace
} // namespace ptl::parts
