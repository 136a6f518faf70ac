// Costs as text and as JSON.
#pragma once

#include "compile/cost/cost.h"

namespace ptl {

/// The cost in the form of docs/schemas/cost.json; `place` returns the members that describe a span.
nlohmann::json costJson(const Cost &cost, const std::function<nlohmann::json(Span)> &place);
/// Several costs as one document: `{"costs": […]}`, with `file`, `line`, `column` … as places.
std::string costDocument(const std::vector<Cost> &costs, const SourceManager &sources);
/// The cost as text for people: `softmax on a3: 41.2 us · cube-bound 87 %`, the dominant statement,
/// and hints.
std::string costText(const Cost &cost, const SourceManager &sources);

} // namespace ptl
