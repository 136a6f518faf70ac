#include "lsp/server/inbox.h"

#include <gtest/gtest.h>

#include <vector>

using namespace ptl::lsp;

namespace inbox_test {

struct Fixture {
  std::vector<int> refused; ///< codes
  std::vector<json> cancelled;
  Inbox inbox{{[this](const RequestError &error) { refused.push_back(error.code); }, reportProblem},
              {[this](const json &id) { cancelled.push_back(id); }, reportProblem}};

  void feed(const json &message) { inbox.feed(frame(message.dump())); }
  void cancel(int id) { feed({{"method", "$/cancelRequest"}, {"params", {{"id", id}}}}); }
  std::vector<json> takeAll() {
    std::vector<json> all;
    while (!inbox.empty())
      all.push_back(inbox.take());
    return all;
  }
};

TEST(Inbox, MessagesComeInOrderWhateverPiecesTheyArriveIn) {
  Fixture f;
  json first = {{"method", "a"}}, second = {{"method", "b"}};
  std::string bytes = frame(first.dump()) + frame(second.dump());
  for (char byte : bytes)
    f.inbox.feed(std::string_view(&byte, 1));
  EXPECT_EQ(f.takeAll(), (std::vector<json>{first, second}));
  EXPECT_TRUE(f.refused.empty());
}

TEST(Inbox, ABatchIsItsMessages) {
  Fixture f;
  json first = {{"method", "a"}}, second = {{"method", "b"}};
  f.feed({first, 7, second});
  EXPECT_EQ(f.takeAll(), (std::vector<json>{first, second}));
  EXPECT_EQ(f.refused, (std::vector<int>{kInvalidRequest})) << "a number is no message";
  f.feed(json::array());
  EXPECT_EQ(f.refused.size(), 2u) << "nor is a batch of nothing";
}

TEST(Inbox, WhatIsNoMessageIsRefused) {
  Fixture f;
  f.inbox.feed(frame("{"));
  f.inbox.feed(frame("3"));
  f.inbox.feed("Content-Length: x\r\n\r\n");
  EXPECT_EQ(f.refused, (std::vector<int>{kParseError, kInvalidRequest, kParseError}));
  EXPECT_TRUE(f.inbox.empty());
}

TEST(Inbox, DeepValuesAreRefusedBeforeTheyAreRead) {
  Fixture f;
  auto nested = [](size_t depth) {
    return R"({"a":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  f.inbox.feed(frame(nested(500)));
  EXPECT_TRUE(f.refused.empty());
  f.inbox.feed(frame(nested(501)));
  EXPECT_EQ(f.refused, (std::vector<int>{kInvalidRequest}));
  f.inbox.feed(frame(R"({"a":"\")" + std::string(600, '[') + "\"}"));
  EXPECT_EQ(f.refused.size(), 1u) << "brackets in a string open nothing";
  EXPECT_EQ(f.takeAll().size(), 2u);
}

TEST(Inbox, ARequestThatWaitsIsCancelledWhenItsTurnComes) {
  Fixture f;
  f.feed({{"method", "a"}, {"id", 1}});
  f.feed({{"method", "b"}, {"id", 2}});
  f.cancel(2);
  EXPECT_TRUE(f.cancelled.empty());
  EXPECT_EQ(f.takeAll().size(), 2u);
  EXPECT_FALSE(f.inbox.takeCancelled(1));
  EXPECT_TRUE(f.inbox.takeCancelled(2));
  EXPECT_FALSE(f.inbox.takeCancelled(2)) << "the next request may have the same id";
}

TEST(Inbox, ARequestThatWasTakenIsCancelledAtOnce) {
  Fixture f;
  f.feed({{"method", "a"}, {"id", 1}});
  f.takeAll();
  f.cancel(1);
  EXPECT_EQ(f.cancelled, (std::vector<json>{1}));
  EXPECT_FALSE(f.inbox.takeCancelled(1));
}

} // namespace inbox_test
