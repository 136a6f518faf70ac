// The features that a machine has at the block level.
#pragma once

#include "frontend/sema/block/checked_block.h"
#include "machines/machine.h"

#include <functional>

namespace ptl {

/// The name of an element type; empty if it is not known yet.
using ElemNamer = std::function<std::string_view(const Elem &)>;

/// Why a machine cannot run an instruction, as a sentence without a full stop; empty if it can.
std::string whyNotOn(const Machine &machine, const BlockExpr &call, const ElemNamer &elemName);
/// Why a machine cannot have a buffer of that type, whose extents are numbers; likewise.
std::string whyNoBuffer(const Machine &machine, const Type &type, const ElemNamer &elemName);

} // namespace ptl
