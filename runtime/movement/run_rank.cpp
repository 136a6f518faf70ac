#include "runtime/movement/run_rank.h"

#include "runtime/movement/box_cursor.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace ptl::movement {

void Port::postBy(uint32_t rank, size_t size, const GiveBytes &give) {
  auto bytes = std::make_unique_for_overwrite<uint8_t[]>(size);
  give({bytes.get(), size});
  send(rank, {bytes.get(), size});
}

bool Port::receiveBy(uint32_t rank, size_t size, const TakeBytes &take) {
  auto bytes = std::make_unique_for_overwrite<uint8_t[]>(size);
  if (!receive(rank, {bytes.get(), size}))
    return false;
  take({bytes.get(), size});
  return true;
}

bool Port::receiveInto(uint32_t rank, std::span<uint8_t> bytes, const TakeBytes &seen) {
  bool hasCome = receive(rank, bytes);
  if (hasCome)
    seen(bytes);
  return hasCome;
}

namespace {

using Steps = std::span<const Step>;

/// What is added at once, so that what several steps read and write stays in a cache.
constexpr size_t kTile = 64 << 10;
using Reading = BoxCursor<const uint8_t>;
using Writing = BoxCursor<uint8_t>;

/// The next bytes of boxes that follow each other: `piece(bytes, size)`.
template <typename Cursor, typename Piece>
void nextOf(std::vector<Cursor> &boxes, size_t &box, size_t size, Piece piece) {
  while (size > 0) {
    size_t part = std::min(size, boxes[box].rest());
    boxes[box].next(part, piece);
    size -= part;
    box += boxes[box].rest() == 0;
  }
}

class RankRun {
public:
  RankRun(const RankSteps &steps, size_t elementBytes, std::span<const uint8_t> source,
          std::span<uint8_t> result, const CombineBytes &combine, Port &port)
      : steps_(steps), bytes_(elementBytes), combine_(combine), port_(port), source_(source),
        result_(result) {
    // Each element is written before it is read, so none has to be zero.
    for (size_t i = kResultBuffer + 1; i < steps.buffers.size(); ++i)
      scratch_.push_back(
          port.memory().take(static_cast<size_t>(elementCount(steps.buffers[i])) * bytes_));
  }
  ~RankRun() { port_.memory().release(); }
  RankRun(const RankRun &) = delete;
  RankRun &operator=(const RankRun &) = delete;

  std::optional<uint32_t> run() {
    Steps steps(steps_.steps);
    while (!steps.empty()) {
      size_t message = steps_.piecesAt(static_cast<size_t>(&steps.front() - steps_.steps.data()),
                                       static_cast<int64_t>(bytes_));
      size_t sums = sumsBehind(steps, message);
      if (const Step *waits = done(steps.first(message), steps.subspan(message, sums)))
        return waits->peer;
      steps = steps.subspan(message + sums);
    }
    // What was posted is still being read from the buffers of this run, which end with it.
    for (uint32_t peer : sentTo_)
      if (!port_.settle(peer))
        return peer;
    return std::nullopt;
  }

private:
  /// How many sums of the same elements follow a message or a sum. They are done piece by piece, all of them while
  /// a piece is in a cache; elements do not depend on each other.
  size_t sumsBehind(Steps steps, size_t message) const {
    const Step &first = steps.front();
    size_t count = 0;
    bool isFollowed = message == 1 && sizeOf(first) >= kLeastPosted &&
                      (first.kind == StepKind::Receive || first.kind == StepKind::Combine);
    while (isFollowed && message + count < steps.size()) {
      const Step &next = steps[message + count];
      isFollowed = next.kind == StepKind::Combine && next.box == first.box;
      count += isFollowed;
    }
    return count;
  }

  /// Does a step, or those of one message, and the sums behind it. The one for which no message came; else null.
  const Step *done(Steps message, Steps sums) {
    const Step &step = message.front();
    switch (step.kind) {
    case StepKind::Send:
      send(message);
      return nullptr;
    case StepKind::Copy:
      copy(step);
      return nullptr;
    case StepKind::Combine:
      combineTiles({&step, 1 + sums.size()});
      return nullptr;
    case StepKind::Receive:
      return (sums.empty() ? received(message) : receivedInto(step, sums)) ? nullptr : &step;
    }
    __builtin_unreachable();
  }

  size_t sizeOf(const Step &step) const {
    return static_cast<size_t>(elementCount(step.box)) * bytes_;
  }
  size_t sizeOf(Steps message) const {
    size_t size = 0;
    for (const Step &piece : message)
      size += sizeOf(piece);
    return size;
  }

  const uint8_t *readable(uint32_t buffer) const {
    return buffer == kSourceBuffer   ? source_.data()
           : buffer == kResultBuffer ? result_.data()
                                     : scratch_[buffer - kResultBuffer - 1];
  }
  uint8_t *writable(uint32_t buffer) {
    return buffer == kResultBuffer ? result_.data() : scratch_[buffer - kResultBuffer - 1];
  }
  Reading reading(const Step &step) const {
    return {readable(step.from), steps_.buffers[step.from], step.box, bytes_};
  }
  Writing writing(const Step &step) {
    return {writable(step.to), steps_.buffers[step.to], step.box, bytes_};
  }

  // ---- Messages ------------------------------------------------------------------------------------

  /// Small messages are copied by the port. Large ones are not: they go from where they lie, or from
  /// a copy of their own if they are going to be written over.
  void send(Steps message) {
    size_t size = sizeOf(message);
    uint32_t peer = message.front().peer;
    if (std::ranges::find(sentTo_, peer) == sentTo_.end())
      sentTo_.push_back(peer);
    if (message.size() == 1 && size < kLeastPosted)
      return sendSmall(reading(message.front()), peer, size);
    std::vector<Reading> pieces;
    for (const Step &step : message)
      pieces.push_back(reading(step));
    // Bytes that follow each other are sent from where they are; others are put together first.
    bool isOneRun = pieces.size() == 1 && pieces.front().isOneRun();
    if (size < kLeastPosted)
      return port_.send(peer, packed(pieces, room(size)));
    if (!std::ranges::all_of(message, [&](const Step &step) { return steps_.stays(step); }))
      return port_.post(peer, packed(pieces, {port_.memory().take(size), size}));
    if (isOneRun)
      return port_.post(peer, {pieces.front().at(), size});
    GiveBytes &give =
        given_.emplace_back([pieces = std::move(pieces), piece = size_t(0)](
                                std::span<uint8_t> to) mutable { pack(pieces, piece, to); });
    port_.postBy(peer, size, give);
  }

  void sendSmall(Reading piece, uint32_t peer, size_t size) {
    if (piece.isOneRun())
      return port_.send(peer, {piece.at(), size});
    std::span<uint8_t> to = room(size);
    uint8_t *at = to.data();
    piece.next(size, [&](const uint8_t *from, size_t count) {
      std::memcpy(at, from, count);
      at += count;
    });
    port_.send(peer, to);
  }

  static void pack(std::vector<Reading> &pieces, size_t &piece, std::span<uint8_t> room) {
    uint8_t *to = room.data();
    nextOf(pieces, piece, room.size(), [&](const uint8_t *from, size_t size) {
      std::memcpy(to, from, size);
      to += size;
    });
  }
  static std::span<const uint8_t> packed(std::vector<Reading> &pieces, std::span<uint8_t> room) {
    size_t piece = 0;
    pack(pieces, piece, room);
    return room;
  }

  /// Whether a message came, whose pieces are where they belong then.
  bool received(Steps message) {
    size_t size = sizeOf(message), piece = 0;
    uint32_t peer = message.front().peer;
    std::vector<Writing> pieces;
    for (const Step &step : message)
      pieces.push_back(writing(step));
    if (pieces.size() == 1 && pieces.front().isOneRun())
      return port_.receive(peer, {pieces.front().at(), size});
    auto take = [&](std::span<const uint8_t> bytes) {
      const uint8_t *from = bytes.data();
      nextOf(pieces, piece, bytes.size(), [&](uint8_t *to, size_t count) {
        std::memcpy(to, from, count);
        from += count;
      });
    };
    if (size >= kLeastPosted)
      return port_.receiveBy(peer, size, take);
    if (!port_.receive(peer, room(size)))
      return false;
    take(room(size));
    return true;
  }

  /// Whether a message came, and has been added as the steps behind it say.
  bool receivedInto(const Step &step, Steps sums) {
    size_t size = sizeOf(step), come = 0;
    Writing to = writing(step);
    Sums tiles = sumsOf(sums);
    auto add = [&](std::span<const uint8_t> bytes) {
      // A message comes in pieces that may end within an element. Only whole elements are added; the rest follows with the next piece.
      size_t before = come / bytes_ * bytes_;
      come += bytes.size();
      combineNext(tiles, come / bytes_ * bytes_ - before);
    };
    if (to.isOneRun())
      return port_.receiveInto(step.peer, {to.at(), size}, add);
    return port_.receiveBy(step.peer, size, [&](std::span<const uint8_t> bytes) {
      const uint8_t *from = bytes.data();
      to.next(bytes.size(), [&](uint8_t *part, size_t count) {
        std::memcpy(part, from, count);
        from += count;
      });
      add(bytes);
    });
  }

  /// Room for a small message, until the next one.
  std::span<uint8_t> room(size_t size) {
    message_.resize(std::max(message_.size(), size));
    return {message_.data(), size};
  }

  // ---- What a rank does by itself --------------------------------------------------------------------

  void copy(const Step &step) {
    // The array is there already: source and destination are the same box of the same buffer.
    if (step.from == step.to)
      return;
    Reading from = reading(step);
    Writing to = writing(step);
    if (from.isOneRun() && to.isOneRun())
      return copyByTiles(to.at(), from.at(), from.rest());
    walkBoth(to, from, from.rest(),
             [](uint8_t *a, const uint8_t *b, size_t size) { std::memcpy(a, b, size); });
  }

  /// `memcpy` of a large block goes past the caches, which takes longer here: what is copied has just been, or is about
  /// to be, fetched by others.
  static void copyByTiles(uint8_t *to, const uint8_t *from, size_t size) {
    for (size_t at = 0; at < size; at += kTile)
      std::memcpy(to + at, from + at, std::min(kTile, size - at));
  }

  struct Sum {
    Writing to;
    Reading from;
    bool fromFirst;
  };
  using Sums = std::vector<Sum>;
  Sums sumsOf(Steps steps) {
    Sums sums;
    for (const Step &step : steps)
      sums.push_back({writing(step), reading(step), step.fromFirst});
    return sums;
  }

  /// The next `size` bytes of all sums.
  void combineNext(Sums &sums, size_t size) {
    for (Sum &sum : sums)
      walkBoth(sum.to, sum.from, size, [&](uint8_t *to, const uint8_t *from, size_t part) {
        combine_(to, from, static_cast<int64_t>(part / bytes_), sum.fromFirst);
      });
  }
  void combineTiles(Steps steps) {
    Sums sums = sumsOf(steps);
    while (size_t rest = sums.front().to.rest())
      combineNext(sums, std::min(rest, kTile / bytes_ * bytes_));
  }

  const RankSteps &steps_;
  size_t bytes_;
  const CombineBytes &combine_;
  Port &port_;
  std::span<const uint8_t> source_;
  std::span<uint8_t> result_;
  std::vector<uint8_t *> scratch_; ///< the buffers behind the first two
  std::vector<uint8_t> message_;
  std::deque<GiveBytes> given_; ///< what writes messages that were posted
  std::vector<uint32_t> sentTo_;
};

} // namespace

std::optional<uint32_t> runRank(const StepList &list, uint32_t rank, size_t elementBytes,
                                std::span<const uint8_t> source, std::span<uint8_t> result,
                                const CombineBytes &combine, Port &port) {
  return RankRun(list.ranks[rank], elementBytes, source, result, combine, port).run();
}

} // namespace ptl::movement
