// Does the steps of one rank, the other ranks being elsewhere.
#pragma once

#include "runtime/movement/step_list.h"

#include <functional>
#include <optional>
#include <span>

namespace ptl::movement {

/// Where the messages of a rank go to and come from; ranks are those of the list.
class Port {
public:
  virtual ~Port() = default;
  virtual void send(uint32_t rank, std::span<const uint8_t> bytes) = 0;
  /// As `send`, of bytes that stay where and as they are until `settle` has said that they left.
  virtual void post(uint32_t rank, std::span<const uint8_t> bytes) { send(rank, bytes); }
  /// Whether all that was posted to the rank has left.
  virtual bool settle(uint32_t) { return true; }
  /// Whether the next message of the rank came.
  virtual bool receive(uint32_t rank, std::span<uint8_t> bytes) = 0;
};

/// `to[i] = to[i] + from[i]` for so many elements; with `fromFirst`, `from[i] + to[i]`.
using CombineBytes =
    std::function<void(uint8_t *to, const uint8_t *from, int64_t count, bool fromFirst)>;

/// Does what the list says of `rank`. `source` and `result` are dense, the rank's boxes before and
/// afterwards. The rank that sent nothing for too long, if one did.
std::optional<uint32_t> runRank(const StepList &list, uint32_t rank, size_t elementBytes,
                                std::span<const uint8_t> source, std::span<uint8_t> result,
                                const CombineBytes &combine, Port &port);

} // namespace ptl::movement
