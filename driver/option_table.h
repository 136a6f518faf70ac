// The table of options, for what describes the command line: help texts, man pages, completion in
// shells.
#pragma once

#include "driver/options.h"

#include <span>

namespace ptl {

/// `Maybe`: a flag that may have a value joined to it.
enum class OptionKind : uint8_t { Flag, Maybe, Value, List };

/// A set of commands, one bit each.
using CommandSet = uint32_t;
constexpr CommandSet commandBit(CommandId id) { return CommandSet(1) << static_cast<unsigned>(id); }

/// One row of `options.def`.
struct OptionInfo {
  OptionId id;
  char letter; ///< of the short form, or 0
  std::string_view name;
  OptionKind kind;
  const char *meta; ///< what the value is, as help texts write it
  CommandSet commands;
  const char *summary;

  bool isFor(CommandId command) const { return commands & commandBit(command); }
  bool takesValue() const { return kind == OptionKind::Value || kind == OptionKind::List; }
  /// `-MD` and `-MF` are written with one dash by every compiler.
  bool hasOneDash() const { return name[0] == 'M'; }
  /// The long form with its dashes.
  std::string spelled() const;
};

/// All options in order of the table.
std::span<const OptionInfo> allOptions();

} // namespace ptl
