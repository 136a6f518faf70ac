// What the benchmarks of ranks share: movements through a plug-in, and sums of floats.
#pragma once

#include "runtime/movement/run_rank.h"
#include "runtime/ranks/ranks.h"

#include <dlfcn.h>

namespace ptl::bench {

using namespace movement;

class PluginPort : public Port {
public:
  explicit PluginPort(const PtlRanks &ranks) : ranks_(ranks) {}
  void send(uint32_t rank, std::span<const uint8_t> bytes) override {
    ranks_.send(static_cast<int32_t>(rank), bytes.data(), bytes.size());
  }
  void post(uint32_t rank, std::span<const uint8_t> bytes) override {
    ranks_.post(static_cast<int32_t>(rank), bytes.size(), nullptr,
                const_cast<uint8_t *>(bytes.data()));
  }
  void postBy(uint32_t rank, size_t size, const GiveBytes &give) override {
    auto next = [](void *message, void *bytes, size_t count) {
      (*static_cast<const GiveBytes *>(message))({static_cast<uint8_t *>(bytes), count});
    };
    ranks_.post(static_cast<int32_t>(rank), size, next, const_cast<GiveBytes *>(&give));
  }
  bool settle(uint32_t rank) override { return ranks_.settle(static_cast<int32_t>(rank), 60) == 0; }
  bool receive(uint32_t rank, std::span<uint8_t> bytes) override {
    return receive(rank, bytes.size(), bytes.data(), nullptr);
  }
  bool receiveBy(uint32_t rank, size_t size, const TakeBytes &take) override {
    return receive(rank, size, nullptr, &take);
  }
  bool receiveInto(uint32_t rank, std::span<uint8_t> bytes, const TakeBytes &seen) override {
    return receive(rank, bytes.size(), bytes.data(), &seen);
  }
  Cost cost() const override {
    Cost cost;
    cost.ranksPerCore = ranks_.ranksPerCore;
    return cost;
  }

private:
  bool receive(uint32_t rank, size_t size, void *place, const TakeBytes *take) {
    auto next = [](void *message, void *bytes, size_t count) {
      (*static_cast<const TakeBytes *>(message))({static_cast<uint8_t *>(bytes), count});
    };
    return ranks_.receive(static_cast<int32_t>(rank), size, place, take ? +next : nullptr,
                          const_cast<TakeBytes *>(take), 60) == 0;
  }

  const PtlRanks &ranks_;
};

inline void addFloats(uint8_t *to, const uint8_t *from, int64_t count, bool) {
  auto *sum = reinterpret_cast<float *>(to);
  const auto *other = reinterpret_cast<const float *>(from);
  for (int64_t i = 0; i < count; ++i)
    sum[i] += other[i];
}

/// Begins the ranks of that plug-in; null if there is none.
inline const PtlRanks *openRanks(const char *plugin) {
  void *library = ::dlopen(plugin, RTLD_NOW | RTLD_GLOBAL);
  auto open = reinterpret_cast<PtlRanksOpen>(library ? ::dlsym(library, PTL_RANKS_OPEN) : nullptr);
  return open ? open() : nullptr;
}

} // namespace ptl::bench
