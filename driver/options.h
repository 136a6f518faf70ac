// The command line of `ptlc`, parsed by two tables: `commands.def` and `options.def`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptl {

/// The exit code of `ptlc`.
enum class ExitCode : int {
  Fine = 0,
  SourceErrors = 1,   ///< errors in the source
  Usage = 2,          ///< wrong usage
  Missing = 3,        ///< a needed tool, device or feature is missing
  Internal = 4,       ///< error in the compiler
  ProgramStopped = 5, ///< the program that was run stopped: a `where`, an `assert` or a bound
};

enum class CommandId : uint8_t {
#define COMMAND(ID, NAME, HOME, ARGUMENTS, SUMMARY) ID,
#include "driver/commands.def"
};

enum class CommandHome : uint8_t { Front, Ir };

struct CommandInfo {
  CommandId id;
  const char *name;
  CommandHome home;
  const char *arguments;
  const char *summary;
};

/// All commands in order of the table.
const std::vector<CommandInfo> &allCommands();
/// The command of that name, or null.
const CommandInfo *findCommand(std::string_view name);
/// The command whose name is closest to `name`, for a suggestion, or null.
const CommandInfo *similarCommand(std::string_view name);

enum class OptionId : uint8_t {
#define OPTION(ID, SHORT, LONG, KIND, META, COMMANDS, SUMMARY) ID,
#include "driver/options.def"
  Count,
};

/// One command line: options with their values in order, and everything that is not an option.
class Options {
public:
  bool has(OptionId id) const { return !values(id).empty(); }
  /// The last value of an option; empty if it was not given.
  std::string_view value(OptionId id) const {
    return has(id) ? std::string_view(values(id).back()) : std::string_view();
  }
  /// The value as a number; nothing if it was not given or is not one.
  std::optional<int64_t> number(OptionId id) const;
  /// All values in order; a flag has one empty value each time it was given.
  const std::vector<std::string> &values(OptionId id) const {
    return values_[static_cast<size_t>(id)];
  }
  const std::vector<std::string> &positional() const { return positional_; }

  void add(OptionId id, std::string value) {
    values_[static_cast<size_t>(id)].push_back(std::move(value));
  }
  void addPositional(std::string text) { positional_.push_back(std::move(text)); }

private:
  std::array<std::vector<std::string>, static_cast<size_t>(OptionId::Count)> values_;
  std::vector<std::string> positional_;
};

/// A parsed command line, or why it is wrong.
struct ParsedOptions {
  Options options;
  std::string error; ///< empty if the command line is right
};

/// Parses the arguments after the command's name. `--` ends the options.
ParsedOptions parseOptions(const CommandInfo &command, const std::vector<std::string> &arguments);

/// What is wrong with a value of an option that takes a number; empty if nothing is.
std::string numberProblem(const Options &options);

/// Which option has no effect because another one is missing; empty if none.
std::string needProblem(CommandId command, const Options &options);

/// Replaces each `@file` by the arguments in the file: separated by white space, with quotes and
/// backslashes as in a shell. `name=@file` stays. On failure `error` says why.
std::vector<std::string> expandResponseFiles(int argc, char **argv, std::string *error);

/// The help text of one command, or of `ptlc` itself for null.
std::string helpText(const CommandInfo *command);

} // namespace ptl
