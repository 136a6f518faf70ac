// Pools whose memory is that of all parts of a level: what they find follows from one list for all of them, on ranks as in one process, and
// pages come and go by movements that have their time.
#include "codegen/parts/mailboxes_test_util.h"
#include "codegen/parts/pools_test_util.h"
#include "codegen/parts/time_parts_test_util.h"
#include "runtime/pool/pool_test_util.h"

namespace ptl::parts {
namespace {

/// Requests that begin alike, of which several pages have their first rows in common.
Value requestsOf(int64_t requests, int64_t pages, int64_t width, uint64_t seed) {
  std::mt19937_64 dice(seed);
  RefArray rows = reference::zeroArray(ElemKind::I32, {requests, pages, width});
  for (int64_t r = 0; r < requests; ++r) {
    int64_t kind = static_cast<int64_t>(dice() % 4), same = static_cast<int64_t>(dice() % 3);
    for (int64_t p = 0; p < pages; ++p)
      for (int64_t i = 0; i < width; ++i)
        rows.set((r * pages + p) * width + i,
                 Scalar::integer(p <= same ? kind + p : static_cast<int64_t>(dice() % 2) + p));
  }
  return Value::array(std::move(rows));
}

struct Counts {
  uint64_t found = 0, inMemory = 0, computed = 0;
  bool operator==(const Counts &) const = default;
};

/// What one list of the last used finds of requests, with room for so many pages.
Counts countsOf(const Value &requests, size_t room) {
  std::span<const int64_t> shape = requests.shape();
  pool::Model list(room);
  Counts counts;
  for (int64_t r = 0; r < shape[0]; ++r) {
    pool::Key key = pool::kNoKey;
    for (int64_t p = 0; p < shape[1]; ++p) {
      pool::KeyMaker maker;
      maker.add(key);
      for (int64_t i = 0; i < shape[2]; ++i)
        maker.add(
            static_cast<uint64_t>(requests.asArray().at((r * shape[1] + p) * shape[2] + i).i));
      pool::Key parent = std::exchange(key, maker.key());
      bool isThere = list.has(key);
      ++(isThere ? counts.found : counts.computed);
      counts.inMemory += isThere;
      list.put(key, parent);
    }
  }
  return counts;
}

class SpreadPools : public ProgramsWithPools {
protected:
  /// A run in one process, or on ranks, compared with the reference; what it found is in `counts_`.
  std::string run(const std::string &name, const std::vector<Value> &args,
                  const MachineShape &shape, bool onRanks, bool checks = false) {
    const CallableDecl &decl = *checked_.find(name);
    auto placed = checked_.placed(decl);
    if (!placed)
      return "not placed";
    counts_ = {};
    PartsOptions options;
    options.shape = shape;
    options.pools.folder = folder_;
    options.pools.checks = checks;
    options.pools.executor = "test";
    bool isTold = false;
    options.pools.report = [&](const PoolReport &report) {
      Counts counts{report.found, report.inMemory, report.computed};
      if (isTold && counts != counts_)
        ADD_FAILURE() << "ranks have found other pages";
      counts_ = counts;
      isTold = true;
    };
    RunResult result;
    if (onRanks) {
      uint32_t ranks = 1;
      for (const auto &[level, count] : shape)
        ranks *= count;
      std::vector<RunResult> results = Mailboxes(ranks).run(checked_, *placed, args, options);
      for (RunResult &each : results)
        if (!each.ok())
          return each.message;
      result = std::move(results[0]);
    } else {
      result = runOnParts(*checked_.program, checked_.sources, *placed, args, options);
    }
    RunResult expected = reference::runEntry(*checked_.program, checked_.sources, decl, args);
    if (!result.ok() || !expected.ok())
      return result.message + expected.message;
    return difference(result.outputs[0], expected.outputs[0]);
  }

  Counts counts_;
};

/// Pages of two numbers: each chip has room for five of them, and all together find what one list for all finds.
TEST_F(SpreadPools, FindWhatOneListOfAllPartsHas) {
  uint64_t before = 0;
  for (uint32_t chips : {1u, 2u, 3u, 5u}) {
    Value requests = requestsOf(30, 4, 2, 7);
    Counts wanted = countsOf(requests, size_t(5) * chips);
    for (bool onRanks : {false, true}) {
      EXPECT_EQ(run("alike", {requests, numbers({2}, 1, ElemKind::I32)}, {{"chip", chips}}, onRanks,
                    chips == 3),
                "");
      EXPECT_EQ(counts_, wanted) << chips << " chips: " << counts_.found << " and " << wanted.found;
    }
    EXPECT_GT(wanted.found, before);
    before = wanted.found;
  }
}

/// Pages of one chip lie with any of them; those that had to leave are on its disk.
TEST_F(SpreadPools, HaveThePagesOfOnePart) {
  for (uint32_t chips : {1u, 2u, 4u})
    for (bool onRanks : {false, true}) {
      Value requests = requestsOf(20, 4, 2, chips);
      Counts wanted = countsOf(requests, 1000);
      EXPECT_EQ(run("of_one", {requests, numbers({2}, 1, ElemKind::I32)}, {{"chip", chips}},
                    onRanks, onRanks),
                "");
      EXPECT_EQ(counts_.found, wanted.found) << chips;
      EXPECT_EQ(counts_.computed, wanted.computed) << chips;
      EXPECT_GT(counts_.inMemory, 0u);
      EXPECT_LT(counts_.inMemory, counts_.found) << chips;
      // Another run finds all, first on the disk.
      EXPECT_EQ(run("of_one", {requests, numbers({2}, 1, ElemKind::I32)}, {{"chip", chips}},
                    !onRanks, true),
                "");
      EXPECT_EQ(counts_.computed, 0u);
      std::filesystem::remove_all(folder_ + "/kv");
    }
}

/// Each chip has the block of its own, in the memory of one of the hosts.
TEST_F(SpreadPools, OfHostsHaveTheBlocksOfTheirChips) {
  for (auto [hosts, chips] : {std::pair(2u, 1u), {2u, 2u}, {3u, 2u}, {2u, 4u}})
    for (bool onRanks : {false, true}) {
      Value requests = requestsOf(16, 4, 5, hosts * 10 + chips);
      std::vector<Value> args = {requests, numbers({5}, 1, ElemKind::I32),
                                 numbers({5}, 2, ElemKind::I32)};
      EXPECT_EQ(run("of_hosts", args, {{"host", hosts}, {"chip", chips}}, onRanks, chips == 2), "");
      EXPECT_EQ(counts_.found, countsOf(requests, 1000).found);
      EXPECT_GT(counts_.inMemory, 0u);
      EXPECT_EQ(run("of_hosts", args, {{"host", hosts}, {"chip", chips}}, !onRanks), "");
      EXPECT_EQ(counts_.computed, 0u);
      std::filesystem::remove_all(folder_ + "/kv");
    }
}

/// A page comes from the part that has it; behind the room of all memories pages come from the disk.
TEST(SpreadPages, TakeTheirTime) {
  auto text = [](const std::string &room) {
    return "program p[P, N](rows: f32[P, N], w: f32[N] over chip by N) -> (y: f32[N]) at host {\n"
           "    let kv = pool(f32[N], " +
           room +
           ")\n    var all = zeros(f32[N])\n"
           "    for p in 0..P { all = all * 0.5 + (if p < find(kv, rows) { kv[p] } else { "
           "keep(kv, all_gather(rows[p, :] * w, over: chip)) }) }\n    y = all\n}\n";
  };
  TimedHow how{.sizes = {{"P", 6}, {"N", 1 << 20}}, .foundPages = 6};
  Timed own(text("memory: 1GiB"), "p", {{"chip", 4}}, how);
  Timed spread(text("memory: 1GiB, over: chip"), "p", {{"chip", 4}}, how);
  ASSERT_TRUE(own.time && spread.time) << spread.why;
  EXPECT_EQ(own.time->moves.size(), 0u);
  ASSERT_EQ(spread.time->moves.size(), 1u);
  const MoveTime &move = spread.time->moves[0];
  EXPECT_EQ(move.times, 6);
  EXPECT_EQ(spread.placed->values[move.value].movement->id, MovementId::Broadcast);
  constexpr double kBytes = 4 << 20;
  EXPECT_GT(move.alone, kBytes / 100e9);
  EXPECT_GT(spread.seconds(), own.seconds() + 3 * kBytes / 100e9);
  EXPECT_GE(spread.time->messages, 6 * 3);
  // Room for one page with each chip: the first four are in memory, two on the disk.
  for (auto &level : how.fabric.levels)
    level.diskRate = level.name == "chip" ? 1e9 : 0;
  Timed both(text("memory: 4MiB, over: chip, disk: 1GiB"), "p", {{"chip", 4}}, how);
  ASSERT_TRUE(both.time) << both.why;
  EXPECT_EQ(both.time->moves[0].times, 4);
  EXPECT_GT(both.seconds(), 2 * 4 * kBytes / 1e9);
  // Without a disk the other two are computed.
  Timed some(text("memory: 4MiB, over: chip"), "p", {{"chip", 4}}, how);
  ASSERT_TRUE(some.time) << some.why;
  ASSERT_EQ(some.time->moves.size(), 2u);
  EXPECT_EQ(some.time->moves[0].times + some.time->moves[1].times, 6);
  // What all have is kept without a movement.
  how.foundPages = 0;
  Timed none(text("memory: 1GiB, over: chip"), "p", {{"chip", 4}}, how);
  ASSERT_TRUE(none.time) << none.why;
  ASSERT_EQ(none.time->moves.size(), 1u);
  EXPECT_EQ(none.placed->values[none.time->moves[0].value].movement->id, MovementId::AllGather);
}

TEST(SpreadPages, AreRefusedWhereEachPartKeepsItsOwn) {
  auto errors = [](const std::string &pool, const std::string &level = "chip") {
    return CheckedText("program p[P, N](rows: i32[P, N], w: i32[N] over " + level +
                       " by N) -> (y: i32[N]) at host {\n    let kv = pool(" + pool +
                       ")\n    var s = zeros(i32[N])\n    for p in 0..P {\n        let page = if p "
                       "< find(kv, rows) { kv[p] } else { keep(kv, rows[p, :] * w) }\n        s = "
                       "s + all_gather(page, over: " +
                       level + ")\n    }\n    y = s\n}\n")
        .errors();
  };
  EXPECT_EQ(errors("i32[N], memory: 1KiB"), "");
  EXPECT_NE(errors("i32[N], memory: 1KiB, over: chip").find("E1011"), std::string::npos);
  EXPECT_NE(errors("i32[N], memory: 1KiB, over: chip").find("cut over `chip`"), std::string::npos);
  EXPECT_NE(errors("i32[N], memory: 1KiB, over: host").find("lie over `chip`, not over `host`"),
            std::string::npos);
  EXPECT_NE(errors("i32[N], disk: 1KiB, over: chip").find("the pool has no `memory`"),
            std::string::npos);
  EXPECT_NE(errors("i32[N], memory: 1KiB, over: 2").find("the name of one level"),
            std::string::npos);
  EXPECT_NE(errors("i32[N], memory: 1KiB, over: planet").find("E0"), std::string::npos)
      << errors("i32[N], memory: 1KiB, over: planet");
}

} // namespace
} // namespace ptl::parts
