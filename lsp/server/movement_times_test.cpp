// What hovers say of the time of movements: one alone, in loops one of many.
#include "lsp/server/movement_times.h"

#include <gtest/gtest.h>

namespace ptl::lsp {
namespace {

constexpr const char *kText = R"(
program p[B, D](x: f32[B, D] over chip by B, n: int) -> (y: f32[1, D]) at host {
    var v = all_reduce(sum(x, axis: 0), over: chip)
    for _i in 0..n {
        v = v + all_reduce(sum(x * v, axis: 0), over: chip)
    }
    y = v
}
)";

std::string timesOf(const std::string &text, const std::string &piece) {
  Session session;
  session.settings.targets = {"h100"};
  session.settings.sizes = json{{"B", 4096}, {"D", 512}};
  ide::File &file = session.workspace.open("/loops.ptl", text, 1);
  auto begin = static_cast<uint32_t>(text.find(piece));
  return movementTimesAt(session, file, {begin, begin + static_cast<uint32_t>(piece.size())});
}

TEST(MovementTimes, InALoopTheyAreThoseOfEachTime) {
  std::string once = timesOf(kText, "all_reduce(sum(x, axis: 0), over: chip)");
  EXPECT_TRUE(once.starts_with("h100: ")) << once;
  EXPECT_EQ(once.find("each time"), once.npos) << once;
  EXPECT_NE(once.find(" for D = 512"), once.npos) << once;
  std::string often = timesOf(kText, "all_reduce(sum(x * v, axis: 0), over: chip)");
  EXPECT_EQ(often.find(" for D = 512"), often.find(" each time") + 10) << often;
}

/// Where the array depends on the round, the first one is meant, and the variable is no size to be given.
TEST(MovementTimes, WhereRoundsDifferItIsTheFirst) {
  const std::string text = R"(
program p[B, D](x: f32[B, D] over chip by D, n: int) -> (y: f32[1, D] over chip by D) at host {
    var v = zeros(f32[1, D])
    for i in 3..n {
        let rows = all_gather(ones(f32[i, D]) * sum(x, axis: 0), over: chip)
        v = v + sum(rows, axis: 0)
    }
    y = v
}
)";
  std::string first = timesOf(text, "all_gather(ones(f32[i, D]) * sum(x, axis: 0), over: chip)");
  EXPECT_TRUE(first.starts_with("h100: ")) << first;
  EXPECT_NE(first.find(" in the first round for D = 512"), first.npos) << first;
  EXPECT_EQ(first.find("i ="), first.npos) << first;
}

} // namespace
} // namespace ptl::lsp
