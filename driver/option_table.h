// The table of options, for everything that describes the command line: help, man pages, and shell
// completion.
#pragma once

#include "driver/options.h"

#include <span>

namespace ptl {

/// `Maybe`: a flag that may have a value joined to it (`--name=value`).
enum class OptionKind : uint8_t { Flag, Maybe, Value, List };

/// A set of commands, one bit for each.
using CommandSet = uint32_t;
constexpr CommandSet commandBit(CommandId id) { return CommandSet(1) << static_cast<unsigned>(id); }

/// One row of `options.def`.
struct OptionInfo {
  OptionId id;
  char letter; ///< of the short form, or 0
  std::string_view name;
  OptionKind kind;
  const char *meta; ///< placeholder of the value in help texts
  CommandSet commands;
  const char *summary;

  bool isFor(CommandId command) const { return commands & commandBit(command); }
  bool takesValue() const { return kind == OptionKind::Value || kind == OptionKind::List; }
  /// `-MD` and `-MF` have a single dash, as in every compiler.
  bool hasOneDash() const { return name[0] == 'M'; }
  /// The long form, including its dashes.
  std::string spelled() const;
};

/// All options in order of the table.
std::span<const OptionInfo> allOptions();

} // namespace ptl
