// Results on their way to files and to the terminal: nothing is seen of them before all are complete.
#pragma once

#include "driver/session.h"
#include "runtime/npy/npy.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ptl {

class PendingResults {
public:
  /// `announce` is told the name of each file before it is made.
  explicit PendingResults(std::function<void(const std::string &)> announce = {})
      : announce_(std::move(announce)) {}
  ~PendingResults();
  PendingResults(const PendingResults &) = delete;

  void print(const std::string &text) { text_ += text; }
  /// Writes an array beside `path`; reports if it cannot. What is no file gets it at the end.
  bool write(Session &session, const std::string &path, rt::OwnedArray array);
  /// Whether results for `path` can be written in parts: it is a file, or none yet.
  static bool takesParts(const std::string &path);
  /// Makes a file beside `path` that begins with `head` and has so many bytes, for others to write into.
  /// Its name; empty, and the reason, if it cannot be.
  std::string begin(const std::string &path, const std::string &head, uint64_t size,
                    std::string &why);
  /// Puts all where it belongs; reports what cannot be.
  bool commit(Session &session);

private:
  struct File {
    std::string path, beside; ///< nothing beside: it is written at the end
    rt::OwnedArray array;
  };

  std::function<void(const std::string &)> announce_;
  std::string text_;
  std::vector<File> files_;
};

} // namespace ptl
