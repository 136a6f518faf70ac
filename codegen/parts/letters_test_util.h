// Ranks that really run at the same time: threads with mailboxes between them.
#pragma once

#include "codegen/parts/parts_test_util.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace ptl::parts {

/// The messages of ranks that really run at the same time.
class Letters {
public:
  explicit Letters(uint32_t count) : boxes_(count * count), count_(count) {}

  class RankPort : public movement::Port {
  public:
    RankPort(Letters &all, uint32_t me) : all_(all), me_(me) {}
    void send(uint32_t rank, std::span<const uint8_t> bytes) override {
      std::lock_guard held(all_.lock_);
      all_.boxes_[me_ * all_.count_ + rank].emplace_back(bytes.begin(), bytes.end());
      ++all_.sent_;
      all_.changed_.notify_all();
    }
    bool receive(uint32_t rank, std::span<uint8_t> bytes) override {
      std::unique_lock held(all_.lock_);
      std::deque<std::vector<uint8_t>> &box = all_.boxes_[rank * all_.count_ + me_];
      all_.changed_.wait(held, [&] { return !box.empty(); });
      bool isRight = box.front().size() == bytes.size();
      if (isRight)
        std::copy(box.front().begin(), box.front().end(), bytes.begin());
      box.pop_front();
      return isRight;
    }

  private:
    Letters &all_;
    uint32_t me_;
  };

  /// How many messages were sent; no rank runs any more.
  size_t sent() const { return sent_; }

private:
  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<std::deque<std::vector<uint8_t>>> boxes_;
  uint32_t count_;
  size_t sent_ = 0;
};

/// The results of the first rank of so many chips. Each rank has a program of its own, as processes do. `sent`, if it is not null, gets the number
/// of messages; movements go by chunks of at least `leastChunk` bytes.
inline RunResult runOnRanks(const std::string &text, const std::vector<Value> &args, uint32_t count,
                            int64_t leastChunk = PartsOptions().leastChunk,
                            size_t *sent = nullptr) {
  Letters letters(count);
  std::vector<RunResult> results(count);
  std::vector<std::thread> ranks;
  for (uint32_t rank = 0; rank < count; ++rank)
    ranks.emplace_back([&, rank] {
      CheckedText checked(text);
      Letters::RankPort port(letters, rank);
      OwnPart own{rank, port};
      PartsOptions options;
      options.shape = {{"chip", count}};
      options.own = &own;
      options.movesBeside = true;
      options.leastChunk = leastChunk;
      std::vector<Value> mine = args;
      results[rank] = runOnParts(*checked.program, checked.sources,
                                 *checked.placed(*checked.find("p")), std::move(mine), options);
    });
  for (std::thread &rank : ranks)
    rank.join();
  if (sent)
    *sent = letters.sent();
  return results[0];
}

} // namespace ptl::parts
