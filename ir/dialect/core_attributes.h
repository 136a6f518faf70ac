// What passes write down of the kinds of cores that a kernel runs on, before there is a function
// for each: read by the lowering, and by who executes the code as it is meant.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace ptl::ir {

/// Which core: of an operation on tiles of a kernel that uses the cube core (`aic`, `aiv`), and of
/// a grid as a whole (`mix` for both). Loads, constants, scalars and control flow say nothing: they
/// belong to whoever uses them.
inline constexpr llvm::StringLiteral kCoreAttr = "ptl.core";
/// Results that are handed to the other kind of core, by their numbers.
inline constexpr llvm::StringLiteral kCrossesAttr = "ptl.crosses";
/// Variables of a loop that live in the accumulator, by their numbers.
inline constexpr llvm::StringLiteral kAccumulatesAttr = "ptl.accumulates";

/// On a loop: by how many turns its first stage is ahead of the second.
inline constexpr llvm::StringLiteral kTurnsAttr = "ptl.turns_ahead";
/// Of an operation of one kind of core in such a loop: `ahead` or `behind`. Loads, constants and
/// scalars say nothing: they go with what reads them.
inline constexpr llvm::StringLiteral kTurnAttr = "ptl.turn";

} // namespace ptl::ir
