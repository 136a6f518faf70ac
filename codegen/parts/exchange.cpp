#include "codegen/parts/exchange.h"

#include "runtime/movement/execute.h"

#include <algorithm>
#include <utility>

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

/// With elements that are `Word`s: parts have as much memory as their elements take.
template <typename Word>
static std::string exchangeWords(const GroupMove &group, std::vector<Bytes> sources,
                                 const movement::CombineBytes &combine, uint64_t seed,
                                 const TakeResult &take) {
  std::vector<std::vector<Word>> words;
  for (Bytes &source : sources) {
    std::vector<Word> &each = words.emplace_back(source.size() / sizeof(Word));
    std::ranges::copy(source, reinterpret_cast<uint8_t *>(each.data()));
    source = Bytes();
  }
  auto combineWords = [&combine](Word *to, const Word *from, size_t count, bool fromFirst) {
    combine(reinterpret_cast<uint8_t *>(to), reinterpret_cast<const uint8_t *>(from),
            static_cast<int64_t>(count), fromFirst);
  };
  movement::Execution<Word> execution(group.list, std::move(words), combineWords);
  if (std::string why = execution.run(seed); !why.empty())
    return why;
  for (size_t rank = 0; rank < sources.size(); ++rank) {
    const std::vector<Word> result = execution.takeResult(rank);
    take(rank, {reinterpret_cast<const uint8_t *>(result.data()), result.size() * sizeof(Word)});
  }
  return {};
}

std::string exchangeTogether(const GroupMove &group, size_t elementBytes,
                             std::vector<Bytes> sources, const movement::CombineBytes &combine,
                             uint64_t seed, const TakeResult &take) {
  // Elements of all types have one of these sizes.
  switch (elementBytes) {
  case 1:
    return exchangeWords<uint8_t>(group, std::move(sources), combine, seed, take);
  case 2:
    return exchangeWords<uint16_t>(group, std::move(sources), combine, seed, take);
  case 4:
    return exchangeWords<uint32_t>(group, std::move(sources), combine, seed, take);
  default:
    return exchangeWords<uint64_t>(group, std::move(sources), combine, seed, take);
  }
}

} // namespace ptl::parts
