// Executes a list of steps in one process, where messages arrive late and out of order.
#pragma once

#include "runtime/movement/box_cursor.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ptl::movement {

/// Calls `row(offset, length)` for each row along the last axis of `box` inside an array that holds
/// `within`, in order. Precondition: `within` contains `box`.
template <typename Row> void forEachRow(const Box &within, const Box &box, Row row) {
  if (elementCount(box) == 0)
    return;
  size_t rank = box.size();
  if (rank == 0) {
    row(int64_t(0), int64_t(1));
    return;
  }
  std::vector<int64_t> strides(rank, 1), at;
  for (size_t axis = rank - 1; axis-- > 0;)
    strides[axis] = strides[axis + 1] * within[axis + 1].length();
  int64_t offset = 0;
  for (size_t axis = 0; axis < rank; ++axis) {
    at.push_back(box[axis].begin);
    offset += (box[axis].begin - within[axis].begin) * strides[axis];
  }
  for (;;) {
    row(offset, box.back().length());
    size_t axis = rank - 1;
    while (axis-- > 0) {
      offset += strides[axis];
      if (++at[axis] < box[axis].end)
        break;
      offset -= box[axis].length() * strides[axis];
      at[axis] = box[axis].begin;
    }
    if (axis == static_cast<size_t>(-1))
      return;
  }
}

/// What combines elements one by one, by `sum(left, right)`.
template <typename Sum> auto combineEach(Sum sum) {
  return [sum](auto *to, const auto *from, size_t count, bool fromFirst) {
    for (size_t i = 0; i < count; ++i)
      to[i] = fromFirst ? sum(from[i], to[i]) : sum(to[i], from[i]);
  };
}

/// Executes the steps of all ranks, each with memory of its own. The seed determines which rank
/// runs next and which message arrives next, so every seed is another schedule; the contents that a
/// receive gets do not depend on it. An inconsistent list ends with a reason instead of results.
template <typename T> class Execution {
public:
  /// `to[i] = to[i] + from[i]` for `count` elements; with `fromFirst`, `from[i] + to[i]`.
  using Combine = std::function<void(T *to, const T *from, size_t count, bool fromFirst)>;

  /// `sources`: the dense elements of each rank's source box.
  Execution(const StepList &list, std::vector<std::vector<T>> sources, Combine combine)
      : list_(list), combine_(std::move(combine)), ranks_(list.ranks.size()) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::vector<Box> &boxes = list.ranks[rank].buffers;
      for (uint32_t buffer = 0; buffer < boxes.size(); ++buffer)
        if (buffer == kSourceBuffer)
          ranks_[rank].buffers.push_back(std::move(sources[rank]));
        else
          ranks_[rank].buffers.emplace_back(static_cast<size_t>(elementCount(boxes[buffer])));
    }
  }

  /// The reason why the list cannot be executed; empty if all ranks have ended and all messages
  /// were received.
  std::string run(uint64_t seed) {
    std::mt19937_64 random(seed);
    while (why_.empty()) {
      std::vector<size_t> ready;
      for (size_t rank = 0; rank < ranks_.size(); ++rank)
        if (canGoOn(rank))
          ready.push_back(rank);
      size_t choices = ready.size() + inFlight_.size();
      if (choices == 0)
        break;
      size_t choice = random() % choices;
      if (choice < ready.size())
        step(ready[choice]);
      else
        deliver(choice - ready.size());
    }
    return why_.empty() ? unfinished() : why_;
  }

  /// The result of a rank, after a successful run.
  const std::vector<T> &result(size_t rank) const { return ranks_[rank].buffers[kResultBuffer]; }
  /// The same as the caller's own; asked for once.
  std::vector<T> takeResult(size_t rank) { return std::move(ranks_[rank].buffers[kResultBuffer]); }

private:
  /// A piece of a message: joined pieces arrive one by one here, because no list may depend on
  /// their arriving together.
  struct Message {
    Box box;
    bool isJoined = false;
    std::vector<T> elements;
  };
  struct Rank {
    std::vector<std::vector<T>> buffers;
    size_t next = 0; ///< step
  };
  /// A channel from one rank to another, with its messages by number.
  struct Channel {
    uint64_t sent = 0, received = 0;
    std::map<uint64_t, Message> arrived;
  };
  struct Flight {
    std::pair<uint32_t, uint32_t> channel;
    uint64_t number = 0;
    Message message;
  };

  const Step *nextStep(size_t rank) const {
    const std::vector<Step> &steps = list_.ranks[rank].steps;
    return ranks_[rank].next < steps.size() ? &steps[ranks_[rank].next] : nullptr;
  }

  bool canGoOn(size_t rank) {
    const Step *step = nextStep(rank);
    if (!step || step->kind != StepKind::Receive)
      return step != nullptr;
    Channel &channel = channels_[{step->peer, static_cast<uint32_t>(rank)}];
    return channel.arrived.contains(channel.received);
  }

  bool isInside(size_t rank, uint32_t buffer, const Box &box) {
    const std::vector<Box> &buffers = list_.ranks[rank].buffers;
    if (buffer < buffers.size() && contains(buffers[buffer], box))
      return true;
    why_ = "rank " + std::to_string(rank) + " speaks of " + toString(box) +
           ", which its buffer does not have";
    return false;
  }

  std::vector<T> read(size_t rank, uint32_t buffer, const Box &box) {
    std::vector<T> elements;
    if (elementCount(box) == 0)
      return elements;
    const std::vector<T> &from = ranks_[rank].buffers[buffer];
    BoxCursor runs(from.data(), list_.ranks[rank].buffers[buffer], box, 1);
    elements.reserve(runs.rest());
    runs.next(runs.rest(), [&](const T *run, size_t count) {
      elements.insert(elements.end(), run, run + count);
    });
    return elements;
  }

  /// `update(to, from, count)` for each run of the box.
  template <typename Update>
  void write(size_t rank, uint32_t buffer, const Box &box, const std::vector<T> &elements,
             Update update) {
    if (elementCount(box) == 0)
      return;
    BoxCursor runs(ranks_[rank].buffers[buffer].data(), list_.ranks[rank].buffers[buffer], box, 1);
    const T *next = elements.data();
    runs.next(runs.rest(), [&](T *run, size_t count) {
      update(run, next, count);
      next += count;
    });
  }

  void step(size_t rank) {
    const Step &step = *nextStep(rank);
    ++ranks_[rank].next;
    bool reads = step.kind != StepKind::Receive, writes = step.kind != StepKind::Send;
    if ((reads && !isInside(rank, step.from, step.box)) ||
        (writes && !isInside(rank, step.to, step.box)))
      return;
    auto set = [](T *to, const T *from, size_t count) { std::copy_n(from, count, to); };
    if (step.kind == StepKind::Send) {
      send(rank, step);
    } else if (step.kind == StepKind::Receive) {
      Channel &channel = channels_[{step.peer, static_cast<uint32_t>(rank)}];
      Message message = std::move(channel.arrived.extract(channel.received++).mapped());
      if (message.box != step.box) {
        why_ = "rank " + std::to_string(rank) + " receives " + toString(step.box) + " where rank " +
               std::to_string(step.peer) + " sent " + toString(message.box);
        return;
      }
      if (message.isJoined != step.isJoined) {
        why_ = "rank " + std::to_string(rank) + " receives " + toString(step.box) +
               " in another message than rank " + std::to_string(step.peer) + " sent";
        return;
      }
      write(rank, step.to, step.box, message.elements, set);
    } else if (step.kind == StepKind::Copy) {
      write(rank, step.to, step.box, read(rank, step.from, step.box), set);
    } else {
      write(rank, step.to, step.box, read(rank, step.from, step.box),
            [&](T *to, const T *from, size_t count) { combine_(to, from, count, step.fromFirst); });
    }
  }

  void send(size_t rank, const Step &step) {
    if (step.peer >= ranks_.size()) {
      why_ = "rank " + std::to_string(rank) + " sends to rank " + std::to_string(step.peer) +
             ", which does not exist";
      return;
    }
    std::pair<uint32_t, uint32_t> channel(static_cast<uint32_t>(rank), step.peer);
    inFlight_.push_back({channel,
                         channels_[channel].sent++,
                         {step.box, step.isJoined, read(rank, step.from, step.box)}});
  }

  void deliver(size_t which) {
    Flight flight = std::move(inFlight_[which]);
    inFlight_.erase(inFlight_.begin() + static_cast<ptrdiff_t>(which));
    channels_[flight.channel].arrived.emplace(flight.number, std::move(flight.message));
  }

  std::string unfinished() {
    for (size_t rank = 0; rank < ranks_.size(); ++rank)
      if (const Step *step = nextStep(rank))
        return "rank " + std::to_string(rank) + " waits forever for " + toString(step->box) +
               " from rank " + std::to_string(step->peer);
    for (const auto &[ends, channel] : channels_)
      if (channel.sent != channel.received)
        return "rank " + std::to_string(ends.second) + " never receives what rank " +
               std::to_string(ends.first) + " sent";
    return {};
  }

  const StepList &list_;
  Combine combine_;
  std::vector<Rank> ranks_;
  std::map<std::pair<uint32_t, uint32_t>, Channel> channels_;
  std::deque<Flight> inFlight_;
  std::string why_;
};

} // namespace ptl::movement
