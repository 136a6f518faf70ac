// The times of movements between parts, on the machines of the settings that have levels above the
// chip.
#pragma once

#include "lsp/ide/placed_movements.h"
#include "lsp/server/session.h"

namespace ptl::lsp {

/// `cloudmatrix384: 12.3 µs for B = 4096 (assumed)` for each such machine, joined. Empty if there
/// is none, or if the movement has too many messages to be simulated between two keystrokes. In a
/// loop it is the time of one execution.
std::string movementTimes(const Session &session, const ide::PlacedMovement &movement);

/// The same for the movement whose call is at a range.
std::string movementTimesAt(Session &session, ide::File &file, ide::Range range);

} // namespace ptl::lsp
