// The events between the pipes of one core, and what pipes know about each other through them.
#pragma once

#include "runtime/sim/core/pipes.h"

namespace ptl::rt::sim {

/// The maximal number of event ids for a pair of pipes; chips may have fewer.
inline constexpr int32_t kMaxPipeEvents = 16;

/// The events that are set. An event carries how many writes of the vector pipe its setter knows to
/// have finished, and whoever waits for it then knows as much: knowledge spreads along chains of
/// events.
class PipeEvents {
public:
  bool isSet(const Flag &event) const { return of(event).times > 0; }
  /// The number of writes of the vector pipe that are ordered before another pipe.
  uint64_t known(Pipe pipe) const { return known_[at(pipe)]; }
  /// Sets an event, possibly again; its setter is ordered after `known` writes.
  void set(const Flag &event, uint64_t known) {
    Event &set = of(event);
    ++set.times;
    set.known = known;
  }
  /// A pipe has waited for an event that is set. Returns the number of writes that are now ordered
  /// before it.
  uint64_t take(const Flag &event, Pipe pipe) {
    Event &taken = of(event);
    --taken.times;
    return known_[at(pipe)] = std::max(known_[at(pipe)], taken.known);
  }
  /// Any event that is set.
  std::optional<Flag> anySet() const {
    for (size_t source = 0; source < kNumPipes; ++source)
      for (size_t target = 0; target < kNumPipes; ++target)
        for (int32_t id = 0; id < kMaxPipeEvents; ++id)
          if (Flag event{static_cast<Pipe>(source), static_cast<Pipe>(target), id}; isSet(event))
            return event;
    return std::nullopt;
  }

private:
  struct Event {
    uint64_t known = 0;
    uint8_t times = 0; ///< how often it is set: once, unless events are counters
  };
  const Event &of(const Flag &event) const {
    return events_[at(event.source)][at(event.target)][static_cast<size_t>(event.id)];
  }
  Event &of(const Flag &event) {
    return events_[at(event.source)][at(event.target)][static_cast<size_t>(event.id)];
  }

  Event events_[kNumPipes][kNumPipes][kMaxPipeEvents];
  uint64_t known_[kNumPipes] = {};
};

} // namespace ptl::rt::sim
