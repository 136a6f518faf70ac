// Programs that count the parts of their levels, and those whose parts each work on their own range, beside the reference.
#include "codegen/parts/mailboxes_test_util.h"
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

void expectAgreement(const Calls &calls, const std::vector<MachineShape> &shapes) {
  parts::expectAgreement("codegen/parts/testdata/own_parts.ptl", calls, shapes);
}

const std::vector<MachineShape> kHosts = {{{"chip", 1}, {"host", 1}},
                                          {{"chip", 3}, {"host", 2}},
                                          {{"chip", 2}, {"host", 3}},
                                          {{"chip", 1}, {"host", 5}}};

TEST(Counts, AreNumbersOfTheRun) {
  expectAgreement({{"counted", {ints({7, 3}, 1)}}}, someChips());
  expectAgreement({{"in_loops", {ints({7}, 1)}}}, kHosts);
  expectAgreement({{"meshed", {ints({5, 4}, 1)}}}, {{{"chip", 2}}, {{"chip", 6}}});
  for (uint32_t count : {1u, 3u, 8u})
    expectAgreement({{"in_shapes", {ints({count, 3}, 1)}}}, {{{"chip", count}}});
}

TEST(Counts, AreCheckedWithConditions) {
  CheckedText checked(projectText("codegen/parts/testdata/own_parts.ptl"));
  EXPECT_EQ(compareOnParts(checked, *checked.find("required"), {ints({6}, 1)}, 3, 1), "");
  std::string why = compareOnParts(checked, *checked.find("required"), {ints({6}, 1)}, 4, 1);
  EXPECT_NE(why.find("B % chips == 0"), std::string::npos) << why;
  // One number of parts may not be said twice differently.
  auto placed = checked.placed(*checked.find("counted"));
  PartsOptions options;
  options.shape = {{"chip", 3}};
  options.entry.dims = {{"chips", 4}};
  RunResult result =
      runOnParts(*checked.program, checked.sources, *placed, {ints({6, 2}, 1)}, options);
  EXPECT_EQ(result.message, "`chips` is 4, but the run has 3 parts of `chip`");
  // As a whole, a program is of no number of parts.
  result = reference::runEntry(*checked.program, checked.sources, *checked.find("counted"),
                               {ints({6, 2}, 1)});
  EXPECT_NE(result.message.find("`chips=1`"), std::string::npos) << result.message;
}

TEST(Shifts, AreByNumbersOfTheRun) {
  for (int64_t rows : {1, 6, 11})
    expectAgreement({{"shifted_by_numbers", {ints({rows}, 1), ints({3}, 2)}}}, someChips());
}

TEST(OwnParts, AgreeWithTheReference) {
  for (int64_t rows : {0, 1, 6, 11})
    expectAgreement(
        {{"doubled", {ints({rows, 3}, 1)}},
         {"above_own_sum", {ints({rows, 3}, 1)}},
         {"contracted", {ints({rows, 3}, 1), ints({4, rows}, 2), ints({3, 4}, 3), ints({rows}, 4)}},
         {"row_by_row", {ints({rows, 3}, 1)}},
         {"choices", {ints({rows, 3}, 1), ints({rows}, 2)}},
         {"in_rounds", {ints({rows, 3}, 1), Value::integer(0)}},
         {"in_rounds", {ints({rows, 3}, 1), Value::integer(3)}},
         {"in_arms", {ints({rows}, 1), Value::integer(2)}},
         {"in_arms", {ints({rows}, 1), Value::integer(3)}},
         {"in_pieces", {ints({rows, 4}, 1)}},
         {"in_tiles", {ints({rows, 6}, 1)}},
         {"in_lists", {ints({rows}, 1), ints({rows}, 2)}},
         {"every_second", {ints({2 * rows}, 1), ints({rows}, 2)}}},
        someChips());
}

TEST(Lines, AreWrittenOnce) {
  for (int64_t rows : {0, 1, 6, 11})
    expectAgreement({{"lines", {ints({rows, 3}, 1)}}}, someChips());
  for (int64_t rows : {0, 1, 4})
    expectAgreement({{"lines_of_sections", {ints({rows, 3}, 1)}}}, {{{"chip", 2}}, {{"chip", 3}}});
}

TEST(OwnParts, HaveLevelsBelowThem) {
  for (int64_t rows : {0, 1, 5, 8}) {
    expectAgreement({{"of_hosts", {ints({rows, 5}, 1)}}}, kHosts);
    expectAgreement({{"of_a_mesh", {ints({rows, 5}, 1)}}}, {{{"chip", 2}}, {{"chip", 6}}});
  }
}

TEST(OwnParts, LieWithinThoseOfLevelsOutside) {
  std::vector<MachineShape> shapes = kHosts;
  shapes.push_back({{"chip", 4}, {"host", 3}});
  for (int64_t rows : {0, 1, 5, 7, 16})
    expectAgreement({{"of_two_levels", {ints({rows, 3}, 1), ints({rows}, 2)}},
                     {"within_hosts", {ints({rows, 3}, 1), ints({rows}, 2)}},
                     {"by_two_dimensions", {ints({rows, 5}, 1)}}},
                    shapes);
}

TEST(OwnParts, MayBeEmptyInLaterRounds) {
  for (int64_t rows : {0, 1, 3, 6})
    expectAgreement({{"shorter", {ints({rows}, 1)}}}, someChips());
}

/// As ranks, each part knows its own range only.
TEST(OwnParts, AreRanks) {
  CheckedText checked(projectText("codegen/parts/testdata/own_parts.ptl"));
  ASSERT_TRUE(checked.ok()) << checked.errors();
  auto compare = [&](const std::string &name, const std::vector<Value> &args,
                     const MachineShape &shape, uint32_t ranks) {
    const CallableDecl &decl = *checked.find(name);
    auto placed = checked.placed(decl);
    reference::RunOptions asWhole;
    std::string why;
    giveCounts(decl, Grid(placed->levels, countsOn(placed->levels, shape, why)), asWhole.dims);
    RunResult expected =
        reference::runEntry(*checked.program, checked.sources, decl, args, asWhole);
    Mailboxes mail(ranks);
    for (const RunResult &result : mail.run(checked, *placed, args, shape))
      ASSERT_TRUE(result.ok()) << name << result.message;
    std::vector<RunResult> results = mail.run(checked, *placed, args, shape);
    for (size_t i = 0; i < expected.outputs.size(); ++i)
      EXPECT_EQ(difference(results[0].outputs[i], expected.outputs[i]), "") << name << " " << ranks;
    EXPECT_TRUE(mail.isEmpty());
  };
  for (int64_t rows : {0, 1, 6, 11}) {
    for (uint32_t count : {1u, 2u, 3u, 4u, 5u, 8u}) {
      MachineShape shape = {{"chip", count}};
      compare("above_own_sum", {ints({rows, 3}, 1)}, shape, count);
      compare("row_by_row", {ints({rows, 3}, 1)}, shape, count);
      compare("choices", {ints({rows, 3}, 1), ints({rows}, 2)}, shape, count);
      compare("in_rounds", {ints({rows, 3}, 1), Value::integer(3)}, shape, count);
    }
    compare("of_hosts", {ints({rows, 5}, 1)}, {{"chip", 3}, {"host", 2}}, 6);
    compare("of_a_mesh", {ints({rows, 5}, 1)}, {{"chip", 6}}, 6);
    compare("of_two_levels", {ints({rows, 3}, 1), ints({rows}, 2)}, {{"chip", 3}, {"host", 2}}, 6);
    compare("within_hosts", {ints({rows, 3}, 1), ints({rows}, 2)}, {{"chip", 2}, {"host", 3}}, 6);
    compare("by_two_dimensions", {ints({rows, 5}, 1)}, {{"chip", 2}, {"host", 2}}, 4);
  }
}

/// A part takes the time of its own range: the longest one decides.
TEST(OwnParts, TakeTheTimeOfTheirRange) {
  constexpr const char *text = R"(
program p[B, D](x: f32[B, D] over chip by B) -> (y: f32[B, D] over chip by B) at host {
    parallel c in parts(B, over: chip) {
        var own = x[c, :]
        for i in 0..c.len { own = own * 2.0 + x[c.start + i, :] }
        y[c, :] = own
    }
}
)";
  for (uint32_t count : {1u, 2u, 3u, 4u}) {
    Timed timed(text, "p", {{"chip", count}}, {.sizes = {{"B", 12}, {"D", 4}}});
    ASSERT_TRUE(timed.time) << timed.why;
    ASSERT_EQ(timed.time->loops.size(), 1u);
    EXPECT_EQ(timed.time->loops[0].rounds, 12 / count);
  }
}

TEST(Workers, RunPrograms) { expectAgreement({{"of_workers", {ints({5, 2, 3}, 1)}}}, someChips()); }

} // namespace
} // namespace ptl::parts
