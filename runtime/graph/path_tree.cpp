#include "runtime/graph/path_tree.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <type_traits>
#include <utility>

namespace ptl::rt {

bool PathTree::Step::is(Kind kind, std::span<const Access> accesses) const {
  auto same = [](const Access &a, const Access &b) {
    return a.storage == b.storage && a.mode == b.mode && std::ranges::equal(a.box, b.box);
  };
  return kind_ == kind && std::ranges::equal(accesses_, accesses, same);
}

PathTree::Step *PathTree::find(Step *from, Kind kind, std::span<const Access> accesses) {
  for (Step **link = &from->next_; *link; link = &(*link)->other_) {
    Step *step = *link;
    if (!step->is(kind, accesses))
      continue;
    // The step that was taken last moves to the front, since the next run most likely takes it
    // again.
    *link = step->other_;
    step->other_ = std::exchange(from->next_, step);
    return step;
  }
  return nullptr;
}

template <class T> std::span<T> PathTree::copied(std::span<const T> from) {
  static_assert(std::is_trivially_destructible_v<T>);
  auto *to = static_cast<T *>(memory_.allocate(from.size_bytes(), alignof(T)));
  std::uninitialized_copy(from.begin(), from.end(), to);
  bytes_ += static_cast<int64_t>(from.size_bytes());
  return {to, from.size()};
}

PathTree::Step *PathTree::add(Step *from, Kind kind, std::span<const Access> accesses,
                              std::span<const TaskId> after) {
  // A program whose calls differ every time would grow the tree without end; what is not entered is
  // linked again in each call.
  if (bytes_ > mostBytes)
    return nullptr;
  Step made;
  made.kind_ = kind;
  made.previous_ = from;
  Step *step = copied(std::span<const Step>(&made, 1)).data();
  std::span<Access> known = copied(accesses);
  for (Access &access : known)
    access.box = copied(access.box);
  step->accesses_ = known;
  step->after_ = copied(after);
  step->other_ = std::exchange(from->next_, step);
  return step;
}

bool PathTree::shouldGrow() { return ++left_ > 1 && std::has_single_bit(left_); }

} // namespace ptl::rt
