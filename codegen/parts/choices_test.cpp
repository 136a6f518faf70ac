// Programs on parts with `if`s, beside the reference and in time.
#include "codegen/parts/round_plan.h"
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

Value integer(int64_t value) { return Value::integer(value); }

TEST(Choices, AgreeWithTheReference) {
  CheckedText checked(projectText("codegen/parts/testdata/choices.ptl"));
  ASSERT_TRUE(checked.ok()) << checked.errors();
  auto ints = [](std::vector<int64_t> shape, int64_t salt) {
    return numbers(std::move(shape), salt, ElemKind::I32);
  };
  auto truth = [](bool holds) { return Value::boolean(holds); };
  for (uint32_t parts : {1u, 2u, 3u, 5u})
    for (int64_t mode : {0, 1, 2, 3, 6})
      for (uint64_t seed : {1u, 7u}) {
        std::vector<std::pair<std::string, std::vector<Value>>> calls = {
            {"by_size", {ints({mode + 1, 2}, 1)}},
            {"by_parameter", {ints({7, 3}, 1), ints({3, 3}, 2), integer(mode)}},
            {"both_results", {ints({7, 2}, 1), integer(mode)}},
            {"by_round", {ints({7, 2}, 1), integer(mode)}},
            {"until_small",
             {numbers({7, 2}, 1), Value::scalar(ElemKind::F32, Scalar::real(1)), integer(mode)}},
            {"cut_by_one_arm", {ints({7, 2}, 1), ints({7, 2}, 2), integer(mode)}},
            {"owed_by_both", {ints({7, 2}, 1), integer(mode)}},
            {"on_one", {ints({7}, 1), integer(mode)}},
            {"in_functions", {ints({3, mode + 1}, 1), integer(mode)}},
            {"nested", {ints({7, 2}, 1), integer(mode)}},
            {"swapped", {ints({7, 2}, 1), ints({7, 2}, 2), integer(mode)}},
            {"while_large", {numbers({7, 2}, 1), Value::scalar(ElemKind::F32, Scalar::real(0.3))}},
            {"while_counted", {ints({7}, 1), ints({7}, 2), integer(mode)}},
            {"left", {ints({7, 2}, 1), integer(mode)}},
            {"left_inside", {ints({7, 2}, 1), integer(mode)}},
            {"left_by_data", {ints({7, 2}, 1), integer(mode * 5)}},
            {"passed_over", {ints({7, 2}, 1), integer(mode)}},
            {"returned", {ints({7, 2}, 1), integer(mode)}},
            {"on_one_later", {ints({4, 3}, 1), ints({3}, 2)}},
            {"by_flag", {ints({mode, 2}, 1), ints({2}, 2 + mode), truth(mode % 2 == 1)}},
        };
        for (const auto &[name, args] : calls)
          EXPECT_EQ(compareOnParts(checked, *checked.find(name), args, parts, seed), "")
              << name << " on " << parts << " chips, " << mode << ", seed " << seed;
      }
}

/// Only the arm that is taken is computed: the other one would take a position that there is not.
TEST(Choices, WhatIsNotTakenIsNotComputed) {
  CheckedText checked(R"(
program p[B, D](x: i32[B, D] over chip by D, w: i32[B], at: int) -> (y: i32[D] over chip by D) at host {
    var row = zeros(i32[D])
    for i in 0..3 {
        if i < B and w[i] > -9 {
            row = row + x[i, :]
        }
    }
    y = row
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (int64_t rows : {0, 1, 2, 3, 4})
    EXPECT_EQ(compareOnParts(checked, *checked.find("p"),
                             {numbers({rows, 5}, 1, ElemKind::I32),
                              numbers({rows}, 2, ElemKind::I32), integer(0)},
                             3, 1),
              "")
        << rows;
}

std::string errorsOf(const std::string &body) {
  return CheckedText("program p[B, D](x: i32[B, D] over chip by B, z: i32[B, D], there: i32[D] at "
                     "chip 0, n: int) -> "
                     "(y: i32[1, D]) at host\nwhere B > 1, D > 1\n{\n    var total = zeros(i32[1, "
                     "D])\n    var rows = "
                     "x\n" +
                     body + "    y = total\n}\n")
      .errors();
}

TEST(Choices, WhatIsRefusedSaysWhy) {
  auto expect = [](const std::string &body, const std::string &why) {
    std::string errors = errorsOf(body);
    EXPECT_NE(errors.find(why), errors.npos) << body << errors;
  };
  EXPECT_EQ(
      errorsOf("    if n > 2 { total = all_reduce(sum(x, axis: 0), over: chip) }\n").find("E1"),
      std::string::npos);
  expect("    if there[0] > 1 { total = total + 1 }\n",
         "E1005 this `if` cannot be executed on parts: its condition is on chip 0 only");
  expect("    if sum(x, axis: [0, 1])[0, 0] > 1 { total = total + 1 }\n", "E1001");
  expect(
      "    if n > 2 { total = sum(x, axis: 0) }\n",
      "E1010 `total` is a partial sum over the chips at the end of one arm of this `if`, but the "
      "same on all chips at the end of the other");
  expect("    if n > 2 { rows = rows + 1 } else { rows = all_to_all(rows, over: chip, by: D) }\n",
         "E1010 `rows` is cut along `B` over the chips at the end of one arm");
  expect("    let t = if n > 2 { sum(x, axis: 0) } else { sum(z, axis: 0) }\n"
         "    total = total + all_reduce(t, over: chip)\n",
         "E1010 the value is a partial sum");
  expect("    let t = if n > 2 { rows = x + 1\n total } else { total + 1 }\n    total = t\n",
         "an `if` with a value must not assign variables declared outside of its arms");
  expect("    for i in 0..n { if i > 2 { total = sum(x, axis: 0) } }\n", "E1010");
}

TEST(Choices, NumbersOfDataAreNoSizes) {
  auto expect = [](const std::string &body, const std::string &why) {
    std::string errors = errorsOf("    var k = n\n    while k > 9 { k = k / 2 }\n    let half = k "
                                  "/ 2\n    let m = if n > 2 { 3 } else { 5 }\n" +
                                  body);
    EXPECT_NE(errors.find(why), errors.npos) << body << errors;
  };
  expect("    total = total + i32(half) + i32(m)\n", "W1201");
  expect(
      "    for i in 0..half { total = total + i32(i) }\n",
      "E1005 this loop cannot be executed on parts: the number of its iterations depends on data");
  expect("    total = total + sum(zeros(i32[m]), axis: 0)\n",
         "cannot be executed on parts: a length of its result depends on data");
}

TEST(Choices, LoopsGoOnAlikeOnAllParts) {
  auto expect = [](const std::string &body, const std::string &why) {
    std::string errors = errorsOf(body);
    EXPECT_NE(errors.find(why), errors.npos) << body << errors;
  };
  expect("    while there[0] > 1 { total = total + 1 }\n",
         "E1005 this `while` cannot be executed on parts: its condition is on chip 0 only");
  expect("    while total[0, 0] > 1 { total = sum(x, axis: 0) }\n", "E1009 `total` is the same");
  std::string left = errorsOf(
      "    for i in 0..n checkpoint \"run\" every 2 { if i > 2 { break }\n total = total + 1 }\n");
  EXPECT_EQ(left.find("E1"), left.npos) << left;
}

/// What a loop returns and what the rest of the `fn` gives must lie in one way.
TEST(Choices, ReturnsFromLoopsLieInOneWay) {
  auto errors = [](const std::string &there) {
    return CheckedText("fn f[B](x: i32[B], z: i32[B], n: int) -> i32[B] { for i in 0..n { if i > 2 "
                       "{ return "
                       "x + 1 } }\n return z }\nprogram p[B](x: i32[B] at chip 0, z: i32[B]" +
                       there +
                       ", n: int) -> (y: i32[B] at chip 0) at host {\n    y = f(x, z, n)\n}\n")
        .errors();
  };
  EXPECT_EQ(errors(""), "");
  EXPECT_NE(errors(" at chip 1").find("E1010 what `f` gives"), std::string::npos)
      << errors(" at chip 1");
}

/// Where sizes and counters say when a loop is left, its rounds are known.
TEST(Choices, LoopsThatAreLeftInTime) {
  auto text = [](const std::string &leave, const std::string &rounds) {
    return "program p[B, D](x: f32[B, D] over chip by B, n: int, limit: f32) -> (y: f32[1, D]) at "
           "host\nwhere B > 0, D > 0\n{\n    var v = zeros(f32[1, D])\n    let _l = limit\n    for "
           "i in 0.." +
           rounds + " {\n        v = v + all_reduce(sum(x, axis: 0), over: chip)\n        " +
           leave + "\n    }\n    y = v\n}\n";
  };
  auto seconds = [](auto &) { return us; };
  std::map<std::string, int64_t> sizes = {{"n", 9}};
  Timed left(text("if i == 3 { break }", "n"), "p", {{"chip", 4}}, {sizes, seconds});
  Timed four(text("", "4"), "p", {{"chip", 4}}, {sizes, seconds});
  EXPECT_DOUBLE_EQ(left.seconds(), four.seconds());
  Timed data(text("if max(v, axis: [0, 1])[0, 0] > limit { break }", "n"), "p", {{"chip", 4}},
             {sizes, seconds});
  EXPECT_NE(data.why.find("data decide when the loop over `i` is left"), std::string::npos)
      << data.why;
}

/// What does nothing leaves nothing behind that other loops and choices would be taken for.
TEST(Choices, ThoseThatDecideNothingAreForgotten) {
  CheckedText checked(R"(
program p[B, D](x: i32[B, D] over chip by B, n: int) -> (y: i32[B, D] over chip by B) at host {
    for i in 0..n {
        var lost = x
        for _j in 0..i { lost = lost + 1 }
        if i > 1 { lost = lost * 2 }
    }
    if n > 1 {
        var lost = x
        for _j in 0..n { lost = lost + 1 }
        if n > 2 { lost = lost * 2 }
    }
    var rows = x + 1
    rows = rows * 2
    rows = rows - x
    for i in 0..n { rows = rows + i32(i) }
    if n > 1 { rows = rows * 3 }
    y = rows
}
)");
  ASSERT_TRUE(checked.ok()) << checked.errors();
  for (int64_t n : {0, 1, 2, 3})
    EXPECT_EQ(compareOnParts(checked, *checked.find("p"),
                             {numbers({5, 2}, 1, ElemKind::I32), integer(n)}, 3, 1),
              "");
}

// ---- Time ----------------------------------------------------------------------------------------

constexpr const char *kByMode = R"(
program p[B, D](x: f32[B, D] over chip by B, mode: int) -> (y: f32[1, D]) at host {
    var t = sum(exp(x), axis: 0)
    if mode > 3 { t = all_reduce(t, over: chip) + 1.0 } else { t = all_reduce(t * 2.0, over: chip) * 3.0 }
    y = t * 4.0
}
)";
constexpr const char *kThen = R"(
program p[B, D](x: f32[B, D] over chip by B, mode: int) -> (y: f32[1, D]) at host {
    let t = sum(exp(x), axis: 0)
    let u = all_reduce(t, over: chip) + 1.0
    y = u * 4.0
}
)";

TEST(ChoiceTimes, AreThoseOfTheArmThatIsTaken) {
  // Each operation takes 10 us, so that what is computed shows.
  auto seconds = [](const std::string &source) {
    return 10 * us * static_cast<double>(std::ranges::count(source, '\n'));
  };
  auto on = [&](const char *text, int64_t mode) {
    return Timed(text, "p", {{"chip", 4}}, {{{"mode", mode}}, seconds});
  };
  Timed then = on(kByMode, 4), other = on(kByMode, 3), alone = on(kThen, 4);
  ASSERT_TRUE(then.time && other.time && alone.time) << then.why;
  EXPECT_EQ(then.time->moves.size(), 1u);
  EXPECT_EQ(then.time->messages, alone.time->messages);
  EXPECT_EQ(then.placed->values[then.time->moves[0].value].level, 0u);
  EXPECT_NE(then.time->moves[0].value, other.time->moves[0].value);
  EXPECT_GT(other.seconds(), then.seconds());
  for (const std::string &source : then.sources)
    EXPECT_EQ(source.find("3.0"), source.npos) << source;
  // The condition is no work: a stretch in front of the choice, one in the arm, one behind it.
  EXPECT_EQ(then.time->stretches.size(), 3u);
}

TEST(ChoiceTimes, CountRoundsThatTakeAnArm) {
  std::string text = R"(
program p[B, D](x: f32[B, D] over chip by B, n: int) -> (y: f32[1, D]) at host {
    var t = zeros(f32[1, D])
    for i in 0..n {
        if i % 4 == 1 { t = t + all_reduce(sum(x * f32(i), axis: 0), over: chip) }
    }
    y = t
}
)";
  for (int64_t n : {1, 2, 5, 6, 40}) {
    Timed timed(text, "p", {{"chip", 4}}, {{{"n", n}}});
    ASSERT_TRUE(timed.time) << timed.why;
    int64_t times = timed.time->moves.empty() ? 0 : timed.time->moves[0].times;
    EXPECT_EQ(times, (n + 2) / 4) << n;
    EXPECT_TRUE(choosesByRound(*timed.placed, timed.placed->loops[0]));
  }
  Timed many(text, "p", {{"chip", 4}}, {{{"n", 10'000'000}}});
  EXPECT_FALSE(many.time);
  EXPECT_NE(many.why.find("10000000 rounds are too many"), many.why.npos) << many.why;
}

/// A loop whose arm is the same in each round has rounds that stand for others.
TEST(ChoiceTimes, RoundsOfOneArmAreAlike) {
  std::string text = R"(
program p[B, D](x: f32[B, D] over chip by B, n: int, mode: int) -> (y: f32[1, D]) at host {
    var t = zeros(f32[1, D])
    for i in 0..n {
        if mode == 1 and B > 3 { t = t + all_reduce(sum(x * f32(i), axis: 0), over: chip) } else { t = t * 2.0 }
    }
    y = t
}
)";
  Timed few(text, "p", {{"chip", 4}}, {{{"n", 100}, {"mode", 1}}, [](auto &) { return us; }, 0});
  Timed all(text, "p", {{"chip", 4}}, {{{"n", 100}, {"mode", 1}}, [](auto &) { return us; }});
  ASSERT_TRUE(few.time && all.time) << few.why;
  EXPECT_LT(few.time->loops[0].simulated, 20);
  EXPECT_EQ(all.time->loops[0].simulated, 100);
  EXPECT_NEAR(few.seconds(), all.seconds(), 0.01 * all.seconds());
  EXPECT_EQ(few.time->moves[0].times, 100);
}

TEST(ChoiceTimes, DataHaveNoTime) {
  Timed goesOn(projectText("codegen/parts/testdata/choices.ptl"), "while_large", {{"chip", 4}});
  EXPECT_FALSE(goesOn.time);
  EXPECT_EQ(goesOn.why, "a `while` that changes `rows` goes round as often as data say; "
                        "`--rounds N` gives a number");
  Timed timed(projectText("codegen/parts/testdata/choices.ptl"), "until_small", {{"chip", 4}});
  EXPECT_FALSE(timed.time);
  EXPECT_EQ(timed.why,
            "both arms of the `if` that decides `rows` are possible, since its condition "
            "is no matter of sizes");
}

} // namespace
} // namespace ptl::parts
