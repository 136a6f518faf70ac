// Watches the folders of files that were read, so that changes by other programs are noticed at
// once.
#pragma once

#include "lsp/server/callback.h"

#include <uv.h>

#include <map>
#include <memory>
#include <string>

namespace ptl::lsp {

class Watcher {
public:
  /// `onChange` gets the path of a `.ptl` or `.json` file that was written, created or removed.
  Watcher(uv_loop_t *loop, Callback<const std::string &> onChange)
      : loop_(loop), onChange_(std::move(onChange)) {}
  ~Watcher();
  Watcher(const Watcher &) = delete;

  /// Watches the folder of a file from now on.
  void watchFolderOf(const std::string &path);
  size_t size() const { return folders_.size(); }

private:
  struct Folder {
    uv_fs_event_t handle;
    Watcher *watcher;
    std::string path;
  };
  uv_loop_t *loop_;
  Callback<const std::string &> onChange_;
  std::map<std::string, Folder *> folders_; ///< closed handles are freed by libuv's callback
};

} // namespace ptl::lsp
