// Movements that go by chunks beside products: which may, how axes are cut, and that they change no result.
#include "codegen/parts/chunks.h"
#include "codegen/parts/letters_test_util.h"

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
