#include "lsp/server/background.h"
#include "lsp/server/project.h"

#include "gtest/gtest.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace ptl::lsp {
namespace background_test {

/// A loop that is run until nothing is left.
struct Loop {
  Loop() { uv_loop_init(&loop); }
  ~Loop() {
    run();
    EXPECT_EQ(uv_loop_close(&loop), 0);
  }
  void run() { uv_run(&loop, UV_RUN_DEFAULT); }
  uv_loop_t loop;
};

void sleep(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(Background, ResultsComeInOrderOnTheLoop) {
  Loop loop;
  Background lane(&loop.loop);
  std::vector<int> results;
  std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 20; ++i)
    lane.run<int>(
        [i, here](const Background::Stop &) {
          EXPECT_NE(std::this_thread::get_id(), here);
          sleep(i % 4);
          return i;
        },
        {[&](int result) {
           EXPECT_EQ(std::this_thread::get_id(), here);
           results.push_back(result);
         },
         reportProblem});
  EXPECT_TRUE(results.empty());
  loop.run();
  ASSERT_EQ(results.size(), 20u);
  EXPECT_TRUE(std::is_sorted(results.begin(), results.end()));
  EXPECT_TRUE(lane.isIdle());
}

TEST(Background, WhatIsCancelledDoesNotCome) {
  Loop loop;
  Background lane(&loop.loop);
  std::vector<int> results;
  std::vector<Background::Handle> handles;
  for (int i = 0; i < 30; ++i)
    handles.push_back(lane.run<int>(
        [i](const Background::Stop &stop) {
          for (int step = 0; step < 50 && !stop(); ++step)
            sleep(1);
          return i;
        },
        {[&](int result) { results.push_back(result); }, reportProblem}));
  sleep(5);
  for (int i = 0; i < 30; ++i)
    if (i != 7)
      handles[i].cancel();
  loop.run();
  EXPECT_EQ(results, std::vector<int>{7});
  handles[7].cancel(); // harmless now
}

TEST(Background, FinishWaits) {
  Loop loop;
  std::vector<int> results;
  {
    Background lane(&loop.loop);
    Background::Handle second;
    for (int i = 0; i < 8; ++i) {
      auto handle = lane.run<int>([i](const Background::Stop &) { return sleep(2), i; },
                                  {[&](int result) { results.push_back(result); }, reportProblem});
      if (i == 2)
        second = handle;
    }
    second.cancel();
    lane.finish();
    EXPECT_EQ(results, (std::vector<int>{0, 1, 3, 4, 5, 6, 7}));
    loop.run();
  }
  EXPECT_EQ(results.size(), 7u);
}

TEST(Background, ResultsOfALaneThatIsGoneGoNowhere) {
  Loop loop;
  int results = 0;
  {
    Background lane(&loop.loop);
    for (int i = 0; i < 8; ++i)
      lane.run<int>([](const Background::Stop &) { return sleep(3), 1; },
                    {[&](int result) { results += result; }, reportProblem});
  }
  loop.run();
  EXPECT_EQ(results, 0);
}

TEST(Project, FilesAreReadBesideTheLoopAndTakenInOneByOne) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(testing::TempDir()) / "ptl_project_test";
  fs::remove_all(folder);
  fs::create_directories(folder / "below" / ".hidden");
  for (const char *name : {"a.ptl", "below/b.ptl", "below/.hidden/c.ptl", "d.txt"})
    std::ofstream(folder / name) << "fn f(x: f32) -> f32 {\n    return x\n}\n";
  {
    Loop loop;
    Session session{ide::Workspace(CheckOptions()), {}, {}};
    session.folders = {folder.string()};
    Project project(&loop.loop, session);
    int woken = 0, answered = 0;
    project.onWork = {[&] { ++woken; }, reportProblem};
    for (int i = 0; i < 2; ++i)
      project.whenKnown({[&] {
                           ++answered;
                           EXPECT_EQ(session.workspaceFiles().size(), 2u);
                           EXPECT_EQ(session.workspace.files().size(), 2u);
                         },
                         reportProblem});
    EXPECT_FALSE(project.step());
    loop.run();
    EXPECT_EQ(woken, 1) << "the second shares what the first looked for";
    for (int i = 0; i < 4; ++i)
      EXPECT_TRUE(project.step());
    EXPECT_FALSE(project.step());
    EXPECT_EQ(answered, 2);
    fs::remove(folder / "a.ptl");
    std::string b = (folder / "below" / "b.ptl").string();
    std::ofstream(b) << "const N = 1\n";
    project.changed({(folder / "a.ptl").string(), b}, {[&] { ++answered; }, reportProblem});
    project.finish();
    EXPECT_EQ(answered, 3);
    EXPECT_TRUE(session.workspace.find((folder / "a.ptl").string())->isMissing);
    EXPECT_EQ(session.workspace.find(b)->document.text(), "const N = 1\n");
    loop.run();
  }
  fs::remove_all(folder);
}

} // namespace background_test
} // namespace ptl::lsp
