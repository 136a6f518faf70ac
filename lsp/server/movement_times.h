// How long movements between parts take on the machines of the settings that have levels above the chip.
#pragma once

#include "lsp/ide/placed_movements.h"
#include "lsp/server/session.h"

namespace ptl::lsp {

/// `cloudmatrix384: 12.3 µs for B = 4096 (assumed)`, for each such machine, joined; empty if there is none,
/// or the movement has too many messages to be timed between two keys. In a loop it is one of many.
std::string movementTimes(const Session &session, const ide::PlacedMovement &movement);

/// The same of the movement whose call is at a range.
std::string movementTimesAt(Session &session, ide::File &file, ide::Range range);

} // namespace ptl::lsp
