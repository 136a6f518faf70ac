// Man pages of `ptlc` and of each of its commands, from the tables of commands and options.
#pragma once

#include "driver/options.h"

#include <string>

namespace ptl {

/// The page of a command, or of `ptlc` itself for null, for section 1 of the manual.
std::string manPage(const CommandInfo *command, std::string_view version);

} // namespace ptl
