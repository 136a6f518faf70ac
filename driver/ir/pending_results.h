// Collects results for files and for the terminal, so that none becomes visible before all are
// complete.
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
  /// `announce` is called with the name of each temporary file before the file is created.
  explicit PendingResults(std::function<void(const std::string &)> announce = {})
      : announce_(std::move(announce)) {}
  ~PendingResults();
  PendingResults(const PendingResults &) = delete;

  void print(const std::string &text) { text_ += text; }
  /// Writes an array to a temporary file beside `path`; a failure is reported. If `path` is not a
  /// regular file (a pipe or a device), `commit` writes it.
  bool write(Session &session, const std::string &path, rt::OwnedArray array);
  /// Whether results for `path` can be written in parts: it must be a regular file or not exist.
  static bool takesParts(const std::string &path);
  /// Creates a temporary file of `size` bytes beside `path` that begins with `head`; other
  /// processes write the rest. Returns its name; after a failure the name is empty, and `why` has
  /// the reason.
  std::string begin(const std::string &path, const std::string &head, uint64_t size,
                    std::string &why);
  /// Renames the files to their final names and prints the text; reports failures.
  bool commit(Session &session);

private:
  struct File {
    std::string path, beside; ///< `beside`: the temporary file; empty: `commit` writes `array`
    rt::OwnedArray array;
  };

  std::function<void(const std::string &)> announce_;
  std::string text_;
  std::vector<File> files_;
};

} // namespace ptl
