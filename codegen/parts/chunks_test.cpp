// Movements that go by chunks beside products: which may, how axes are cut, and that they change no result.
#include "codegen/parts/chunks.h"
#include "codegen/parts/letters_test_util.h"
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

/// Rows are gathered before a product, and sums scattered behind one, in a loop; a weight is gathered by its columns' rows; a result is added up.
constexpr const char *kProducts = R"(
program p[S, D, F](x: f32[S, D] over chip by S, up: f32[D, F] over chip by F, down: f32[F, D] over chip by F, w: f32[D, D] over chip by 0)
    -> (y: f32[S, D] over chip by S, z: f32[S, D], all: f32[S, D]) at host {
    var rows = x
    var whole = zeros(f32[S, D])
    for _l in 0..3 {
        whole = all_gather(rows, over: chip)
        let hidden = max(whole @ up, -4.0)
        rows = clamp(reduce_scatter(hidden @ down, over: chip, by: S), -8.0, 8.0)
    }
    y = rows @ all_gather(w, over: chip)
    all = whole
    z = all_reduce(max(whole @ up, 0.0) @ down, over: chip)
}
)";

TEST(Chunks, OfProductsAndWhatTheyNeedOrMake) {
  CheckedText checked(std::string{kProducts});
  ASSERT_TRUE(checked.ok()) << checked.errors();
  auto placed = checked.placed(*checked.find("p"));
  ASSERT_TRUE(placed);
  std::vector<std::pair<std::string, int64_t>> found;
  for (const ChunkedPair &pair : chunkedPairsOf(*placed))
    found.emplace_back(placed->values[pair.move].movement->name,
                       pair.operand ? static_cast<int64_t>(*pair.operand) : -1);
  std::vector<std::pair<std::string, int64_t>> expected = {
      {"all_gather", 0}, {"reduce_scatter", -1}, {"all_gather", 1}, {"all_reduce", -1}};
  EXPECT_EQ(found, expected);
}

TEST(Chunks, NeedAllOfWhatIsUsedOtherwise) {
  // The partial sum is used twice, and the product of the loop needs what came before it.
  CheckedText checked(R"(
program p[M, N](x: f32[M, N] over chip by N, w: f32[N, N] over chip by 0, v: f32[N, N]) -> (y: f32[M, N], z: f32[M, N] partial(+) over chip, t: f32[M, N]) at host {
    let made = x @ w
    y = all_reduce(made, over: chip)
    z = made
    let all = all_gather(x, over: chip)
    var sums = zeros(f32[M, N])
    for _i in 0..2 { sums += all @ v }
    t = sums
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  auto placed = checked.placed(*checked.find("p"));
  ASSERT_TRUE(placed);
  EXPECT_TRUE(chunkedPairsOf(*placed).empty());
}

/// Every element of the axis is in one chunk, and pieces are the blocks that the list of a chunk has.
TEST(Chunks, CoverAnAxisOnce) {
  for (movement::Kind kind :
       {movement::Kind::AllGather, movement::Kind::ReduceScatter, movement::Kind::AllReduce})
    for (uint32_t ranks : {2u, 3u, 4u, 8u})
      for (int64_t length = 0; length < 40; ++length)
        for (size_t axis : {0u, 1u}) {
          movement::Request request{kind, {length, length + 3}, ranks, 0, 0, 0};
          std::vector<Chunk> chunks = chunksOf(request, axis, 4, 1);
          std::vector<int> times(static_cast<size_t>(request.shape[axis]));
          for (const Chunk &chunk : chunks)
            for (const movement::Interval &piece : chunk)
              for (int64_t i = piece.begin; i < piece.end; ++i)
                ++times[static_cast<size_t>(i)];
          EXPECT_TRUE(chunks.empty() ||
                      std::ranges::all_of(times, [](int each) { return each == 1; }))
              << length << " " << ranks << " " << axis;
          EXPECT_NE(chunks.size(), 1u);
          // As many as are wanted, unless some would be empty, and none for 1.
          EXPECT_TRUE(chunksOf(request, axis, 4, 1, 1).empty());
          size_t three = chunksOf(request, axis, 4, 1 << 20, 3).size();
          EXPECT_TRUE(three == 0 || three == 2 || three == 3) << three;
        }
}

/// A schedule says how many chunks there are, and changes nothing else.
TEST(Chunks, AreThoseOfTheSchedule) {
  constexpr const char *text = R"(
program p[S, D, F](x: f32[S, D] over chip by S, up: f32[D, F] over chip by F, down: f32[F, D] over chip by F) -> (y: f32[S, D] over chip by S, z: f32[S, D]) at host {
    let all = all_gather(x, over: chip)
    let back = reduce_scatter(max(all @ up, 0.0) @ down, over: chip, by: S)
    let again = all_gather(back, over: chip)
    y = back
    z = all_reduce(again @ up @ down, over: chip)
}
)";
  std::vector<Value> args = {numbers({16, 6}, 1), numbers({6, 10}, 2), numbers({10, 6}, 3)};
  size_t whole = 0;
  RunResult expected = runOnRanks(text, args, 4, 1 << 20, &whole);
  auto sent = [&](const std::string &items, int64_t least) {
    size_t messages = 0;
    RunResult result =
        runOnRanks(std::string(text) + "schedule p " + items, args, 4, least, &messages);
    EXPECT_TRUE(result.ok()) << result.message;
    for (size_t i = 0; i < expected.outputs.size() && result.ok(); ++i)
      EXPECT_EQ(difference(result.outputs[i], expected.outputs[i]), "") << items;
    return messages;
  };
  size_t two = sent("{ all { chunks 2 } }", 1 << 20), four = sent("{ all { chunks 4 } }", 1 << 20);
  EXPECT_GT(two, whole);
  EXPECT_GT(four, two);
  EXPECT_GT(sent("{ back { chunks 4 } }", 1 << 20), whole);
  EXPECT_EQ(sent("when S > 100 { all { chunks 4 } }", 1 << 20), whole);
  EXPECT_EQ(sent("when S > 10 and not (D == 7) { all { chunks 4 } }", 1 << 20), four);
  // Small ones go as wholes if the schedule says so.
  EXPECT_EQ(sent("{ all { chunks 1 }, back { chunks 1 }, again { chunks 1 } }", 1) < sent("{ }", 1),
            true);
}

/// In time, a product begins with the first chunk that has come, and what it makes moves while it goes on.
TEST(Chunks, HideTheTimeOfMovements) {
  constexpr const char *text = R"(
program p[S, D](x: f32[S, D] over chip by S, w: f32[D, D]) -> (y: f32[S, D]) at host {
    let all = all_gather(x, over: chip)
    y = all @ w
}
program q[S, D](v: f32[S, D] over chip by D, u: f32[D, D] over chip by 0) -> (z: f32[S, D]) at host {
    let sum = all_reduce(v @ u, over: chip)
    z = sum
}
)";
  auto timed = [&](const std::string &entry, const std::string &schedule, int64_t rows = 1024) {
    return std::make_unique<Timed>(
        text + schedule, entry, MachineShape{{"chip", 4}},
        TimedHow{.sizes = {{"S", rows}, {"D", 256}},
                 .seconds = [](const std::string &) { return 100 * us; }});
  };
  for (const auto &[entry, label] : {std::pair("p", "all"), {"q", "sum"}}) {
    std::string name = entry, head = "schedule " + name + " ",
                items = " { " + std::string(label) + " { chunks ";
    auto one = timed(name, head + items + "1 } }"), some = timed(name, head + items + "8 } }"),
         chosen = timed(name, ""), other = timed(name, head + "when S < 10" + items + "3 } }");
    for (auto *each : {&one, &some, &chosen, &other})
      ASSERT_TRUE((*each)->time) << (*each)->why;
    EXPECT_EQ(one->time->moves[0].chunks, 1);
    EXPECT_EQ(some->time->moves[0].chunks, 8);
    // As a whole one waits for the other; by chunks only the first or the last one is not hidden.
    EXPECT_NEAR(one->seconds(), 100 * us + one->time->moves[0].alone, 1e-9);
    EXPECT_LT(some->seconds(), one->seconds());
    EXPECT_GE(some->seconds(), 100 * us);
    EXPECT_NEAR(some->time->computing, 100 * us, 1e-9);
    // Where no schedule says how many, as many as take least.
    EXPECT_GT(chosen->time->moves[0].chunks, 1);
    EXPECT_EQ(chosen->seconds(), other->seconds());
    for (const char *count : {"1", "2", "4", "8", "16"}) {
      auto fixed = timed(name, head + items + count + " } }");
      EXPECT_LE(chosen->seconds(), fixed->seconds() + 1e-9) << name << " " << count;
    }
    // What is short goes as a whole.
    auto small = timed(name, "", 16);
    ASSERT_TRUE(small->time) << small->why;
    EXPECT_EQ(small->time->moves[0].chunks, 1);
  }
}

TEST(Chunks, ChangeNoResult) {
  CheckedText checked(std::string{kProducts});
  for (int64_t rows : {0, 1, 5, 8, 9, 16})
    for (uint32_t ranks : {1u, 2u, 3u, 4u}) {
      std::vector<Value> args = {numbers({rows, 6}, 1), numbers({6, 10}, 2), numbers({10, 6}, 3),
                                 numbers({6, 6}, 4)};
      RunResult expected =
          reference::runEntry(*checked.program, checked.sources, *checked.find("p"), args);
      size_t whole = 0, byChunks = 0;
      RunResult atOnce = runOnRanks(kProducts, args, ranks, 1 << 20, &whole);
      RunResult result = runOnRanks(kProducts, args, ranks, 1, &byChunks);
      ASSERT_TRUE(result.ok() && expected.ok() && atOnce.ok())
          << result.message << expected.message;
      for (size_t i = 0; i < expected.outputs.size(); ++i) {
        EXPECT_EQ(difference(result.outputs[i], atOnce.outputs[i]), "") << rows << " " << ranks;
        EXPECT_EQ(difference(result.outputs[i], expected.outputs[i]), "") << rows << " " << ranks;
      }
      // Otherwise nothing of all this would have been tested.
      if (rows >= 8 && ranks > 1) {
        EXPECT_GT(byChunks, whole) << rows << " " << ranks;
      }
    }
}

} // namespace
} // namespace ptl::parts
