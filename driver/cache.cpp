#include "driver/commands.h"
#include "frontend/base/disk_cache.h"

#include <cstdio>

namespace ptl {

static std::string text(const DiskCache::Usage &usage) {
  char bytes[32];
  std::snprintf(bytes, sizeof bytes, "%.1f", static_cast<double>(usage.bytes) / (1 << 20));
  return std::to_string(usage.files) + (usage.files == 1 ? " file, " : " files, ") + bytes + " MiB";
}

ExitCode runCache(const Options &options) {
  bool clears = !options.positional().empty() && options.positional().front() == "clear";
  if (options.positional().size() > (clears ? 1 : 0))
    return usageError("`ptlc cache` shows the cache, `ptlc cache clear` empties it");
  std::shared_ptr<const DiskCache> cache = DiskCache::ofUser();
  if (!cache) {
    std::printf("the cache is off: PTL_CACHE is `off`, or there is no home folder\n");
    return ExitCode::Fine;
  }
  if (clears)
    std::printf("%s: removed %s\n", cache->folder().c_str(), text(cache->clear()).c_str());
  else
    std::printf("%s: %s of at most %llu MiB\n", cache->folder().c_str(),
                text(cache->usage()).c_str(),
                static_cast<unsigned long long>(cache->limit() >> 20));
  return ExitCode::Fine;
}

} // namespace ptl
