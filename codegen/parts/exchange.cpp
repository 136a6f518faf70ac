#include "codegen/parts/exchange.h"

#include "runtime/movement/execute.h"

#include <algorithm>
#include <cstring>

namespace ptl::parts {

namespace {

/// A port on which the ranks of a group are the parts of the whole grid.
class GroupPort : public movement::Port {
public:
  GroupPort(const GroupMove &group, movement::Port &port) : group_(group), port_(port) {}
  void send(uint32_t rank, std::span<const uint8_t> bytes) override {
    port_.send(group_.parts[rank], bytes);
  }
  void post(uint32_t rank, std::span<const uint8_t> bytes) override {
    port_.post(group_.parts[rank], bytes);
  }
  void postBy(uint32_t rank, size_t size, const movement::GiveBytes &give) override {
    port_.postBy(group_.parts[rank], size, give);
  }
  bool settle(uint32_t rank) override { return port_.settle(group_.parts[rank]); }
  bool receive(uint32_t rank, std::span<uint8_t> bytes) override {
    return port_.receive(group_.parts[rank], bytes);
  }
  bool receiveBy(uint32_t rank, size_t size, const movement::TakeBytes &take) override {
    return port_.receiveBy(group_.parts[rank], size, take);
  }
  bool receiveInto(uint32_t rank, std::span<uint8_t> bytes,
                   const movement::TakeBytes &seen) override {
    return port_.receiveInto(group_.parts[rank], bytes, seen);
  }
  movement::Cost cost() const override { return port_.cost(); }
  movement::WorkMemory &memory() override { return port_.memory(); }

private:
  const GroupMove &group_;
  movement::Port &port_;
};

} // namespace

OwnResult exchangeAsRank(const GroupMove &group, const OwnPart &own, size_t elementBytes,
                         std::span<const uint8_t> source, const movement::CombineBytes &combine) {
  auto rank = static_cast<uint32_t>(std::ranges::find(group.parts, own.part) - group.parts.begin());
  const movement::Box &after = group.list.ranks[rank].buffers[movement::kResultBuffer];
  OwnResult result{Bytes(static_cast<size_t>(movement::elementCount(after)) * elementBytes),
                   std::nullopt};
  GroupPort port(group, own.port);
  if (auto silent =
          movement::runRank(group.list, rank, elementBytes, source, result.bytes, combine, port))
    result.silent = group.parts[*silent];
  return result;
}

std::vector<Bytes> exchangeTogether(const GroupMove &group, size_t elementBytes,
                                    const std::vector<Bytes> &sources, uint64_t seed,
                                    std::string &why) {
  // An element has at most eight bytes, so one word holds it: data is moved, never computed with.
  std::vector<std::vector<uint64_t>> elements;
  for (const Bytes &source : sources) {
    std::vector<uint64_t> &each = elements.emplace_back(source.size() / elementBytes);
    for (size_t i = 0; i < each.size(); ++i)
      std::memcpy(&each[i], source.data() + i * elementBytes, elementBytes);
  }
  movement::Execution<uint64_t> execution(group.list, elements, {});
  why = execution.run(seed);
  std::vector<Bytes> results;
  for (size_t rank = 0; rank < sources.size() && why.empty(); ++rank) {
    const std::vector<uint64_t> &result = execution.result(rank);
    Bytes &bytes = results.emplace_back(result.size() * elementBytes);
    for (size_t i = 0; i < result.size(); ++i)
      std::memcpy(bytes.data() + i * elementBytes, &result[i], elementBytes);
  }
  return results;
}

} // namespace ptl::parts
