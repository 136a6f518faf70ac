// What is thrown stays within the step that throws it.
#include "lsp/server/background.h"
#include "lsp/server/later.h"
#include "lsp/server/reply.h"
#include "lsp/server/worker_client.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace ptl::lsp {
namespace callback_test {

struct Loop {
  Loop() { uv_loop_init(&loop); }
  ~Loop() {
    uv_run(&loop, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop), 0);
  }
  uv_loop_t loop;
};

/// Keeps what it is told.
struct Told {
  std::vector<RequestError> problems;
  OnProblem listen() {
    return [this](const RequestError &problem) { problems.push_back(problem); };
  }
};

TEST(Callback, WhatItThrowsIsTold) {
  Told told;
  Callback<int> callback(
      [](int value) {
        if (value == 0)
          throw RequestError{kContentModified, "gone"};
        if (value == 1)
          throw std::runtime_error("odd");
        if (value == 2)
          throw 2;
      },
      told.listen());
  for (int value = 0; value < 4; ++value)
    callback(value);
  callback.fail({kRequestFailed, "never"});
  ASSERT_EQ(told.problems.size(), 4u);
  EXPECT_EQ(told.problems[0].code, kContentModified);
  EXPECT_EQ(told.problems[1].code, kInternalError);
  EXPECT_EQ(told.problems[1].message, "odd");
  EXPECT_EQ(told.problems[2].code, kInternalError);
  EXPECT_EQ(told.problems[3].message, "never");
}

TEST(Callback, AnAnswerThatLacksSomethingIsNoInternalError) {
  Told told;
  WorkerClient::OnAnswer onAnswer(
      [](const WorkerAnswer &answer) { answer.result.at("text").get<std::string>(); },
      told.listen());
  onAnswer(WorkerAnswer{json::object(), {}});
  onAnswer(WorkerAnswer{json{{"text", 1}}, {}});
  onAnswer(WorkerAnswer{json{{"text", "whole"}}, {}});
  ASSERT_EQ(told.problems.size(), 2u);
  for (const RequestError &problem : told.problems) {
    EXPECT_EQ(problem.code, kRequestFailed);
    EXPECT_NE(problem.message.find("the compiler's answer cannot be read"), std::string::npos);
  }
}

TEST(Callback, WhoIsToldMayThrowToo) {
  auto throws = [](const RequestError &) { throw std::runtime_error("again"); };
  testing::internal::CaptureStderr();
  Callback<> callback([] { throw std::runtime_error("once"); }, throws);
  callback();
  callback.fail({kRequestFailed, "never"});
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a step failed"), std::string::npos);
}

TEST(Callback, ItMayDropItself) {
  int calls = 0;
  Callback<> callback;
  callback = {[&] {
                callback = nullptr;
                ++calls;
              },
              reportProblem};
  callback();
  callback();
  EXPECT_EQ(calls, 1);
}

TEST(Callback, TimersAndThreadsThatThrowEndOneStep) {
  Told told;
  int results = 0;
  {
    Loop loop;
    later(&loop.loop, 0, {[] { throw RequestError{kInvalidParams, "time"}; }, told.listen()});
    later(&loop.loop, 1, {[&] { ++results; }, told.listen()});
    auto fails = [](const Background::Stop &) -> int { throw std::runtime_error("work"); };
    auto works = [](const Background::Stop &) { return 10; };
    Background lane(&loop.loop);
    lane.run<int>(fails, {[&](int) { results += 1000; }, told.listen()});
    lane.run<int>(works, {[&](int value) { results += value; }, told.listen()});
    lane.run<int>(works, {[](int) { throw std::runtime_error("then"); }, told.listen()});
    lane.finish();
    EXPECT_TRUE(lane.isIdle());
  }
  EXPECT_EQ(results, 11);
  std::vector<std::string> texts;
  for (const RequestError &problem : told.problems)
    texts.push_back(problem.message);
  EXPECT_EQ(texts, (std::vector<std::string>{"work", "then", "time"}));
}

/// Replies, and whether each request has its answer.
struct Replies {
  Loop loop;
  Connection connection{&loop.loop, {}, {}};
  std::shared_ptr<OpenRequests> open = std::make_shared<OpenRequests>();
  Reply reply(int id) {
    open->try_emplace(std::to_string(id));
    return Reply(open, connection, id);
  }
};

TEST(Reply, WhoDropsItHasAnswered) {
  testing::internal::CaptureStdout();
  {
    Replies replies;
    Reply first = replies.reply(1);
    {
      Callback<> dropped([first] { first.result(1); }, first.onProblem());
    }
    EXPECT_TRUE(first.isOpen());
    first.result(7);
    first.result(8);
    EXPECT_FALSE(first.isOpen());
    {
      Reply second = replies.reply(2);
    }
    EXPECT_TRUE(replies.open->empty());
    Reply third = replies.reply(3);
    replies.open.reset(); // the server is gone
  }
  std::string output = testing::internal::GetCapturedStdout();
  EXPECT_NE(output.find(R"("id":1,"jsonrpc":"2.0","result":7)"), std::string::npos) << output;
  EXPECT_EQ(output.find("8}"), std::string::npos) << output;
  EXPECT_NE(output.find("no handler has answered"), std::string::npos) << output;
  EXPECT_EQ(output.find(R"("id":3)"), std::string::npos) << output;
}

} // namespace callback_test
} // namespace ptl::lsp
