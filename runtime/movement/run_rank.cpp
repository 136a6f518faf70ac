#include "runtime/movement/run_rank.h"

#include "runtime/movement/execute.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <vector>

namespace ptl::movement {

namespace {

/// From this size of a message in bytes on, copying it costs more than waiting until it has been
/// sent.
constexpr size_t kLeastPosted = 16384;

/// The offset of the elements of `box` in an array that holds `within`, if they are contiguous
/// there; nullopt if they are not, and for a box without elements.
std::optional<int64_t> offsetOfRun(const Box &within, const Box &box) {
  if (elementCount(box) == 0)
    return std::nullopt;
  int64_t offset = 0;
  bool isCut = false; // An axis had several positions: every axis behind it must be whole.
  for (size_t axis = 0; axis < box.size(); ++axis) {
    if (isCut && box[axis] != within[axis])
      return std::nullopt;
    isCut |= box[axis].length() > 1;
    offset = offset * within[axis].length() + box[axis].begin - within[axis].begin;
  }
  return offset;
}

class RankRun {
public:
  RankRun(const RankSteps &steps, size_t elementBytes, std::span<const uint8_t> source,
          std::span<uint8_t> result, const CombineBytes &combine, Port &port)
      : steps_(steps), bytes_(elementBytes), combine_(combine), port_(port), source_(source),
        result_(result) {
    // Each element is written before it is read, so none has to be zero.
    for (size_t i = kResultBuffer + 1; i < steps.buffers.size(); ++i)
      scratch_.push_back(std::make_unique_for_overwrite<uint8_t[]>(
          static_cast<size_t>(elementCount(steps.buffers[i])) * bytes_));
  }

  std::optional<uint32_t> run() {
    std::span<const Step> steps(steps_.steps);
    while (!steps.empty()) {
      // Joined steps are one message together with the step behind them. The last step of a list
      // is never joined (`findMistake` checks it), so the loop ends.
      size_t count = 1;
      while (steps[count - 1].isJoined)
        ++count;
      // Sender and receiver see the same boxes, and so agree on whether the pieces are one message.
      if (!isPacked(steps.first(count)))
        count = 1;
      if (const Step *waits = done(steps.first(count)))
        return waits->peer;
      steps = steps.subspan(count);
    }
    // Posted messages are read from the buffers of this object and of the caller, which must
    // outlive them: a rank has finished only when all of them have left.
    for (uint32_t peer : posted_)
      if (!port_.settle(peer))
        return peer;
    return std::nullopt;
  }

private:
  /// Executes one step, or the steps of one message. Returns the receive for which no message came,
  /// else null.
  const Step *done(std::span<const Step> steps) {
    const Step &step = steps.front();
    size_t size = 0;
    for (const Step &piece : steps)
      size += sizeOf(piece);
    bool isWhole = steps.size() == 1;
    if (step.kind == StepKind::Send)
      isWhole ? send(step, size) : sendPieces(steps, size);
    else if (step.kind != StepKind::Receive)
      // Within one buffer the two boxes may overlap, which `memcpy` does not allow: it is copied
      // through the message buffer.
      scatter(step, gathered(step, size, step.from != step.to));
    else if (!(isWhole ? received(step, size) : receivedPieces(steps, size)))
      return &step;
    return nullptr;
  }

  /// Whether the pieces of a message are packed into one. Pieces that are all large are not:
  /// copying them costs more than sending each as a message of its own.
  bool isPacked(std::span<const Step> steps) const {
    return std::ranges::any_of(steps,
                               [&](const Step &piece) { return sizeOf(piece) < kLeastPosted; });
  }

  size_t sizeOf(const Step &step) const {
    return static_cast<size_t>(elementCount(step.box)) * bytes_;
  }

  const uint8_t *readable(uint32_t buffer) const {
    return buffer == kSourceBuffer   ? source_.data()
           : buffer == kResultBuffer ? result_.data()
                                     : scratch_[buffer - kResultBuffer - 1].get();
  }
  uint8_t *writable(uint32_t buffer) {
    return buffer == kResultBuffer ? result_.data() : scratch_[buffer - kResultBuffer - 1].get();
  }

  /// The port copies a small message. A large one is posted without a copy from where it lies, or
  /// from a held copy if it is not contiguous or is overwritten later.
  void send(const Step &step, size_t size) {
    if (size < kLeastPosted)
      return port_.send(step.peer, gathered(step, size, true));
    posted_.insert(step.peer);
    if (offsetOfRun(steps_.buffers[step.from], step.box) && stays(step))
      return port_.post(step.peer, gathered(step, size, true));
    held_.push_back(std::make_unique_for_overwrite<uint8_t[]>(size));
    std::span<uint8_t> room(held_.back().get(), size);
    gather(step, room);
    port_.post(step.peer, room);
  }

  /// Sends all pieces packed into one message, in their order.
  void sendPieces(std::span<const Step> steps, size_t size) {
    std::span<uint8_t> room;
    if (size < kLeastPosted) {
      room = message(size);
    } else {
      held_.push_back(std::make_unique_for_overwrite<uint8_t[]>(size));
      room = {held_.back().get(), size};
    }
    size_t at = 0;
    for (const Step &piece : steps) {
      gather(piece, room.subspan(at, sizeOf(piece)));
      at += sizeOf(piece);
    }
    if (size < kLeastPosted)
      return port_.send(steps.front().peer, room);
    posted_.insert(steps.front().peer);
    port_.post(steps.front().peer, room);
  }

  /// Receives a packed message and writes its pieces to their boxes. False if no message came.
  bool receivedPieces(std::span<const Step> steps, size_t size) {
    std::span<uint8_t> room = message(size);
    if (!port_.receive(steps.front().peer, room))
      return false;
    size_t at = 0;
    for (const Step &piece : steps) {
      scatter(piece, room.subspan(at, sizeOf(piece)));
      at += sizeOf(piece);
    }
    return true;
  }

  /// Whether no later step of the list writes the elements that `step` sends, so that they can be
  /// posted without a copy. The source is never written.
  bool stays(const Step &step) const {
    auto writes = [&](const Step &later) {
      return later.kind != StepKind::Send && later.to == step.from &&
             elementCount(intersection(later.box, step.box)) > 0;
    };
    return step.from == kSourceBuffer ||
           std::none_of(steps_.steps.begin() + (&step - steps_.steps.data()) + 1,
                        steps_.steps.end(), writes);
  }

  /// A buffer for a packed message, valid until the next call.
  std::span<uint8_t> message(size_t size) {
    if (messageSize_ < size) {
      message_ = std::make_unique_for_overwrite<uint8_t[]>(size);
      messageSize_ = size;
    }
    return {message_.get(), size};
  }

  /// The elements of a step's box as one run: in place if they are contiguous and `mayStay`, else
  /// copied into the message buffer.
  std::span<const uint8_t> gathered(const Step &step, size_t size, bool mayStay) {
    const Box &within = steps_.buffers[step.from];
    if (std::optional<int64_t> offset = mayStay ? offsetOfRun(within, step.box) : std::nullopt)
      return {readable(step.from) + static_cast<size_t>(*offset) * bytes_, size};
    std::span<uint8_t> room = message(size);
    gather(step, room);
    return room;
  }

  void gather(const Step &step, std::span<uint8_t> room) const {
    uint8_t *to = room.data();
    forEachRow(steps_.buffers[step.from], step.box, [&](int64_t offset, int64_t length) {
      size_t row = static_cast<size_t>(length) * bytes_;
      std::memcpy(to, readable(step.from) + static_cast<size_t>(offset) * bytes_, row);
      to += row;
    });
  }

  /// Receives a message into its box directly if that is contiguous, else through the message
  /// buffer. False if no message came.
  bool received(const Step &step, size_t size) {
    if (std::optional<int64_t> offset = offsetOfRun(steps_.buffers[step.to], step.box))
      return port_.receive(step.peer,
                           {writable(step.to) + static_cast<size_t>(*offset) * bytes_, size});
    std::span<uint8_t> room = message(size);
    if (!port_.receive(step.peer, room))
      return false;
    scatter(step, room);
    return true;
  }

  void scatter(const Step &step, std::span<const uint8_t> message) {
    const uint8_t *from = message.data();
    forEachRow(steps_.buffers[step.to], step.box, [&](int64_t offset, int64_t length) {
      uint8_t *to = writable(step.to) + static_cast<size_t>(offset) * bytes_;
      if (step.kind == StepKind::Combine)
        combine_(to, from, length, step.fromFirst);
      else
        std::memcpy(to, from, static_cast<size_t>(length) * bytes_);
      from += static_cast<size_t>(length) * bytes_;
    });
  }

  const RankSteps &steps_;
  size_t bytes_;
  const CombineBytes &combine_;
  Port &port_;
  std::span<const uint8_t> source_;
  std::span<uint8_t> result_;
  std::vector<std::unique_ptr<uint8_t[]>> scratch_; ///< the buffers behind the first two
  std::unique_ptr<uint8_t[]> message_;
  size_t messageSize_ = 0;
  std::vector<std::unique_ptr<uint8_t[]>> held_; ///< what was posted from copies
  std::set<uint32_t> posted_;                    ///< to whom
};

} // namespace

std::optional<uint32_t> runRank(const StepList &list, uint32_t rank, size_t elementBytes,
                                std::span<const uint8_t> source, std::span<uint8_t> result,
                                const CombineBytes &combine, Port &port) {
  return RankRun(list.ranks[rank], elementBytes, source, result, combine, port).run();
}

} // namespace ptl::movement
