// Completion of command lines in shells, generated from the tables of commands and options.
#pragma once

#include "driver/option_table.h"

#include <span>
#include <string>
#include <vector>

namespace ptl {

/// The words that may stand at one place of a command line.
struct Completion {
  enum class Paths : uint8_t { None, Folders, Files, Sources };
  std::vector<std::string> words;
  Paths paths = Paths::None; ///< `Sources` are `.ptl` files
};

/// The values of an option.
Completion completionOf(const OptionInfo &option);
/// The arguments of a command that are not options.
Completion completionOf(const CommandInfo &command);

/// A shell, and the function that writes the completion script of `ptlc` for it.
struct CompletedShell {
  const char *name;
  std::string (*script)();
};

std::span<const CompletedShell> completedShells();

std::string bashCompletion();
std::string zshCompletion();
std::string fishCompletion();

} // namespace ptl
