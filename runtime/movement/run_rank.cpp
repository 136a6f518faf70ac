#include "runtime/movement/run_rank.h"

#include "runtime/movement/execute.h"

#include <algorithm>
#include <cstring>

namespace ptl::movement {

namespace {

class RankRun {
public:
  RankRun(const RankSteps &steps, size_t elementBytes, std::span<const uint8_t> source,
          std::span<uint8_t> result, const CombineBytes &combine, Port &port)
      : steps_(steps), bytes_(elementBytes), combine_(combine), port_(port), source_(source),
        result_(result) {
    for (const Box &box : steps.buffers)
      scratch_.emplace_back(
          scratch_.size() > kResultBuffer ? static_cast<size_t>(elementCount(box)) * bytes_ : 0);
  }

  std::optional<uint32_t> run() {
    for (const Step &step : steps_.steps) {
      size_t size = static_cast<size_t>(elementCount(step.box)) * bytes_;
      if (message_.size() < size)
        message_.resize(size);
      std::span<uint8_t> message(message_.data(), size);
      if (step.kind != StepKind::Receive)
        gather(step, message);
      if (step.kind == StepKind::Send)
        port_.send(step.peer, message);
      else if (step.kind == StepKind::Receive && !port_.receive(step.peer, message))
        return step.peer;
      if (step.kind != StepKind::Send)
        scatter(step, message);
    }
    return std::nullopt;
  }

private:
  const uint8_t *readable(uint32_t buffer) const {
    return buffer == kSourceBuffer   ? source_.data()
           : buffer == kResultBuffer ? result_.data()
                                     : scratch_[buffer].data();
  }
  uint8_t *writable(uint32_t buffer) {
    return buffer == kResultBuffer ? result_.data() : scratch_[buffer].data();
  }

  void gather(const Step &step, std::span<uint8_t> message) const {
    uint8_t *to = message.data();
    forEachRow(steps_.buffers[step.from], step.box, [&](int64_t offset, int64_t length) {
      size_t size = static_cast<size_t>(length) * bytes_;
      std::memcpy(to, readable(step.from) + static_cast<size_t>(offset) * bytes_, size);
      to += size;
    });
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
  std::vector<std::vector<uint8_t>> scratch_; ///< per buffer; of the first two, nothing
  std::vector<uint8_t> message_;
};

} // namespace

std::optional<uint32_t> runRank(const StepList &list, uint32_t rank, size_t elementBytes,
                                std::span<const uint8_t> source, std::span<uint8_t> result,
                                const CombineBytes &combine, Port &port) {
  return RankRun(list.ranks[rank], elementBytes, source, result, combine, port).run();
}

} // namespace ptl::movement
