// Shows the code of an expression at one stage.
#pragma once

#include "lsp/worker/channel.h"
#include "lsp/worker/stage.h"

#include <functional>

namespace ptl::worker {

/// Returns `{stage, languageId, lines: [{line, text}], total}`, or `{stage, languageId, lines: [],
/// reason}` if no line belongs to the expression. `built` is the first stage with operations (may
/// be null), from which the reason is derived; `now` maps a range of the line map to the present
/// text; `range` is in the present text.
Json hoverJson(const StageText &stage, StageId id, const StageText *built, Span range,
               const std::function<Span(Span)> &now, size_t limit);

} // namespace ptl::worker
