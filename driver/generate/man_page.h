// Man pages: of `ptlc` and of each of its commands, from the tables of commands and options; of
// other programs from their help.
#pragma once

#include "driver/options.h"

#include <string>

namespace ptl {

/// The page of a command, or of `ptlc` itself for null, for section 1 of the manual.
std::string manPage(const CommandInfo *command, std::string_view version);

/// The page of a program of another kind, from what it prints when it is asked for help: its usage,
/// a line that says what it is, and a line for each option.
std::string manPageOfHelp(std::string_view name, std::string_view help, std::string_view version);

} // namespace ptl
