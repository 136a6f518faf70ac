// Programs whose parts are ranks, each with what it computes alone: here, threads with mailboxes between them.
#pragma once

#include "codegen/parts/parts_test_util.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace ptl::parts {

/// The messages of all ranks. One rank runs at a time, and gives way where it waits: the checked program
/// is one for all.
class Mailboxes {
public:
  explicit Mailboxes(uint32_t count) : boxes_(count * count), count_(count) {}

  class RankPort : public movement::Port {
  public:
    RankPort(Mailboxes &all, uint32_t me) : all_(all), me_(me) {}
    void send(uint32_t rank, std::span<const uint8_t> bytes) override {
      all_.boxes_[me_ * all_.count_ + rank].emplace_back(bytes.begin(), bytes.end());
      all_.changed_.notify_all();
    }
    bool receive(uint32_t rank, std::span<uint8_t> bytes) override {
      std::deque<std::vector<uint8_t>> &box = all_.boxes_[rank * all_.count_ + me_];
      std::unique_lock held(all_.turn_, std::adopt_lock);
      all_.changed_.wait(held, [&] { return !box.empty() || all_.hasEnded_[rank]; });
      held.release();
      if (box.empty() || box.front().size() != bytes.size())
        return false;
      std::copy(box.front().begin(), box.front().end(), bytes.begin());
      box.pop_front();
      return true;
    }

  private:
    Mailboxes &all_;
    uint32_t me_;
  };

  /// Runs a program on all ranks; the results by rank.
  std::vector<RunResult> run(const CheckedText &checked, const PlacedProgram &placed,
                             const std::vector<Value> &args, const PartsOptions &asked) {
    std::vector<RunResult> results(count_);
    hasEnded_.assign(count_, false);
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < count_; ++rank)
      threads.emplace_back([&, rank] {
        std::lock_guard turn(turn_);
        RankPort port(*this, rank);
        OwnPart own{rank, port};
        PartsOptions options = asked;
        options.own = &own;
        results[rank] = runOnParts(*checked.program, checked.sources, placed, args, options);
        hasEnded_[rank] = true;
        changed_.notify_all();
      });
    for (std::thread &thread : threads)
      thread.join();
    return results;
  }

  std::vector<RunResult> run(const CheckedText &checked, const PlacedProgram &placed,
                             const std::vector<Value> &args, const MachineShape &shape) {
    PartsOptions options;
    options.shape = shape;
    return run(checked, placed, args, options);
  }

  bool isEmpty() const {
    return std::ranges::all_of(boxes_, [](const auto &box) { return box.empty(); });
  }

private:
  std::vector<std::deque<std::vector<uint8_t>>> boxes_; ///< from a rank to a rank
  uint32_t count_;
  std::mutex turn_;
  std::condition_variable changed_;
  std::vector<bool> hasEnded_;
};

} // namespace ptl::parts
