// Placed programs in time: what parts compute between movements, and what overlaps.
#include "codegen/parts/time_parts_test_util.h"

namespace ptl::parts {
namespace {

TEST(TimeParts, WhatOneChipComputesIsAProgram) {
  Timed timed(
      R"(program p[B, D, F](x: f32[B, D], up: f32[D, F] over chip by F, down: f32[F, D] over chip by F)
      -> (y: f32[B, D]) at host {
    let hidden = max(x @ up, 0.0)
    y = all_reduce(hidden @ down, over: chip) * 2.0
})",
      "p", {{"chip", 4}});
  ASSERT_EQ(timed.sources.size(), 2u);
  EXPECT_NE(timed.sources[0].find(": f32[64, 16], "), std::string::npos) << timed.sources[0];
  EXPECT_NE(timed.sources[0].find(" @ "), std::string::npos) << timed.sources[0];
  EXPECT_NE(timed.sources[1].find(" * f32(2.0)"), std::string::npos) << timed.sources[1];
  for (const std::string &source : timed.sources)
    EXPECT_TRUE(CheckedText(source).ok()) << source << CheckedText(source).errors();
  const PartsTime &time = *timed.time;
  ASSERT_EQ(time.moves.size(), 1u);
  EXPECT_NEAR(time.seconds, 20 * us + time.moves[0].alone, 1e-9);
  EXPECT_NEAR(time.computing, 20 * us, 1e-12);
  EXPECT_NEAR(time.moves[0].adds, time.moves[0].alone, 1e-9);
  EXPECT_EQ(time.moves[0].sentBytes, 2 * 3 * 64 * 16 * 4);
}

/// A movement and what does not wait for it go on beside each other.
TEST(TimeParts, WhatDoesNotWaitOverlaps) {
  Timed timed(R"(program p[B, D, E](x: f32[B, D] over chip by B, w: f32[D, E] over chip by D)
      -> (y: f32[B, D] over chip by B, z: f32[D, E]) at host {
    y = exp(x)
    z = exp(all_gather(w, over: chip))
})",
              "p", {{"chip", 4}});
  const PartsTime &time = *timed.time;
  EXPECT_LT(time.moves[0].alone, 10 * us);
  EXPECT_NEAR(time.seconds, 20 * us, 1e-12);
  EXPECT_NEAR(time.moves[0].adds, 0, 1e-12);
}

/// A shift takes as long as its distance, also where that is no dimension; if data give it, each part sends its block.
TEST(TimeParts, ShiftsAreByNumbers) {
  auto timed = [](const std::string &statements) {
    Timed timed("program p[B](x: f32[B] over chip by B, i: i32[3]) -> (y: f32[B] over chip by B) "
                "at host {\n"
                "    var s = x\n" +
                    statements + "    y = s\n}\n",
                "p", {{"chip", 4}});
    return std::pair(timed.time->moves.back().alone, timed.time->moves.back().sentBytes);
  };
  auto shifted = [](const std::string &by) {
    return "    s = s + shift(s, over: chip, by: " + by + ")\n";
  };
  EXPECT_EQ(timed("    for k in 0..3 {\n" + shifted("2**k") + "    }\n"),
            timed(shifted("1") + shifted("2") + shifted("4")));
  EXPECT_EQ(timed("    let n = int(i[1])\n" + shifted("n")), timed(shifted("B / 4")));
  EXPECT_NE(timed(shifted("1")), timed(shifted("B / 4")));
}

TEST(TimeParts, LevelsHaveTheirOwnPorts) {
  Timed timed(projectText("codegen/parts/testdata/reduce.ptl"), "two_levels",
              {{"host", 2}, {"chip", 4}});
  const PartsTime &time = *timed.time;
  ASSERT_EQ(time.moves.size(), 3u);
  EXPECT_NE(time.moves[0].limit.find("between the chips"), std::string::npos);
  EXPECT_NE(time.moves[1].limit.find("between the hosts"), std::string::npos);
  // A quarter of the array between hosts: there and back.
  EXPECT_EQ(time.moves[1].sentBytes, 64 * 64 * 4 / 4);
}

/// Everything that the examples compute is a program that the checker takes, whatever part it is of.
TEST(TimeParts, StretchesOfTheExamplesAreChecked) {
  for (const char *file : {"mlp", "attention", "moe", "transformer"}) {
    CheckedText all(projectText(std::string("examples/cluster/") + file + ".ptl"));
    ASSERT_TRUE(all.ok()) << all.errors();
    for (const CallableDecl *decl : all.program->modules[0]->callables) {
      if (decl->kind != DeclKind::Program)
        continue;
      Timed timed(projectText(std::string("examples/cluster/") + file + ".ptl"), decl->name,
                  decl->name == "training_step" && std::string_view(file) == "transformer"
                      ? MachineShape{{"host", 2}, {"chip", 3}}
                      : MachineShape{{"chip", 3}});
      EXPECT_FALSE(timed.sources.empty()) << decl->name;
      for (const std::string &source : timed.sources)
        EXPECT_TRUE(CheckedText(source).ok()) << source << CheckedText(source).errors();
    }
  }
}

/// Whatever an operation is told beside its operands stands in the text, too.
TEST(TimeParts, ArgumentsThatAreNoValuesAreKept) {
  struct {
    const char *elem, *call, *written;
  } cases[] = {
      {"i32", "i32(x, round: .down)", ", round: .down)"},
      {"i8", "i8(x, round: .even, saturate: true)", ", round: .even, saturate: true)"},
      {"bf16", "bf16(x, round: .zero)", ", round: .zero)"},
      {"bf16", "bf16(x)", "bf16(v0)"},
      {"u32", "bitcast(x, to: u32)", "bitcast(v0, to: u32)"},
      {"u8", "quantize(x, s, to: u8)", ", to: u8)"},
      {"i8", "quantize(x, s, zero: z, to: i8)", ", zero: v"},
      {"f32", "dequantize(i8(x, round: .even), s, zero: z)", ", zero: v"},
      {"f32", "x + full(f32[B, D], 2.0)", "full(f32[64, 64], f32(2.0))"},
      {"f32", "x + zeros(f32[B, D])", "zeros(f32[64, 64])"},
      {"f32", "x * sum(x, axis: 1)", "sum(v0, axis: -1)"},
      {"f32", "cumsum(x, axis: 1)", "cumsum(v0, axis: -1)"},
  };
  for (auto [elem, call, written] : cases) {
    std::string head = "program p[B, D](x: f32[B, D] over chip by B, s: f32[B, 1], z: i32[B, 1]) "
                       "-> (y: ";
    Timed timed(head + elem + "[B, D] over chip by B) at host {\n    y = " + call + "\n}\n", "p",
                {{"chip", 4}});
    ASSERT_EQ(timed.sources.size(), 1u) << call;
    EXPECT_TRUE(CheckedText(timed.sources[0]).ok())
        << timed.sources[0] << CheckedText(timed.sources[0]).errors();
    EXPECT_NE(timed.sources[0].find(written), std::string::npos) << timed.sources[0];
  }
}

TEST(TimeParts, APartThatThereIsNotHasNoTime) {
  Timed timed(projectText("codegen/parts/testdata/stages.ptl"), "stages", {{"chip", 2}});
  EXPECT_FALSE(timed.time);
  EXPECT_EQ(timed.why, "there is no chip 2 of 2");
}

TEST(TimeParts, SaysWhatDoesNotFit) {
  CheckedText checked("program p[B](x: f32[B] over chip by B) -> (y: f32[B]) at host {\n"
                      "    y = all_gather(x, over: chip)\n}\n");
  const CallableDecl &decl = *checked.find("p");
  auto placed = checked.placed(decl);
  std::string why;
  Grid grid(placed->levels, {9});
  chipsOf(placed->levels, grid, someFabric(), why);
  EXPECT_EQ(why, "there are 8 chips in each part of the next level, not 9");
}

} // namespace
} // namespace ptl::parts
