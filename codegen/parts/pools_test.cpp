// Programs with pools on parts: they compute what they would without, and compute only what no pool has.
#include "codegen/parts/pools_test_util.h"
#include "frontend/sema/placement/place_program.h"

namespace ptl::parts {
namespace {

class Pools : public ProgramsWithPools {
protected:
  /// Compares a run with the reference; the pages that it found and computed in `found_` and `computed_`.
  std::string run(const std::string &name, const std::vector<Value> &args, uint32_t chips,
                  bool onDisk = true, bool checks = false) {
    const CallableDecl &decl = *checked_.find(name);
    DiagnosticSink sink;
    auto placed = placeProgram(*checked_.program, *decl.module->tree, decl, sink);
    if (!placed)
      return "not placed";
    found_ = computed_ = 0;
    PartsOptions options;
    options.shape = {{"chip", chips}};
    options.pools.folder = onDisk ? folder_ : "";
    options.pools.checks = checks;
    options.pools.executor = "test";
    options.pools.report = [&](const PoolReport &report) {
      found_ += report.found;
      computed_ += report.computed;
    };
    RunResult result = runOnParts(*checked_.program, checked_.sources, *placed, args, options);
    RunResult expected = reference::runEntry(*checked_.program, checked_.sources, decl, args);
    if (!result.ok() || !expected.ok())
      return result.message + expected.message;
    for (size_t i = 0; i < expected.outputs.size(); ++i)
      if (std::string why = difference(result.outputs[i], expected.outputs[i]); !why.empty())
        return why;
    return {};
  }

  /// Rows whose first ones are the same for all salts.
  static Value rows(int64_t count, int64_t width, int64_t same, int64_t salt) {
    RefArray array = reference::zeroArray(ElemKind::I32, {count, width});
    for (int64_t i = 0; i < array.count(); ++i)
      array.set(i, Scalar::integer(i * 7 % 5 + (i / width < same ? 0 : salt)));
    return Value::array(std::move(array));
  }

  uint64_t found_ = 0, computed_ = 0;
};

/// On any number of parts, a second run finds all pages, and one with another end those in front of it.
TEST_F(Pools, RunsFindWhatEarlierOnesKept) {
  for (uint32_t chips : {1u, 2u, 3u, 5u, 8u}) {
    Value bias = numbers({7}, 2, ElemKind::I32);
    EXPECT_EQ(run("sums", {rows(6, 7, 4, 1), bias}, chips), "");
    EXPECT_EQ(std::pair(found_, computed_), std::pair(uint64_t(0), uint64_t(6))) << chips;
    EXPECT_EQ(run("sums", {rows(6, 7, 4, 1), bias}, chips, true, true), "");
    EXPECT_EQ(std::pair(found_, computed_), std::pair(uint64_t(6), uint64_t(0))) << chips;
    EXPECT_EQ(run("sums", {rows(6, 7, 4, 2), bias}, chips), "");
    EXPECT_EQ(std::pair(found_, computed_), std::pair(uint64_t(4), uint64_t(2))) << chips;
    // A longer prompt has the same pages, and another argument has others.
    EXPECT_EQ(run("sums", {rows(9, 7, 4, 2), bias}, chips), "");
    EXPECT_EQ(std::pair(found_, computed_), std::pair(uint64_t(6), uint64_t(3))) << chips;
    EXPECT_EQ(run("sums", {rows(6, 7, 4, 1), numbers({7}, 3, ElemKind::I32)}, chips), "");
    EXPECT_EQ(std::pair(found_, computed_), std::pair(uint64_t(0), uint64_t(6))) << chips;
    std::filesystem::remove_all(folder_ + "/kv");
  }
}

/// Of the rounds of one run later ones find what earlier ones kept in memory.
TEST_F(Pools, RequestsShareTheirBeginnings) {
  constexpr int64_t kRequests = 5, kPages = 4, kWidth = 3;
  RefArray rows = reference::zeroArray(ElemKind::I32, {kRequests, kPages, kWidth});
  for (int64_t i = 0; i < rows.count(); ++i) {
    int64_t page = i / kWidth % kPages, request = i / kWidth / kPages;
    rows.set(i, Scalar::integer(page < 3 ? page : request % 2 + 5));
  }
  for (uint32_t chips : {1u, 2u, 4u}) {
    EXPECT_EQ(run("requests", {Value::array(rows), numbers({3}, 1, ElemKind::I32)}, chips, false,
                  chips == 2),
              "");
    // All begin with three pages that are the same, and end with one of two.
    EXPECT_EQ(computed_, 5u) << chips;
    EXPECT_EQ(found_, 15u) << chips;
  }
}

TEST_F(Pools, CountersThatPagesDependOnAreInTheirKeys) {
  for (uint32_t chips : {1u, 3u}) {
    EXPECT_EQ(run("numbered", {rows(4, 2, 4, 0), Value::integer(2), Value::integer(3)}, chips), "");
    EXPECT_EQ(computed_, 12u);
    EXPECT_EQ(run("numbered", {rows(4, 2, 4, 0), Value::integer(2), Value::integer(4)}, chips), "");
    EXPECT_EQ(computed_, 4u);
    std::filesystem::remove_all(folder_ + "/kv");
  }
}

/// What an outer loop carries is another one in each round.
TEST_F(Pools, WeightsThatChangeMakeOtherPages) {
  for (uint32_t chips : {1u, 2u, 4u}) {
    Value w = numbers({5}, 2, ElemKind::I32);
    EXPECT_EQ(run("rounds", {rows(4, 5, 4, 0), w, Value::integer(3)}, chips), "");
    EXPECT_EQ(computed_, 12u);
    EXPECT_EQ(run("rounds", {rows(4, 5, 4, 0), w, Value::integer(5)}, chips, true, true), "");
    EXPECT_EQ(std::pair(found_, computed_), std::pair(uint64_t(12), uint64_t(8)));
    std::filesystem::remove_all(folder_ + "/kv");
  }
}

TEST_F(Pools, PagesOfTwoPools) {
  for (uint32_t chips : {1u, 2u, 5u})
    for (bool checks : {false, true}) {
      EXPECT_EQ(run("two", {numbers({4, 5}, 1), numbers({5, 6}, 2)}, chips, false, checks), "");
      EXPECT_EQ(computed_, 8u);
    }
}

/// What is refused, each by one sentence of E1011.
TEST(PoolRules, AreSaid) {
  auto errors = [](const std::string &body, const std::string &more = "") {
    CheckedText checked("program p[P, N](rows: f32[P, N], cut: f32[P, N] over chip by P, m: int) "
                        "-> (y: f32[N]) at host {\n" +
                        more +
                        "    let kv = pool(f32[N], memory: 1KiB)\n    var s = zeros(f32[N])\n" +
                        body + "    y = s\n}\n");
    return checked.errors();
  };
  auto loop = [](const std::string &statement, const std::string &head = "for p in 0..P") {
    return "    " + head + " {\n        " + statement + "\n    }\n";
  };
  const std::string use = "s = if p < find(kv, rows) { kv[p] } else { keep(kv, rows[p, :]) }";
  const std::string adds = "s = if p < find(kv, rows) { kv[p] } else { keep(kv, s + rows[p, :]) }";
  for (const std::string &each : {use, adds})
    EXPECT_EQ(errors(loop(each)).find("E1"), std::string::npos) << errors(loop(each));
  // Each round of the outer loop, and each loop, has the same pages.
  for (const std::string &each : {loop(use) + loop(use), loop(loop(use), "for q in 0..2")})
    EXPECT_EQ(errors(each).find("E1"), std::string::npos) << errors(each);
  std::vector<std::pair<std::string, std::string>> wrong = {
      {loop("s = if p < find(kv, rows) { kv[p] } else { keep(kv, sum(rows, axis: 0)[0, :]) }"),
       "depends on all rows of `find`"},
      {loop(adds) + loop(adds), "depends on all rows of `find`"},
      {loop(loop(adds), "for q in 0..2"), "an earlier run of the loop over the pages"},
      {loop(use, "for p in 1..P"), "`for p in 0..P`"},
      {loop("s = if p < find(kv, rows) { kv[p] } else { keep(kv, rows[0, :]) }"),
       "depends on all rows of `find`"},
      {loop("s = if p < find(kv, rows) { kv[p] } else { rows[p, :] }"),
       "end with `keep(kv, page)`"},
      {loop("s = if p < find(kv, rows) { rows[p, :] } else { keep(kv, rows[p, :]) }"),
       "must only take it"},
      {loop("s = if p + 1 < find(kv, rows) { kv[p] } else { keep(kv, rows[p, :]) }"),
       "must only take it"},
      {loop("s = s + f32(find(kv, rows))"), "not in an `if` that takes one page"},
      {loop("s = keep(kv, rows[p, :])"), "not in an `if` that takes one page"},
      {loop("s = if m < find(kv, rows) { kv[m] } else { keep(kv, rows[p, :]) }"),
       "`for p in 0..P`"},
      {"    s = s + kv\n", "its value is not known to all parts"},
      {"    var t = 0\n    while t < 3 {\n        t = t + 1\n        let start = s\n        for p "
       "in 0..P { s = if p < "
       "find(kv, rows) { kv[p] } else { keep(kv, rows[p, :] + f32(t)) } }\n        s = s + start\n "
       "   }\n",
       "a variable of a `while` around it"},
      {"    for t in 0..3 checkpoint \"run\" every 1 {\n        var a = s\n        for p in 0..P { "
       "a = if p < "
       "find(kv, rows) { kv[p] } else { keep(kv, rows[p, :] + s) } }\n        s = s + 1.0\n        "
       "s = s + a * 0.0\n    }\n",
       "a variable of a loop with checkpoints"},
  };
  for (const auto &[body, why] : wrong)
    EXPECT_NE(errors(body).find(why), std::string::npos) << body << errors(body);
  EXPECT_NE(errors(loop("s = if p < find(kv, cut) { kv[p] } else { keep(kv, rows[p, :]) }"))
                .find("E1005"),
            std::string::npos);
}

} // namespace
} // namespace ptl::parts
