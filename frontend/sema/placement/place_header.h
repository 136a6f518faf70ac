// The placements that the header of a program gives to its arrays.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/placement/placement.h"

#include <optional>
#include <span>

namespace ptl {

/// The axis that `by` names: by a dimension of the program that no other axis has as its length, or by its number, as `axis:`
/// does. Counted from the end; else why there is none.
struct NamedAxis {
  std::optional<int64_t> axis;
  std::string why = {};
};
NamedAxis namedAxis(DimContext &dims, const Tree &tree, const CallableDecl &decl,
                    std::span<const Dim> shape, NodeId node);

/// The placement written behind the type of a parameter or result, per level. Nothing after
/// reporting an impossible one.
std::optional<Placement> writtenPlacement(DimContext &dims, const Tree &tree,
                                          const CallableDecl &decl,
                                          std::span<const PlacedLevel> levels, NodeId type,
                                          const Local &local, DiagnosticSink &sink);

} // namespace ptl
