#include "codegen/parts/mover.h"

#include <utility>

namespace ptl::parts {

Mover::Mover() : thread_([this] { run(); }) {}

Mover::~Mover() {
  {
    std::lock_guard held(lock_);
    isOver_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

uint64_t Mover::begin(std::function<void()> work) {
  {
    std::lock_guard held(lock_);
    waiting_.push_back(std::move(work));
  }
  changed_.notify_all();
  return ++begun_;
}

void Mover::wait(uint64_t number) {
  std::unique_lock held(lock_);
  changed_.wait(held, [&] { return ended_ >= number; });
}

void Mover::run() {
  std::unique_lock held(lock_);
  for (;;) {
    changed_.wait(held, [this] { return isOver_ || !waiting_.empty(); });
    if (isOver_)
      return;
    std::function<void()> work = std::move(waiting_.front());
    waiting_.pop_front();
    held.unlock();
    work();
    held.lock();
    ++ended_;
    changed_.notify_all();
  }
}

} // namespace ptl::parts
