// Programs on parts with sections for one part each, and pipes between them, beside the reference and in time.
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

void expectAgreement(const Calls &calls, const std::vector<MachineShape> &shapes) {
  parts::expectAgreement("codegen/parts/testdata/sections.ptl", calls, shapes);
}

TEST(Sections, AgreeWithTheReference) {
  for (int64_t rounds : {0, 1, 4})
    expectAgreement({{"once", {ints({3, 4}, 1), ints({4, 4}, 2)}},
                     {"in_order", {ints({5}, 1), ints({5}, 2)}},
                     {"rounds", {ints({rounds, 3, 2}, 1), ints({2, 2}, 2)}},
                     {"both_ways", {ints({rounds, 5}, 1), ints({5}, 2)}},
                     {"two_pairs", {ints({rounds, 5}, 1), ints({3, 5}, 2)}},
                     {"networks", {ints({5}, 1)}},
                     {"in_a_loop", {ints({rounds, 3, 5}, 1)}},
                     {"loops_in_loops", {ints({rounds, 3, 5}, 1)}},
                     {"conditions", {numbers({rounds, 3}, 1), Value::integer(2)}},
                     {"one_part", {ints({5}, 1), ints({5}, 2)}},
                     {"constants", {ints({5}, 1)}}},
                    {{{"chip", 2}}, {{"chip", 3}}});
}

TEST(Sections, HaveLevelsBelowThem) {
  expectAgreement(
      {{"hosts", {ints({3, 2, 4}, 1), ints({4, 7}, 2), ints({7, 4}, 3)}}},
      {{{"chip", 1}, {"host", 2}}, {{"chip", 3}, {"host", 2}}, {{"chip", 2}, {"host", 3}}});
  for (int64_t rounds : {0, 3})
    expectAgreement(
        {{"ranges_in_sections", {ints({rounds, 7}, 1), ints({7}, 2)}},
         {"ranges_in_sections", {ints({rounds, 2}, 1), ints({2}, 2)}}},
        {{{"chip", 1}, {"host", 2}}, {{"chip", 3}, {"host", 2}}, {{"chip", 4}, {"host", 3}}});
  expectAgreement({{"of_a_mesh", {ints({3, 5}, 1)}}}, {{{"chip", 2}}, {{"chip", 6}}});
}

TEST(Sections, ForStagesRunOnAnyNumberOfParts) {
  for (int64_t stages : {1, 2, 5, 7})
    expectAgreement({{"stages", {ints({3, 2, 4}, 1), ints({stages, 4, 4}, 2)}},
                     {"stages", {ints({0, 2, 4}, 1), ints({stages, 4, 4}, 2)}},
                     {"two_chains", {ints({5}, 1), ints({stages, 5}, 2)}},
                     {"two_chains", {ints({2}, 1), ints({stages, 2}, 2)}},
                     {"stages_in_rounds", {ints({2, 3, 5}, 1), ints({stages, 5}, 2)}}},
                    someChips());
  for (int64_t stages : {1, 4})
    expectAgreement(
        {{"stages_on_hosts",
          {ints({2, 3, 4}, 1), ints({stages, 4, 5}, 2), ints({stages, 5, 4}, 3)}}},
        {{{"chip", 1}, {"host", 1}}, {{"chip", 3}, {"host", 2}}, {{"chip", 2}, {"host", 5}}});
}

TEST(Sections, StagesKeepElementsOfTheirOwn) {
  for (int64_t stages : {1, 2, 5, 7})
    expectAgreement({{"trained", {ints({3, 2, 4}, 1), ints({stages, 4, 4}, 2)}},
                     {"trained", {ints({0, 2, 4}, 1), ints({stages, 4, 4}, 2)}},
                     {"there_and_back", {ints({5}, 1), ints({stages, 5}, 2)}}},
                    someChips());
}

TEST(Sections, ForAllPartsButSome) {
  for (uint32_t hosts : {2u, 3u, 5u})
    for (uint32_t chips : {1u, 3u})
      expectAgreement({{"all_but_the_first", {ints({3, 4}, 1), ints({hosts, 4}, 2)}}},
                      {{{"chip", chips}, {"host", hosts}}});
}

/// A part that a program names has to be there.
TEST(Sections, NeedTheirParts) {
  CheckedText checked(projectText("codegen/parts/testdata/sections.ptl"));
  EXPECT_EQ(compareOnParts(checked, *checked.find("constants"), {ints({5}, 1)}, 1, 1),
            " / there is no chip 1 of 1");
}

// ---- In time -------------------------------------------------------------------------------------

constexpr const char *kTwo = R"(
program p[N, B, D](x: f32[N, B, D] at chip 0, v: f32[D, D] at chip 0, w: f32[D, D] at chip 1) -> (y: f32[B, D] at chip 1) at host {
    pipe act: f32[B, D]
    var sums = zeros(f32[B, D])
    on chip 0 { for n in 0..N { push(act, x[n, :, :] @ v) } }
    on chip 1 {
        for _n in 0..N { sums += pop(act) @ w }
        y = sums
    }
}
)";

/// The second part has one round while the first has the next.
TEST(Sections, OverlapInTime) {
  for (int64_t rounds : {1, 2, 10}) {
    Timed timed(kTwo, "p", {{"chip", 2}}, {{{"N", rounds}}});
    ASSERT_TRUE(timed.time) << timed.why;
    ASSERT_EQ(timed.time->moves.size(), 1u);
    const MoveTime &move = timed.time->moves[0];
    EXPECT_EQ(move.times, rounds);
    EXPECT_EQ(move.sentBytes, 64 * 64 * 4);
    // It takes the first part and a movement until the second part has something to do, a product and a sum each round,
    // and from there on it always has.
    EXPECT_NEAR(timed.seconds(), 10 * us + move.alone + static_cast<double>(rounds) * 20 * us,
                1e-12);
  }
}

/// The last stage's chip has what comes out.
std::string stagesTo(const std::string &last) {
  return R"(
program p[N, B, D, S](x: f32[N, B, D] at chip 0, w: f32[S, D, D] over chip by S, v: f32[B, D]) -> (y: f32[B, D] at chip )" +
         last + R"() at host
where S > 0
{
    pipe act[S + 1]: f32[B, D]
    var last = v
    on chip 0 { for n in 0..N { push(act[0], x[n, :, :]) } }
    on chip s in 0..S { for _n in 0..N { push(act[s + 1], pop(act[s]) @ w[s, :, :]) } }
    on chip )" +
         last + R"( {
        for _n in 0..N { last = pop(act[S]) }
        y = last
    }
}
)";
}

/// N pieces through S stages on as many chips: each chip has each piece once, and all work at the same time.
TEST(Sections, ForStagesAreAPipelineInTime) {
  for (int64_t rounds : {1, 6}) {
    Timed timed(stagesTo("3"), "p", {{"chip", 4}}, {{{"N", rounds}, {"S", 4}}});
    ASSERT_TRUE(timed.time) << timed.why;
    double moved = 0;
    for (const MoveTime &move : timed.time->moves)
      moved = std::max(moved, move.alone);
    EXPECT_GT(moved, 0);
    EXPECT_NEAR(timed.seconds(), 3 * moved + static_cast<double>(4 + rounds - 1) * 10 * us, 1e-12);
    // One chip has all stages of all pieces, and nothing moves.
    Timed alone(stagesTo("0"), "p", {{"chip", 1}}, {{{"N", rounds}, {"S", 4}}});
    ASSERT_TRUE(alone.time) << alone.why;
    EXPECT_NEAR(alone.seconds(), static_cast<double>(rounds) * 4 * 10 * us, 1e-12);
    // Two stages on each of two chips.
    Timed two(stagesTo("1"), "p", {{"chip", 2}}, {{{"N", rounds}, {"S", 4}}});
    ASSERT_TRUE(two.time) << two.why;
    EXPECT_NEAR(two.seconds(), moved + static_cast<double>(2 + rounds - 1) * 20 * us, 1e-12);
  }
}

/// What a stage keeps is stored by its part only, and the way back is as long as the way there.
TEST(Sections, ThatKeepValuesHaveATime) {
  std::string text = projectText("codegen/parts/testdata/sections.ptl");
  Timed timed(text, "trained", {{"chip", 3}}, {{{"N", 3}, {"B", 64}, {"D", 64}, {"S", 5}}});
  ASSERT_TRUE(timed.time) << timed.why;
  Timed alone(text, "trained", {{"chip", 1}}, {{{"N", 3}, {"B", 64}, {"D", 64}, {"S", 5}}});
  ASSERT_TRUE(alone.time) << alone.why;
  EXPECT_LT(timed.seconds(), alone.seconds());
  EXPECT_GT(timed.seconds(), alone.seconds() / 3);
}

/// What only one part computes takes no time on the others.
TEST(Sections, ComputeOnTheirPartOnly) {
  Timed timed(R"(
program p[B, D](x: f32[B, D] at chip 0, v: f32[B, D] at chip 1) -> (y: f32[B, D] at chip 0, z: f32[B, D] at chip 1) at host {
    on chip 0 { y = exp(x) }
    on chip 1 { z = exp(v) + 1.0 }
}
)",
              "p", {{"chip", 2}});
  ASSERT_TRUE(timed.time) << timed.why;
  EXPECT_EQ(timed.time->stretches.size(), 2u);
  EXPECT_NEAR(timed.seconds(), 10 * us, 1e-12);
  EXPECT_NEAR(timed.time->computing, 10 * us, 1e-12);
}

} // namespace
} // namespace ptl::parts
