// Generates man pages: for `ptlc` and its commands from the tables of commands and options, for
// other programs from their help.
#pragma once

#include "driver/options.h"

#include <string>

namespace ptl {

/// The page of a command, or of `ptlc` itself for null, for section 1 of the manual.
std::string manPage(const CommandInfo *command, std::string_view version);

/// The page of another program, generated from its help text: its usage, a line that describes it,
/// and a line for each option.
std::string manPageOfHelp(std::string_view name, std::string_view help, std::string_view version);

} // namespace ptl
