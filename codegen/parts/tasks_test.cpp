// Tasks that one part does, whichever has its turn: beside the reference, on ranks, and in time.
#include "codegen/parts/mailboxes_test_util.h"
#include "codegen/parts/settle.h"
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

Value wholes(std::vector<int64_t> shape, int64_t salt) {
  return numbers(std::move(shape), salt, ElemKind::I32);
}

/// In one process and on ranks.
void expectTasks(const CheckedText &checked, const std::string &name,
                 const std::vector<Value> &args, const MachineShape &shape) {
  const CallableDecl &decl = *checked.find(name);
  EXPECT_EQ(compareOnShape(checked, decl, args, shape, 3), "") << name;
  auto placed = checked.placed(decl);
  ASSERT_TRUE(placed) << name;
  uint32_t ranks = 1;
  for (const auto &[level, count] : shape)
    ranks *= count;
  Mailboxes mail(ranks);
  std::vector<RunResult> results = mail.run(checked, *placed, args, shape);
  RunResult expected = reference::runEntry(*checked.program, checked.sources, decl, args);
  for (const RunResult &result : results)
    ASSERT_TRUE(result.ok()) << name << ": " << result.message;
  EXPECT_EQ(difference(results[0].outputs[0], expected.outputs[0]), "") << name;
  EXPECT_TRUE(mail.isEmpty()) << name;
}

TEST(Tasks, AgreeWithTheReference) {
  CheckedText checked(projectText("codegen/parts/testdata/tasks.ptl"));
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (uint32_t chips : {1u, 2u, 3u, 5u})
    for (int64_t n : {2, 5, 8}) {
      MachineShape shape = {{"chip", chips}};
      expectTasks(checked, "collected", {wholes({n, 3, 4}, 1), wholes({4, 4}, 2)}, shape);
      expectTasks(checked, "everywhere",
                  {wholes({n, 4}, 1), wholes({4}, 2), wholes({4}, 3), Value::integer(n / 3)},
                  shape);
      expectTasks(checked, "nested", {wholes({3, n, 4}, 1), wholes({4}, 2)}, shape);
    }
  for (auto [hosts, chips] : {std::pair(1u, 2u), {2u, 1u}, {2u, 3u}, {3u, 2u}})
    expectTasks(checked, "of_hosts", {wholes({5, 7}, 1), wholes({7}, 2), wholes({7}, 3)},
                {{"host", hosts}, {"chip", chips}});
}

/// Each part is asked for its share of the tasks, round by round.
TEST(Tasks, GoRoundTheParts) {
  CheckedText checked(projectText("codegen/parts/testdata/tasks.ptl"));
  auto placed = checked.placed(*checked.find("everywhere"));
  ASSERT_TRUE(placed);
  Grid grid(placed->levels, {3});
  std::vector<std::vector<uint32_t>> parts;
  for (int64_t round = 0; round < 4; ++round) {
    std::vector<uint32_t> &of = parts.emplace_back();
    settle(*placed, 0, static_cast<ValueId>(placed->values.size()), grid, [&](SymbolId symbol) {
      return std::optional<int64_t>(symbol == placed->loops[0].variable ? 2 + 3 * round : 2);
    });
    for (const PlacedValue &value : placed->values)
      if (const LevelPlacement &at = value.placement[0];
          at.stage && (of.empty() || of.back() != at.part))
        of.push_back(at.part);
  }
  // Two in front of the loop, then two in each round.
  EXPECT_EQ(parts[0], (std::vector<uint32_t>{0, 1, 2, 0}));
  EXPECT_EQ(parts[1], (std::vector<uint32_t>{0, 1, 0, 1}));
  EXPECT_EQ(parts[2],
            (std::vector<uint32_t>{
                0, 1, 2})); // the second one in front of the loop, and the first one in it
}

/// Twelve tasks of 10 us: as many at the same time as there are parts.
TEST(Tasks, TakeTheTimeOfTheirParts) {
  const std::string text = "fn f[B, D](x: f32[B, D], w: f32[D, D]) -> f32[B, D] { return x @ w }\n"
                           "program p[N, B, D](x: f32[N, B, D], w: f32[D, D]) -> (y: f32[B, D] at "
                           "chip 0) at host {\n    var sums = zeros(f32[B, D])\n    for n in 0..N "
                           "{ sums += send(submit(f(x[n, :, :], w), over: chip), over: chip, to: "
                           "0) }\n    y = sums\n}\n";
  TimedHow how{.sizes = {{"N", 12}}};
  how.seconds = [](const std::string &source) {
    return source.find('@') == std::string::npos ? 0.1 * us : 10 * us;
  };
  for (uint32_t chips : {1u, 2u, 3u, 4u}) {
    Timed timed(text, "p", {{"chip", chips}}, how);
    ASSERT_TRUE(timed.time) << timed.why;
    double least = 12 / chips * 10 * us;
    EXPECT_GE(timed.seconds(), least) << chips;
    // The chip that takes the results is in two rounds at most, so its own tasks wait for those of others.
    EXPECT_LT(timed.seconds(), least + 15 * us) << chips;
  }
}

TEST(Tasks, AreRefusedWhereTheyCannotBe) {
  auto errors = [](const std::string &body, const std::string &result = "y: f32[D] at chip 0") {
    return CheckedText("fn f[D](x: f32[D]) -> f32[D] { return x * 2.0 }\n"
                       "program p[N, D](x: f32[N, D], a: f32[D] over chip by D, limit: f32) -> (" +
                       result + ") at host\nwhere N > 1\n{\n" + body + "\n}\n")
        .errors();
  };
  const std::string one = "submit(f(x[0, :]), over: chip)";
  EXPECT_EQ(errors("    y = send(" + one + ", over: chip, to: 0)").find("E1"), std::string::npos);
  std::vector<std::pair<std::string, std::string>> wrong = {
      {"    y = " + one, "E1003"},
      {"    y = send(submit(f(a), over: chip), over: chip, to: 0)", "E1013"},
      {"    y = send(submit(x[0, :], over: chip), over: chip, to: 0)",
       "its first argument must be a call of a `fn`"},
      {"    y = send(submit(f(x[0, :])), over: chip, to: 0)", "it needs the level"},
      {"    y = send(submit(over: chip), over: chip, to: 0)",
       "it needs the call that is to be computed"},
      {"    y = send(submit(f(x[0, :]), over: host), over: chip, to: 0)", "lie over no `host`"},
      {"    y = send(submit(f(x[0, :]), over: chip, to: 1), over: chip, to: 0)",
       "is not one of its arguments"},
      {"    y = send(submit(f(broadcast(x[0, :], over: chip)), over: chip), over: chip, to: 0)",
       "a task runs on a single chip"},
      {"    y = send(submit(f(" + one + "), over: chip), over: chip, to: 0)",
       "inside another task"},
      {"    var s = x[0, :]\n    for n in 0..N { s = submit(f(x[n, :]), over: chip) }\n    y = "
       "send(s, over: chip, to: 0)",
       "E1009"},
      {"    let s = " + one +
           "\n    let t = submit(f(x[1, :]), over: chip)\n    y = send(s + t, "
           "over: chip, to: 0)",
       "E1002"},
      {"    var s = x[0, :]\n    while max(s, axis: 0)[0] > limit { s = s - broadcast(" + one +
           ", over: chip) }\n    y = s",
       "which a `while` does not have"},
      {"    on chip 0 { y = " + one + " }", "it is in a section"},
  };
  for (const auto &[body, why] : wrong)
    EXPECT_NE(errors(body).find(why), std::string::npos) << body << "\n" << errors(body);
}

} // namespace
} // namespace ptl::parts
