// Loops of programs on parts in time: what overlaps between rounds, and rounds that stand for others.
#include "codegen/parts/random_program_test_util.h"
#include "codegen/parts/round_plan.h"
#include "codegen/parts/time_parts_test_util.h"

#include <numeric>
#include <random>

namespace ptl::parts {
namespace {

constexpr int64_t kAllRounds = std::numeric_limits<int64_t>::max() / 2;

Timed onChips(const std::string &text, TimedHow how, uint32_t chips = 4) {
  return Timed(text, "p", {{"chip", chips}}, std::move(how));
}

// ---- Which rounds --------------------------------------------------------------------------------

TEST(RoundPlan, AllRoundsAreCountedOnce) {
  for (bool areAlike : {false, true})
    for (int64_t most : {0, 1, 20, 33, 100, 100000})
      for (int64_t rounds : std::initializer_list<int64_t>{0, 1, 15, 16, 17, 32, 33, 64, 65, 1000,
                                                           123457, 1'000'000'000'000'000}) {
        std::vector<PlannedRound> plan = planRounds(rounds, areAlike, most);
        double stands = 0;
        int64_t before = -1, simulated = 0, leftOut = 0;
        size_t inARow = 0;
        for (const PlannedRound &round : plan) {
          EXPECT_GT(round.number, before);
          EXPECT_LT(round.number, rounds);
          inARow = round.number == before + 1 ? inARow + 1 : 1;
          EXPECT_TRUE(round.leftOut == 0 || inARow >= round.pace + 2) << rounds << " most " << most;
          before = round.number;
          ++simulated;
          leftOut += round.leftOut;
          stands += round.stands;
        }
        EXPECT_EQ(simulated + leftOut, rounds);
        EXPECT_NEAR(stands, static_cast<double>(rounds), 1e-9 * static_cast<double>(rounds));
        EXPECT_EQ(simulated, std::ssize(plan));
        if (rounds <= most)
          EXPECT_EQ(leftOut, 0);
        EXPECT_LE(simulated, std::max<int64_t>(64, most));
      }
}

TEST(RoundPlan, WindowsStandForTheRoundsAroundThem) {
  for (int64_t rounds : {33, 100, 333, 1000, 12345}) {
    double sum = 0, before = 0;
    for (const PlannedRound &round : planRounds(rounds, false, 0)) {
      EXPECT_GT(round.stands, 0);
      sum += round.stands * static_cast<double>(round.number);
      before += static_cast<double>(round.number);
    }
    // What grows with the number is counted exactly.
    EXPECT_NEAR(sum, static_cast<double>(rounds * (rounds - 1)) / 2, 1e-3);
    EXPECT_LT(before, sum);
  }
}

// ---- What overlaps -------------------------------------------------------------------------------

constexpr const char *kChained = R"(
program p[B, D, F](x: f32[B, D] over chip by B, w0: f32[D, F], n: int) -> (w: f32[D, F]) at host {
    var v = w0
    for i in 0..n {
        v = v + all_reduce(x.T @ exp(x @ v), over: chip)
    }
    w = v
}
)";

TEST(LoopTimes, RoundsThatNeedEachOtherFollowEachOther) {
  Timed loop = onChips(kChained, {{{"n", 5}}});
  Timed written = onChips(R"(
program p[B, D, F](x: f32[B, D] over chip by B, w0: f32[D, F], n: int) -> (w: f32[D, F]) at host {
    let v1 = w0 + all_reduce(x.T @ exp(x @ w0), over: chip)
    let v2 = v1 + all_reduce(x.T @ exp(x @ v1), over: chip)
    let v3 = v2 + all_reduce(x.T @ exp(x @ v2), over: chip)
    let v4 = v3 + all_reduce(x.T @ exp(x @ v3), over: chip)
    w = v4 + all_reduce(x.T @ exp(x @ v4), over: chip)
})",
                          {{{"n", 5}}});
  ASSERT_TRUE(loop.time && written.time);
  ASSERT_EQ(loop.time->moves.size(), 1u);
  const MoveTime &move = loop.time->moves[0];
  // Per round the product and what follows it, and the sum behind the movement.
  EXPECT_NEAR(loop.seconds(), 5 * (20 * us + move.alone), 1e-12);
  EXPECT_EQ(move.times, 5);
  EXPECT_NEAR(move.adds, 5 * move.alone, 1e-12);
  EXPECT_EQ(loop.time->messages, written.time->messages);
  EXPECT_EQ(loop.time->messages, static_cast<int64_t>(loop.time->timeline.messages));
  ASSERT_EQ(loop.time->loops.size(), 1u);
  EXPECT_EQ(loop.time->loops[0].rounds, 5);
  EXPECT_EQ(loop.time->loops[0].simulated, 5);
  // By hand, the sum of one round and the product of the next are one stretch.
  EXPECT_NEAR(written.seconds(), 60 * us + 5 * move.alone, 1e-12);
}

constexpr const char *kGathered = R"(
program p[L, B, D, F](x: f32[B, D], w: f32[L, D, F] over chip by F) -> (y: f32[B, D]) at host {
    var h = x
    for l in 0..L {
        h = h + sum(h @ all_gather(w[l, :, :], over: chip), axis: 1)
    }
    y = h
}
)";

/// What the next round needs of arguments comes while this one computes, and no earlier: there is room for two rounds.
TEST(LoopTimes, APartIsOneRoundAhead) {
  Timed timed = onChips(kGathered, {{{"L", 9}}});
  const MoveTime &move = timed.time->moves.at(0);
  ASSERT_LT(move.alone, 10 * us);
  EXPECT_NEAR(timed.seconds(), move.alone + 9 * 10 * us, 1e-12);
  EXPECT_NEAR(move.adds, move.alone, 1e-12);
  EXPECT_NEAR(move.end, move.alone + 7 * 10 * us + move.alone, 1e-12);
  // Arguments, and of two rounds what was gathered, the product, its sums, and what the next round gets.
  int64_t square = 64 * 64 * 4;
  EXPECT_EQ(timed.time->bytes, square + 9 * square / 4 + 2 * (3 * square + 64 * 4));
}

/// Movements that take longer than what is computed follow each other.
TEST(LoopTimes, MovementsSetThePace) {
  TimedHow how{{{"L", 9}}};
  how.seconds = [](const std::string &) { return 0.1 * us; };
  Timed timed = onChips(kGathered, how);
  const MoveTime &move = timed.time->moves.at(0);
  EXPECT_NEAR(timed.seconds(), 9 * move.alone + 0.1 * us, 1e-12);
}

/// Parts that work on different rounds go on beside each other: a pipeline fills, then its slowest stage sets the pace.
TEST(LoopTimes, StagesWorkOnDifferentRounds) {
  const std::string text = R"(
program p[M, B, D](
    x: f32[M, B, D] at chip 0, w0: f32[D, D] at chip 0, w1: f32[D, D] at chip 1, w2: f32[D, D] at chip 2, s: f32[B, D] at chip 2
) -> (y: f32[B, D] at chip 2) at host {
    var total = s
    for m in 0..M {
        let a = send(max(x[m, :, :] @ w0, 0.0), over: chip, to: 1)
        let b = send(max(a @ w1, 0.0), over: chip, to: 2)
        total = total + b @ w2
    }
    y = total
})";
  for (int64_t rounds : {1, 2, 7, 100}) {
    Timed timed = onChips(text, {{{"M", rounds}}});
    double sends = timed.time->moves.at(0).alone + timed.time->moves.at(1).alone;
    // The last chip has two stretches: the product, and the sum.
    EXPECT_NEAR(timed.seconds(), 20 * us + sends + static_cast<double>(rounds) * 20 * us, 1e-12)
        << rounds;
    EXPECT_NEAR(timed.time->computing, static_cast<double>(rounds) * 20 * us, 1e-12);
  }
}

TEST(LoopTimes, ALoopMayNotGoRound) {
  for (int64_t rounds : {-3, 0}) {
    Timed timed = onChips(kChained, {{{"n", rounds}}});
    ASSERT_TRUE(timed.time) << timed.why;
    EXPECT_EQ(timed.seconds(), 0);
    EXPECT_TRUE(timed.time->moves.empty());
    EXPECT_EQ(timed.time->loops.at(0).rounds, 0);
  }
}

TEST(LoopTimes, ALoopThatGoesBackwardsHasNoTime) {
  Timed timed = onChips(R"(
program p[B](x: f32[B] over chip by B, by: int) -> (y: f32[B] over chip by B) at host {
    var v = x
    for _i in 0..10 step by {
        v = v * 0.5
    }
    y = v
})",
                        {{{"by", 0}}});
  EXPECT_FALSE(timed.time);
  EXPECT_EQ(timed.why, "the loop over `_i` counts by 0, not forwards");
}

// ---- Rounds that stand for others ----------------------------------------------------------------

double someSeconds(const std::string &source) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char letter : source)
    hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  return static_cast<double>(hash % 97 + 3) / 5 * us;
}

/// Of a part of the whole.
double error(double estimate, double whole) { return std::abs(estimate / whole - 1); }

/// The same with all rounds, and with as few as possible.
struct Both {
  Both(const std::string &text, std::map<std::string, int64_t> sizes, MachineShape shape,
       std::function<double(const std::string &)> seconds = someSeconds, int64_t mostInLoops = 1)
      : whole(text, "p", shape, {sizes, seconds, kAllRounds}),
        sampled(text, "p", shape, {sizes, seconds, mostInLoops}) {}

  double error() const { return parts::error(sampled.seconds(), whole.seconds()); }
  Timed whole, sampled;
};

TEST(LoopTimes, FewRoundsStandForAll) {
  const MachineShape shape = {{"chip", 4}};
  for (const char *text : {kChained, kGathered}) {
    bool isChained = text == kChained;
    for (int64_t rounds : {24, 25, 26, 33, 400}) {
      Both both(text, {{isChained ? "n" : "L", rounds}}, shape);
      EXPECT_LT(both.error(), 1e-6) << rounds;
      const PartsTime &whole = *both.whole.time, &sampled = *both.sampled.time;
      EXPECT_EQ(whole.loops.at(0).simulated, rounds);
      EXPECT_EQ(sampled.loops.at(0).simulated, rounds <= 24 ? rounds : 8);
      EXPECT_EQ(sampled.loops.at(0).rounds, rounds);
      EXPECT_EQ(sampled.messages, whole.messages);
      EXPECT_EQ(sampled.moves.at(0).times, rounds);
      EXPECT_NEAR(sampled.computing, whole.computing, 1e-12);
      EXPECT_LT(error(sampled.moves.at(0).adds, whole.moves.at(0).adds), 1e-6);
      EXPECT_LT(error(sampled.moves.at(0).end, whole.moves.at(0).end), 1e-6);
      for (size_t i = 0; i < whole.stretches.size(); ++i)
        EXPECT_EQ(sampled.stretches[i].times, whole.stretches[i].times);
    }
  }
}

TEST(LoopTimes, LoopsInLoopsAreSampledToo) {
  const std::string nested = R"(
program p[B, D](x: f32[B, D] over chip by B, w: f32[D, D], n: int, m: int) -> (y: f32[D, D]) at host {
    var v = w
    for _i in 0..n {
        for _j in 0..m {
            v = v * 0.5 + all_reduce(x.T @ (x @ v), over: chip)
        }
        v = v / max(max(v, axis: [0, 1]), 1.0)
    }
    y = v
})";
  for (auto [n, m] : {std::pair(3, 50), std::pair(50, 3), std::pair(40, 40), std::pair(100, 0)}) {
    Both both(nested, {{"n", n}, {"m", m}}, {{"chip", 4}});
    EXPECT_LT(both.error(), 1e-6) << n << " " << m;
    EXPECT_EQ(both.sampled.time->messages, both.whole.time->messages);
    EXPECT_EQ(both.sampled.time->loops.at(1).rounds, n * m);
  }
}

/// Inner loops get longer, and so do arrays: windows are spread over the loop.
TEST(LoopTimes, RoundsMayDiffer) {
  const std::string triangular = R"(
program p[B, D](x: f32[B, D] over chip by B, n: int) -> (y: f32[1, D]) at host {
    var v = zeros(f32[1, D])
    for i in 0..n {
        for _j in 0..i {
            v = v + all_reduce(sum(x * v, axis: 0), over: chip)
        }
    }
    y = v
})";
  const std::string growing = R"(
program p[B, D](x: f32[B, D] over chip by B, n: int) -> (y: f32[1, D]) at host {
    var v = zeros(f32[1, D])
    for i in 0..n {
        let rows = ones(f32[3 * i + 1, D])
        v = v + all_reduce(sum(x, axis: 0), over: chip) * sum(rows, axis: 0)
    }
    y = v
})";
  for (int64_t n : {31, 33, 60, 90}) {
    Both inner(triangular, {{"n", n}}, {{"chip", 4}});
    EXPECT_LT(inner.error(), 0.03) << n;
    EXPECT_EQ(inner.sampled.time->messages, inner.whole.time->messages);
    EXPECT_EQ(inner.sampled.time->loops.at(1).rounds, n * (n - 1) / 2);
    auto byRows = [](const std::string &source) {
      size_t at = source.find("ones(f32[");
      return at == source.npos ? 5 * us : std::stod(source.substr(at + 9)) * us;
    };
    Both longer(growing, {{"n", n}}, {{"chip", 4}}, byRows);
    EXPECT_LT(longer.error(), 0.04) << n;
  }
}

/// Two loops that do not need each other go on beside each other, whichever is longer.
TEST(LoopTimes, LoopsBesideEachOther) {
  const std::string text = R"(
program p[B, D](x: f32[B, D] over chip by B, z: f32[B, D] over chip by B, n: int, m: int) -> (y: f32[1, D], u: f32[1, D]) at host {
    var v = zeros(f32[1, D])
    for _i in 0..n {
        v = v + all_reduce(sum(x * v, axis: 0), over: chip)
    }
    y = v
    var w = zeros(f32[1, D])
    for _i in 0..m {
        w = w + all_reduce(sum(z + w, axis: 0), over: chip)
    }
    u = w
})";
  auto seconds = [](const std::string &) { return 0.5 * us; };
  for (auto [n, m] : {std::pair(300, 40), std::pair(40, 300), std::pair(10, 500)}) {
    Both both(text, {{"n", n}, {"m", m}}, {{"chip", 4}}, seconds);
    EXPECT_LT(both.error(), 0.1) << n << " " << m;
  }
}

/// The body of a loop, drawn: variables that are cut, the same everywhere, and what a round needs of arguments.
std::string drawnLoop(uint64_t seed) {
  std::mt19937_64 random(seed);
  const char *statements[] = {
      "a = a * 0.5 + c",
      "a = exp(a)",
      "c = a - c",
      "b = b + all_gather(a, over: chip)",
      "b = b * 0.5",
      "a = a + b",
      "c = shift(shift(c, over: [host, chip], by: 1) * 0.5, over: [host, chip], by: -1)",
      "b = b + all_reduce(all_reduce(sum(c, axis: 0), over: chip), over: host)",
      "b = b + all_reduce(all_reduce(sum(a, axis: 0), over: chip), over: host)",
      "b = b + sum(b @ all_gather(w[l, :, :], over: chip), axis: 1)",
      "a = a + reduce_scatter(all_reduce(sum(c, axis: 0), over: host) * b, over: chip, by: B)",
      "c = c + sum(c @ all_gather(w[l, :, :], over: chip), axis: 1)",
  };
  std::string body;
  size_t count = 1 + random() % 5;
  for (size_t i = 0; i < count; ++i)
    body += "        " + std::string(statements[random() % std::size(statements)]) + "\n";
  return "program p[B, D, E, L](x: f32[B, D] over host, chip by B, w: f32[L, D, E] over chip by E, "
         "n: "
         "int) -> (y: f32[B, D] over host, chip by B) at pod {\n"
         "    var a = x\n    var b = zeros(f32[B, D])\n    var c = x\n    for l in 0..n {\n" +
         body + "    }\n    y = a + b + c\n}\n";
}

TEST(LoopTimes, SomeRoundsOfDrawnLoops) {
  int count = 0;
  double sum = 0, worst = 0;
  for (uint64_t seed = 0; seed < 250; ++seed) {
    std::string text = drawnLoop(seed);
    if (!CheckedText(text).ok())
      continue;
    for (int64_t rounds : {25, 61}) {
      Both both(text, {{"n", rounds}, {"L", 61}}, {{"host", 2}, {"chip", 3}}, someSeconds, 1500);
      EXPECT_LT(both.error(), 0.06) << seed << ", " << rounds << " rounds\n" << text;
      EXPECT_EQ(both.sampled.time->messages, both.whole.time->messages);
      worst = std::max(worst, both.error());
      sum += both.error();
      ++count;
    }
  }
  EXPECT_GT(count, 300);
  EXPECT_LT(sum / count, 0.002);
  std::printf("%d loops, %.5f on average, %.3f at worst\n", count, sum / count, worst);
}

/// A random program, and before it a loop that does the same in each round.
std::string repeated(const std::string &text) {
  size_t begin = text.find("    let _s = sizes\n"), end = text.rfind("    y = ");
  begin = text.find('\n', begin) + 1;
  std::string body = text.substr(begin, end - begin);
  std::string head = text.substr(0, begin);
  head.insert(head.find("sizes: "), "rounds: int, ");
  return head + "    var turns = 0.0\n    for _i in 0..rounds {\n" + body +
         "        turns = turns + 1.0\n    }\n" + body + text.substr(end);
}

/// Compares the times of random programs in loops, of which few rounds stand for all, and checks that
/// the checker takes what parts compute in them. Returns the errors of the times.
std::vector<double> errorsInLoops(uint64_t seeds, bool selects, bool ofParts) {
  std::vector<double> errors;
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    RandomProgram program(seed, selects, ofParts);
    program.grow(4 + seed % 9);
    // Pools are made outside of loops.
    if (!program.finish() || program.text.find("pool(") != std::string::npos)
      continue;
    std::string text = repeated(program.text);
    CheckedText checked(text);
    EXPECT_TRUE(checked.ok()) << text << checked.errors();
    Both both(text, {{"rounds", 60}}, {{"host", 2}, {"chip", 3}}, someSeconds, 8000);
    // Where a number of the program decides, there is no time.
    if (both.whole.why.starts_with("both arms of the `if`") ||
        both.whole.why.starts_with("data decide when the loop")) {
      EXPECT_TRUE(text.find(" > 1.0 {") != text.npos || text.find(" > f32(i) {") != text.npos)
          << text;
      EXPECT_EQ(both.sampled.why, both.whole.why);
      continue;
    }
    EXPECT_TRUE(both.whole.time && both.sampled.time) << both.whole.why;
    if (!both.whole.time || !both.sampled.time)
      continue;
    for (const std::string &source : both.whole.sources)
      EXPECT_TRUE(CheckedText(source).ok()) << text << source << CheckedText(source).errors();
    EXPECT_EQ(both.sampled.time->messages, both.whole.time->messages);
    errors.push_back(both.error());
  }
  double sum = std::accumulate(errors.begin(), errors.end(), 0.0);
  auto count = static_cast<double>(errors.size());
  EXPECT_LT(sum / count, 0.002);
  std::printf("%zu loops, %.5f on average, %.3f at worst\n", errors.size(), sum / count,
              std::ranges::max(errors));
  return errors;
}

TEST(LoopTimes, RandomProgramsInLoops) {
  std::vector<double> errors = errorsInLoops(240, false, false);
  EXPECT_GT(errors.size(), 100u);
  EXPECT_LT(std::ranges::max(errors), 0.1);
}

/// With elements that are selected and put beside each other, and ranges of parts.
TEST(LoopTimes, RandomSelectionsInLoops) { EXPECT_GT(errorsInLoops(60, true, true).size(), 25u); }

} // namespace
} // namespace ptl::parts
