// A helper for tests of completion and the like: a source with a mark `$0` at the cursor.
#pragma once

#include "lsp/ide/test_options.h"

#include <string>
#include <string_view>

namespace ptl::ide {

struct MarkedSource {
  Workspace workspace;
  File *file = nullptr;
  uint32_t cursor = 0;

  explicit MarkedSource(std::string text) : workspace(testOptions()) {
    size_t mark = text.find("$0");
    if (mark != text.npos) {
      cursor = static_cast<uint32_t>(mark);
      text.erase(mark, 2);
    }
    file = &workspace.open("/test/marked.ptl", text, 1);
  }
};

/// A kernel with the mark inside; a test replaces lines of it.
inline constexpr std::string_view kAttention = R"(import std.nn

/// Attention of tiles.
pub kernel attention[S, T, static D](
    q: f32[S, D], k: f32[T, D], v: f32[T, D], scale: f32
) -> (o: f32[S, D])
where S <= T
tune BQ = 64, BK: [64, 128] = 128
{
    parallel i in tiles(S, BQ) {
        let qi = q[i, :]
        var m = full(f32[i, 1], -inf)
        for j in tiles(T, BK) pipeline 2 {
            let kj = k[j, :]
            let s = (qi @ kj.T) * scale
            m = max(m, max(s, axis: 1))
        }
        o[i, :] = qi + m
    }
}
)";

/// `kAttention` with a text of it replaced.
inline std::string attentionWith(std::string_view from, std::string_view to) {
  std::string text(kAttention);
  return text.replace(text.find(from), from.size(), to);
}

} // namespace ptl::ide
