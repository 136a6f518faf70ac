#include "runtime/recorder.h"

#include "runtime/schedule/pool.h"

#include <algorithm>
#include <chrono>

namespace ptl::rt {

Recorder::Recorder(int threads)
    : origin_(clock()), lanes_(static_cast<size_t>(std::max(1, threads))) {}

int64_t Recorder::clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Recorder *&Recorder::ofThread() {
  static thread_local Recorder *recorder = nullptr;
  return recorder;
}

uint64_t Recorder::addTask(const PtlPlace *place, int64_t points, const int64_t *words,
                           size_t accesses, bool isLoop) {
  tasks_.push_back({place ? *place : PtlPlace{"grid", nullptr, 0, 0}, points, now(), words_.size(),
                    accesses, released_.size(), isLoop});
  for (size_t i = 0; i < accesses; ++i) {
    int64_t count = 3 + 3 * std::max<int64_t>(0, words[2]);
    words_.insert(words_.end(), words, words + count);
    words += count;
  }
  return tasks_.size();
}

void Recorder::addRelease(const void *memory) {
  released_.push_back(reinterpret_cast<int64_t>(memory));
}

void Recorder::addSpan(uint64_t task, int64_t begin, int64_t end, int64_t start, int64_t stop) {
  auto lane = static_cast<size_t>(ThreadPool::threadIndex());
  if (lane < lanes_.size())
    lanes_[lane].push_back({task, begin, end, start, stop});
}

void Recorder::restart() {
  tasks_.clear();
  words_.clear();
  released_.clear();
  waits_.clear();
  storage_.reset();
  for (std::vector<Span> &lane : lanes_)
    lane.clear();
}

} // namespace ptl::rt
