#include "driver/reduce/failure.h"

#include "frontend/base/folder_test_util.h"

#include <csignal>
#include <fstream>
#include <gtest/gtest.h>

namespace ptl {
namespace {

using namespace std::chrono_literals;

std::string contentOf(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Failure, HasTheFirstErrorWithoutNamesAndNumbers) {
  EXPECT_EQ(firstError("warning[W1001]: `a`\nerror[E0311]: `x` has 3 axes, not `f32[5]`\n  --> a\n"
                       "error[E0312]: other\n"),
            "E0311: `…` has # axes, not `…`");
  EXPECT_EQ(firstError("a text with error[E0311] in a line\n"), "");
  EXPECT_EQ(firstError("error[E0311"), "");
  EXPECT_EQ(firstError("error[E0311]: a single ` here 12"), "E0311: a single ` here #");
}

TEST(Failure, IsTheSameForOtherNames) {
  ProcessEnd end;
  end.code = 1;
  EXPECT_EQ(failureOf(end, "error[E0101]: `a` at 3\n"),
            failureOf(end, "error[E0101]: `b` at 14\n"));
  EXPECT_NE(failureOf(end, "error[E0101]: `a`\n"), failureOf(end, "error[E0102]: `a`\n"));
  ProcessEnd crash;
  crash.signal = SIGSEGV;
  EXPECT_NE(failureOf(end, ""), failureOf(crash, ""));
  EXPECT_EQ(failureOf(crash, "").text().substr(0, 9), "signal 11");
  EXPECT_EQ(failureOf(end, "error[E0101]: `a`\n").text(), "exit code 1, E0101: `…`");
}

class Processes : public FolderTest {
protected:
  std::string path(const std::string &name) const { return folder_ + "/" + name; }
  Command shell(const std::string &script, const std::string &output) const {
    return {{"sh", "-c", script}, path(output)};
  }
};

TEST_F(Processes, EndInTheirOwnWays) {
  std::vector<ProcessEnd> ends = runAll({shell("echo out; echo err >&2; exit 3", "a"),
                                         shell("kill -ABRT $$", "b"),
                                         {{"/no/such/program"}, path("c")},
                                         shell("exit 0", "d")},
                                        20s);
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_EQ(ends[0].code, 3);
  EXPECT_EQ(contentOf(path("a")), "out\nerr\n");
  EXPECT_EQ(ends[1].signal, SIGABRT);
  EXPECT_FALSE(ends[2].startProblem.empty());
  EXPECT_TRUE(ends[3].code == 0 && ends[3].signal == 0 && !ends[3].isLate &&
              ends[3].startProblem.empty());
}

TEST_F(Processes, AreKilledWhenTheyAreLate) {
  std::vector<ProcessEnd> ends = runAll({shell("exec sleep 1000", "a")}, 50ms);
  EXPECT_TRUE(ends[0].isLate);
  EXPECT_EQ(ends[0].signal, SIGKILL);
}

} // namespace
} // namespace ptl
