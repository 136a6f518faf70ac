// The keeper with ranks that are this same program, started by a shell: what becomes of a run whatever one of them does. No MPI.
#include "runtime/ranks/attend.h"
#include "runtime/ranks/processes.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace ptl::ranks;

namespace {

/// `rank` does what its place in a run of the tests says.
int beRank(const std::string &what) {
  int rank = std::atoi(std::getenv("OMPI_COMM_WORLD_RANK"));
  std::string why, here = rank == 1 ? what : "";
  std::unique_ptr<Lifeline> line = Lifeline::tie(60, why);
  if (!line)
    return 9;
  line->does(kWorks);
  if (rank == 0) {
    line->makes(std::filesystem::absolute("part").string());
    std::ofstream("part") << "half";
  }
  if (here == "kill")
    ::raise(SIGKILL);
  if (here == "stop")
    ::raise(SIGSTOP);
  if (here == "end")
    line->ends(7, false);
  if (what == "shared")
    line->ends(5, true);
  if (what == "wait")
    line->does(rank);
  if (what == "fine" || (what == "late" && rank != 1)) {
    if (rank == 0) {
      line->commits();
      std::rename("part", "whole");
      line->committed();
    }
    line->done();
    return 0;
  }
  // Killed before the results are in place, a rank would rightly end the run.
  if (here == "late") {
    while (::access("whole", F_OK) != 0)
      ::usleep(1000);
    ::raise(SIGKILL);
  }
  // Whoever has nothing to do is ended by the keeper.
  for (;;)
    ::pause();
}

class KeeperTest : public testing::Test {
protected:
  void SetUp() override {
    char folder[] = "/tmp/ptl-keeper-XXXXXX";
    ASSERT_NE(::mkdtemp(folder), nullptr);
    folder_ = folder;
  }
  void TearDown() override {
    ::unlink(path("whole").c_str());
    EXPECT_EQ(::rmdir(folder_.c_str()), 0) << "files are left in " << folder_;
  }
  std::string path(const std::string &name) const { return folder_ + "/" + name; }

  /// Three ranks, one of which does `what`; the launcher goes on until `launcher` of the shell says.
  Outcome run(const std::string &what, const std::string &launcher = "wait", int started = 3,
              Limits limits = {}) {
    std::string script = "cd " + folder_ + "; for rank in 0 1 2; do [ $rank -lt " +
                         std::to_string(started) + " ] && OMPI_COMM_WORLD_RANK=$rank '" +
                         std::filesystem::read_symlink("/proc/self/exe").string() + "' --rank " +
                         what + " & done; " + launcher;
    // Only of what needs no time where all is well.
    limits.patience = limits.stopped = limits.end = 0.5;
    return attend({"sh", "-c", script}, 3, limits,
                  [](uint32_t rank) { return "part " + std::to_string(rank); });
  }
  bool isWhole() const { return ::access(path("whole").c_str(), F_OK) == 0; }

private:
  std::string folder_;
};

/// Processes end while they are looked at, between the opening and the reading of their files, too.
TEST(Processes, MayEndAtAnyTime) {
  std::atomic<pid_t> current = 0;
  std::atomic<bool> isOver = false;
  std::thread looker([&] {
    while (!isOver)
      if (pid_t pid = current) {
        stateOf(pid);
        EXPECT_FALSE(beganWith(pid, {"PTL_NOBODY_HAS_THIS=1"}));
      }
  });
  for (int round = 0; round < 1500; ++round) {
    pid_t child = ::fork();
    if (child == 0)
      ::_exit(0);
    current = child;
    ::waitpid(child, nullptr, 0);
  }
  isOver = true;
  looker.join();
}

TEST_F(KeeperTest, AllGoesWell) {
  Outcome outcome = run("fine");
  EXPECT_EQ(outcome.code, 0) << outcome.why;
  EXPECT_TRUE(isWhole());
}

TEST_F(KeeperTest, OneIsKilled) {
  Outcome outcome = run("kill");
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.why.find("part 1 (process "), std::string::npos) << outcome.why;
  EXPECT_FALSE(isWhole());
}

/// What has started the ranks neither notices nor ends.
TEST_F(KeeperTest, TheLauncherGoesOn) {
  Outcome outcome = run("kill", "wait; trap '' TERM; while true; do sleep 1; done");
  EXPECT_NE(outcome.why.find("is gone"), std::string::npos) << outcome.why;
}

TEST_F(KeeperTest, OneIsStopped) {
  Outcome outcome = run("stop");
  EXPECT_NE(outcome.why.find("was stopped by a signal"), std::string::npos) << outcome.why;
  EXPECT_FALSE(isWhole());
}

TEST_F(KeeperTest, TheLauncherIsStopped) {
  Outcome outcome = run("nothing", "kill -STOP $$; wait");
  EXPECT_NE(outcome.why.find("mpirun"), std::string::npos) << outcome.why;
}

TEST_F(KeeperTest, OneNeverComes) {
  Limits limits;
  limits.missing = 4; // enough for the two others to come
  Outcome outcome = run("nothing", "wait", 2, limits);
  EXPECT_NE(outcome.why.find("part 2 is gone before"), std::string::npos) << outcome.why;
}

TEST_F(KeeperTest, OneEndsWithACode) {
  Outcome outcome = run("end");
  EXPECT_EQ(outcome.code, 7);
  EXPECT_EQ(outcome.why, "") << "the rank has said it";
}

TEST_F(KeeperTest, TheFirstRankSaysWhatAllWouldSay) {
  Outcome outcome = run("shared");
  EXPECT_EQ(outcome.code, 5);
  EXPECT_EQ(outcome.why, "");
}

TEST_F(KeeperTest, NothingMoves) {
  Outcome outcome = run("wait");
  EXPECT_NE(outcome.why.find("part 2"), std::string::npos) << outcome.why;
  EXPECT_NE(outcome.why.find("no data has arrived"), std::string::npos) << outcome.why;
}

TEST_F(KeeperTest, SuccessStays) {
  Outcome outcome = run("late");
  EXPECT_EQ(outcome.code, 0) << outcome.why;
  EXPECT_TRUE(isWhole());
}

TEST_F(KeeperTest, TheLauncherCannotBeStarted) {
  Outcome outcome = attend({"/no/such/mpirun"}, 2, {}, [](uint32_t) { return std::string(); });
  EXPECT_NE(outcome.code, 0);
  EXPECT_NE(outcome.why.find("/no/such/mpirun cannot be started"), std::string::npos);
}

} // namespace

int main(int argc, char **argv) {
  if (argc == 3 && std::string(argv[1]) == "--rank")
    return beRank(argv[2]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
