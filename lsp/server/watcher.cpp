#include "lsp/server/watcher.h"

namespace ptl::lsp {

Watcher::~Watcher() {
  for (auto &[path, folder] : folders_) {
    folder->watcher = nullptr;
    uv_close(reinterpret_cast<uv_handle_t *>(&folder->handle),
             Entry([](uv_handle_t *handle) { delete static_cast<Folder *>(handle->data); }));
  }
}

void Watcher::watchFolderOf(const std::string &path) {
  constexpr size_t mostFolders = 256;
  size_t slash = path.rfind('/');
  if (slash == path.npos || folders_.size() >= mostFolders)
    return;
  std::string folder = path.substr(0, slash);
  if (folders_.contains(folder))
    return;
  auto *watched = new Folder{{}, this, folder};
  uv_fs_event_init(loop_, &watched->handle);
  watched->handle.data = watched;
  Entry onEvent([](uv_fs_event_t *handle, const char *name, int, int status) {
    auto *folder = static_cast<Folder *>(handle->data);
    std::string file = name ? name : "";
    if (status == 0 && folder->watcher && (file.ends_with(".ptl") || file.ends_with(".json")))
      folder->watcher->onChange_(folder->path + "/" + file);
  });
  if (uv_fs_event_start(&watched->handle, onEvent, folder.c_str(), 0) != 0) {
    uv_close(reinterpret_cast<uv_handle_t *>(&watched->handle),
             Entry([](uv_handle_t *handle) { delete static_cast<Folder *>(handle->data); }));
    return;
  }
  // Watching alone keeps no server alive.
  uv_unref(reinterpret_cast<uv_handle_t *>(&watched->handle));
  folders_[folder] = watched;
}

} // namespace ptl::lsp
