// Reading of a stream of libuv into the buffer of its owner.
#pragma once

#include <uv.h>

#include <string_view>

namespace ptl::agent {

/// Reads from `stream`, whose `data` is an `Owner`, into `Owner::buffer_`. `Owner::take` receives the
/// bytes, and `Owner::ended` is called when no more can come.
template <typename Owner> void startReading(uv_stream_t *stream) {
  uv_read_start(
      stream,
      [](uv_handle_t *handle, size_t, uv_buf_t *space) {
        auto &buffer = static_cast<Owner *>(handle->data)->buffer_;
        *space = uv_buf_init(buffer.data(), static_cast<unsigned>(buffer.size()));
      },
      [](uv_stream_t *stream, ssize_t count, const uv_buf_t *bytes) {
        auto *owner = static_cast<Owner *>(stream->data);
        if (count > 0)
          owner->take({bytes->base, static_cast<size_t>(count)});
        else if (count < 0)
          owner->ended();
      });
}

} // namespace ptl::agent
