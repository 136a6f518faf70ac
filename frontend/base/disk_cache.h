// A cache on disk that is shared by processes: native code that was compiled before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ptl {

/// Values by key, each a file of one folder. Several processes may use the folder at once, may be
/// killed at any time, and may be of different versions: a value appears atomically, by rename, and
/// a value that is truncated, altered or of another format counts as missing. No call fails: a
/// cache that cannot be used behaves like an empty one.
///
/// Cached code is executed, so a folder is used only if it belongs to this user and nobody else
/// may write to it.
class DiskCache {
public:
  static constexpr uint64_t kDefaultLimit = uint64_t(256) << 20;

  /// `limit` bounds the bytes of all files in the folder after a value has been stored.
  explicit DiskCache(std::string folder, uint64_t limit = kDefaultLimit)
      : folder_(std::move(folder)), limit_(limit) {}

  /// The user's cache: the folder `PTL_CACHE`, otherwise `ptl` in `XDG_CACHE_HOME` or in
  /// `~/.cache`; its limit is `PTL_CACHE_LIMIT` in MiB. Null if `PTL_CACHE` is `off`, or no such
  /// folder can be determined.
  static std::shared_ptr<const DiskCache> ofUser();

  const std::string &folder() const { return folder_; }
  uint64_t limit() const { return limit_; }

  /// The value of a key, which becomes the most recently used one. Keys are file names: letters and
  /// digits.
  std::optional<std::string> find(std::string_view key) const;
  /// Stores a value, then evicts the least recently used values until the limit holds. A value that
  /// exceeds the limit is not stored.
  void store(std::string_view key, std::string_view value) const;

  struct Usage {
    uint64_t files = 0, bytes = 0;
  };
  Usage usage() const;
  /// Removes all values, and returns what was removed.
  Usage clear() const;

private:
  bool isUsable() const;
  void keepLimit() const;

  std::string folder_;
  uint64_t limit_;
};

} // namespace ptl
