// Shows what an expression became at one stage.
#pragma once

#include "lsp/worker/channel.h"
#include "lsp/worker/stage.h"

#include <functional>

namespace ptl::worker {

/// `{stage, languageId, lines: [{line, text}], total}`, or `{stage, languageId, lines: [], reason}`
/// when no line belongs to the expression. `built` is the first stage with operations (null: not
/// there), from which the reason is found; `now` returns the present place of a range of the map;
/// `range` is a present place.
Json hoverJson(const StageText &stage, StageId id, const StageText *built, Span range,
               const std::function<Span(Span)> &now, size_t limit);

} // namespace ptl::worker
