// `--emit=graph`, `graph:svg` and `graph:html`.
#pragma once

#include "compile/compile_context.h"
#include "compile/graph/program_graph.h"
#include "driver/ir/variants.h"
#include "driver/session.h"
#include "driver/target.h"

#include <optional>
#include <vector>

namespace ptl {

/// The graphs of all variants, with times if those of the target are known. Nothing after an error.
std::optional<std::vector<ProgramGraph>> graphsOf(Session &session, const CompileContext &context,
                                                  const Target &target,
                                                  const std::vector<ManifestEntry> &entries);

} // namespace ptl
