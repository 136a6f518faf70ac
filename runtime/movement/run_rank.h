// Executes the steps of one rank; the other ranks run in other processes.
#pragma once

#include "runtime/movement/step_list.h"
#include "runtime/movement/work_memory.h"

#include <functional>
#include <optional>
#include <span>

namespace ptl::movement {

/// Writes or reads the next bytes of a message, as many as there is room for, or as have come. They must not call
/// the port.
using GiveBytes = std::function<void(std::span<uint8_t> room)>;
using TakeBytes = std::function<void(std::span<const uint8_t> bytes)>;

/// The connections of a rank to the others. Ranks are numbered as in the list.
class Port {
public:
  virtual ~Port() = default;
  virtual void send(uint32_t rank, std::span<const uint8_t> bytes) = 0;
  /// Like `send`, without a copy: the caller must not change the bytes until `settle` has returned
  /// true.
  virtual void post(uint32_t rank, std::span<const uint8_t> bytes) { send(rank, bytes); }
  /// The same of bytes that do not lie one behind the other: `give`, which stays until `settle` returns
  /// true, writes them where there is room for them.
  virtual void postBy(uint32_t rank, size_t size, const GiveBytes &give);
  /// Waits until everything that was posted to the rank has been sent, and other messages need nothing more from this
  /// one; false when the time is over.
  virtual bool settle(uint32_t) { return true; }
  /// Waits for the next message of the rank; false after the time limit.
  virtual bool receive(uint32_t rank, std::span<uint8_t> bytes) = 0;
  /// The same of `size` bytes that `take` reads as they come.
  virtual bool receiveBy(uint32_t rank, size_t size, const TakeBytes &take);
  /// Receives like `receive`; `seen` gets each piece in turn, when it is in its place.
  virtual bool receiveInto(uint32_t rank, std::span<uint8_t> bytes, const TakeBytes &seen);
  /// What moving costs here; the same on all ranks, which choose the same steps by it.
  virtual Cost cost() const { return {}; }
  /// For `runRank`.
  virtual WorkMemory &memory() { return memory_; }

private:
  WorkMemory memory_;
};

/// Computes `to[i] = to[i] + from[i]` for `count` elements; with `fromFirst`, `from[i] + to[i]`.
using CombineBytes =
    std::function<void(uint8_t *to, const uint8_t *from, int64_t count, bool fromFirst)>;

/// Executes the steps of `rank`. `source` and `result` are the dense boxes of the rank before and
/// after the movement. Returns the rank from which no message arrived within the time limit;
/// nothing after success.
std::optional<uint32_t> runRank(const StepList &list, uint32_t rank, size_t elementBytes,
                                std::span<const uint8_t> source, std::span<uint8_t> result,
                                const CombineBytes &combine, Port &port);

} // namespace ptl::movement
