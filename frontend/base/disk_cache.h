// A folder of results that are kept from process to process: native code that was compiled before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ptl {

/// Values by key, as files of one folder. Processes may use one folder at once, be killed at any
/// time, and be of other versions: a value appears whole, by rename, and what is truncated, changed
/// or of another form is as if it were not there. No call fails: a cache that cannot be used is an
/// empty one.
///
/// What is found may be executed, so a folder is used only if it belongs to this user and nobody
/// else may write there.
class DiskCache {
public:
  static constexpr uint64_t kDefaultLimit = uint64_t(256) << 20;

  /// `limit`: how many bytes all files of the folder may take after a value was stored.
  explicit DiskCache(std::string folder, uint64_t limit = kDefaultLimit)
      : folder_(std::move(folder)), limit_(limit) {}

  /// The user's cache: the folder `PTL_CACHE`, otherwise `ptl` in `XDG_CACHE_HOME` or in `~/.cache`;
  /// its limit is `PTL_CACHE_LIMIT` in MiB. Null if `PTL_CACHE` is `off`, or there is no such place.
  static std::shared_ptr<const DiskCache> ofUser();

  const std::string &folder() const { return folder_; }
  uint64_t limit() const { return limit_; }

  /// The value of a key, which becomes the most recently used one. Keys are file names: letters and
  /// digits.
  std::optional<std::string> find(std::string_view key) const;
  /// Keeps a value, then removes the values that were not used for longest until the limit holds. A
  /// value that is larger than the limit is not kept.
  void store(std::string_view key, std::string_view value) const;

  struct Usage {
    uint64_t files = 0, bytes = 0;
  };
  Usage usage() const;
  /// Removes all values, and gives what was removed.
  Usage clear() const;

private:
  bool isUsable() const;
  void keepLimit() const;

  std::string folder_;
  uint64_t limit_;
};

} // namespace ptl
