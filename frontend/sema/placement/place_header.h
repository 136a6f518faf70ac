// The placements that the header of a program gives to its arrays.
#pragma once

#include "frontend/base/diagnostic.h"
#include "frontend/sema/placement/placement.h"

#include <optional>
#include <span>

namespace ptl {

/// The only axis of that length, counted from the end.
std::optional<int64_t> axisOfLength(std::span<const Dim> shape, Dim length);

/// The dimension of the program that a node names; unknown for another node.
Dim namedDim(DimContext &dims, const Tree &tree, const CallableDecl &decl, NodeId node);

/// The placement written behind the type of a parameter or result, per level. Nothing after
/// reporting an impossible one.
std::optional<Placement> writtenPlacement(DimContext &dims, const Tree &tree,
                                          const CallableDecl &decl,
                                          std::span<const PlacedLevel> levels, NodeId type,
                                          const Local &local, DiagnosticSink &sink);

} // namespace ptl
