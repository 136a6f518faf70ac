#include "runtime/cache_size.h"

#include "common/read_number.h"
#include "runtime/abi/kernel_abi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace ptl::rt {
namespace {

// Where the system does not say how large the last cache is: larger than most.
constexpr int64_t kUnknownCache = int64_t(64) << 20;

/// The size of a cache of the first processor as the system writes it, as in `32768K`; 0 if there is no such cache.
int64_t cacheBytes(int index) {
  std::string path = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size";
  std::FILE *file = std::fopen(path.c_str(), "r");
  if (!file)
    return 0;
  long long number = 0;
  char unit = 0;
  int found = std::fscanf(file, "%lld%c", &number, &unit);
  std::fclose(file);
  if (found < 1 || number < 0)
    return 0;
  int shift = found < 2 ? 0 : unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0;
  return static_cast<int64_t>(number) << shift;
}

int64_t findStreamedFrom() {
  if (const char *text = std::getenv("PTL_STREAM_BYTES"); text && *text) {
    if (std::optional<int64_t> bytes = integerIn(text); bytes && *bytes >= 0)
      return *bytes;
    std::fprintf(stderr, "ptl: PTL_STREAM_BYTES=%s is ignored: it is not a number of bytes\n",
                 text);
  }
  // The C library's answer is that of the processor, which in a virtual machine is not what there is.
  int64_t largest = 0;
  for (int index = 0; index < 8; ++index)
    largest = std::max(largest, cacheBytes(index));
  return std::max<int64_t>(largest ? largest : kUnknownCache, PTL_RT_LEAST_STREAMED);
}

} // namespace

int64_t streamedFromBytes() {
  static const int64_t bytes = findStreamedFrom();
  return bytes;
}

} // namespace ptl::rt
