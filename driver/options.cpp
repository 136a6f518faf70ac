#include "common/read_number.h"
#include "driver/option_table.h"

#include "compile/stage_table.h"
#include "frontend/base/explain.h"

#include <algorithm>
#include <limits>

namespace ptl {

namespace {

/// Sets of commands that rows of the table name.
constexpr CommandSet of(CommandId id) { return commandBit(id); }
constexpr CommandSet All = ~CommandSet(0);
constexpr CommandSet Code = of(CommandId::Build) | of(CommandId::Run) | of(CommandId::Test) |
                            of(CommandId::Bench) | of(CommandId::Sim) | of(CommandId::Lower) |
                            of(CommandId::Tune);
constexpr CommandSet Artefacts = of(CommandId::Build) | of(CommandId::Run) | of(CommandId::Lower);
constexpr CommandSet Sources =
    Code | of(CommandId::Check) | of(CommandId::Fmt) | of(CommandId::Doc) | of(CommandId::Debug);

/// The values of `--emit=`, from the table of stages: `tokens tree …; chips: host block …`.
constexpr std::array kEmittedStages = [] {
  std::array<char, 256> text{};
  size_t size = 0;
  auto put = [&](std::string_view words) {
    for (char c : words)
      text[size++] = c;
  };
  for (bool ofChips : {false, true}) {
    put(ofChips ? "; chips:" : "");
    for (const StageInfo &info : stageInfos)
      if (info.isEmitted() && (info.machine == StageMachine::Chip) == ofChips) {
        put(size ? " " : "");
        put(info.emittedName());
      }
  }
  return text;
}();

using Kind = OptionKind;
constexpr OptionInfo kOptions[] = {
#define OPTION(ID, SHORT, LONG, KIND, META, COMMANDS, SUMMARY)                                     \
  {OptionId::ID, SHORT, LONG, Kind::KIND, META, COMMANDS, SUMMARY},
#include "driver/options.def"
};

/// Options that have no effect without another one.
struct Need {
  CommandId command;
  OptionId option, needs;
};
constexpr Need kNeeds[] = {
    {CommandId::Check, OptionId::Budget, OptionId::Cost},
    {CommandId::Check, OptionId::Rounds, OptionId::Cost},
    {CommandId::Build, OptionId::Verify, OptionId::Emit},
    {CommandId::Build, OptionId::PtoIsa, OptionId::Verify},
    {CommandId::Run, OptionId::InProcess, OptionId::Shape},
    {CommandId::Run, OptionId::Patience, OptionId::Shape},
    {CommandId::Run, OptionId::CheckPool, OptionId::Shape},
    {CommandId::Sim, OptionId::FoundPages, OptionId::Shape},
    {CommandId::Sim, OptionId::Rounds, OptionId::Shape},
};

const OptionInfo &infoOf(OptionId id) { return *std::ranges::find(kOptions, id, &OptionInfo::id); }

/// An argument split into the option it names and the value that is joined to it.
struct Spelled {
  const OptionInfo *option = nullptr;
  std::optional<std::string_view> joined;
};

/// Finds the option of an argument. If several options have the name, it is the one that the
/// commands in `self` have, otherwise any of them.
Spelled matchArgument(std::string_view argument, CommandSet self) {
  bool isLong = argument.substr(0, 2) == "--";
  std::string_view name = argument.substr(isLong ? 2 : 1);
  size_t equals = name.find('=');
  Spelled found;
  for (const OptionInfo &option : kOptions) {
    // One name may be an option of several commands with different meanings.
    if (found.option && !(option.commands & self))
      continue;
    if ((isLong || option.hasOneDash()) && name.substr(0, equals) == option.name) {
      found = {&option, std::nullopt};
      if (equals != name.npos)
        found.joined = name.substr(equals + 1);
    } else if (!isLong && !name.empty() && option.letter == name[0]) {
      found = {&option, std::nullopt};
      if (name.size() > 1)
        // A short option may have its value directly behind it, as in `-O2`.
        found.joined = name.substr(1);
    }
  }
  return found;
}

std::string unknownOption(std::string_view argument, CommandSet command) {
  std::string text = "unknown option `" + std::string(argument) + "`";
  std::string_view name = argument.substr(0, argument.find('='));
  name.remove_prefix(std::min(name.size(), name.find_first_not_of('-')));
  const OptionInfo *best = nullptr;
  // More than two wrong letters are no typing error.
  size_t bestDistance = 3;
  for (const OptionInfo &option : kOptions) {
    size_t distance = editDistance(name, option.name);
    if ((option.commands & command) && distance < bestDistance) {
      best = &option;
      bestDistance = distance;
    }
  }
  if (best)
    text += "; did you mean `--" + std::string(best->name) + "`?";
  return text;
}

} // namespace

std::span<const OptionInfo> allOptions() { return kOptions; }

std::string OptionInfo::spelled() const { return (hasOneDash() ? "-" : "--") + std::string(name); }

const std::vector<CommandInfo> &allCommands() {
  static const std::vector<CommandInfo> commands = {
#define COMMAND(ID, NAME, HOME, ARGUMENTS, SUMMARY)                                                \
  {CommandId::ID, NAME, CommandHome::HOME, ARGUMENTS, SUMMARY},
#include "driver/commands.def"
  };
  return commands;
}

const CommandInfo *findCommand(std::string_view name) {
  for (const CommandInfo &command : allCommands())
    if (name == command.name)
      return &command;
  return nullptr;
}

const CommandInfo *similarCommand(std::string_view name) {
  const CommandInfo *best = nullptr;
  size_t bestDistance = 3;
  for (const CommandInfo &command : allCommands()) {
    size_t distance = editDistance(name, command.name);
    if (distance < bestDistance) {
      best = &command;
      bestDistance = distance;
    }
  }
  return best;
}

std::optional<int64_t> Options::number(OptionId id) const { return integerIn(value(id)); }

ParsedOptions parseOptions(const CommandInfo &command, const std::vector<std::string> &arguments) {
  ParsedOptions parsed;
  CommandSet self = of(command.id);
  bool optionsEnded = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    // A single `-` is standard input.
    if (optionsEnded || argument.size() < 2 || argument[0] != '-') {
      parsed.options.addPositional(argument);
      continue;
    }
    if (argument == "--") {
      optionsEnded = true;
      continue;
    }
    Spelled spelled = matchArgument(argument, self);
    if (!spelled.option || (spelled.option->kind == Kind::Flag && spelled.joined)) {
      parsed.error = unknownOption(argument, self);
      return parsed;
    }
    if (!(spelled.option->commands & self)) {
      parsed.error = "`" + argument + "` is not an option of `" + command.name + "`";
      return parsed;
    }
    // A value that may be left out has to be joined, or the next argument would be taken for it.
    if (spelled.option->kind == Kind::Flag || spelled.option->kind == Kind::Maybe) {
      parsed.options.add(spelled.option->id, std::string(spelled.joined.value_or("")));
      continue;
    }
    if (!spelled.joined && i + 1 == arguments.size()) {
      parsed.error = "`" + argument + "` needs a value: " + spelled.option->meta;
      return parsed;
    }
    parsed.options.add(spelled.option->id,
                       spelled.joined ? std::string(*spelled.joined) : arguments[++i]);
  }
  return parsed;
}

/// The largest value of an option that takes a number: what its help text calls `N`, `SECONDS` or `0..3`.
static std::optional<int64_t> mostOf(const OptionInfo &option) {
  std::string_view meta = option.meta;
  if (meta == "0..3")
    return 3;
  if (meta == "SECONDS")
    return 1'000'000'000;
  if (meta != "N")
    return std::nullopt;
  return option.id == OptionId::Seed   ? std::numeric_limits<int64_t>::max()
         : option.id == OptionId::Port ? std::numeric_limits<uint16_t>::max()
                                       : std::numeric_limits<int32_t>::max();
}

std::string numberProblem(const Options &options) {
  for (const OptionInfo &option : kOptions) {
    std::optional<int64_t> limit = mostOf(option);
    // Each is looked at, although the last one counts: a wrong one was not meant.
    for (const std::string &value :
         limit ? options.values(option.id) : std::vector<std::string>()) {
      std::optional<int64_t> number = integerIn(value);
      if (!number || *number < 0 || *number > *limit)
        return "`" + option.spelled() + " " + value + "`: a whole number from 0 to " +
               std::to_string(*limit) + " is expected";
    }
  }
  return {};
}

std::string needProblem(CommandId command, const Options &options) {
  for (const Need &need : kNeeds)
    // What is ignored in silence was meant to have an effect.
    if (need.command == command && options.has(need.option) && !options.has(need.needs))
      return "`" + infoOf(need.option).spelled() + "` has no effect without `" +
             infoOf(need.needs).spelled() + "`";
  return {};
}

static std::string optionHelp(const OptionInfo &option) {
  std::string left = "  ";
  if (option.letter)
    left += std::string("-") + option.letter + ", ";
  left += option.spelled();
  if (*option.meta)
    left += std::string(option.kind <= Kind::Maybe ? "" : " ") + option.meta;
  left.resize(std::max<size_t>(left.size() + 2, 36), ' ');
  return left + option.summary + "\n";
}

std::string helpText(const CommandInfo *command) {
  std::string text;
  if (!command) {
    text = "usage: ptlc COMMAND [options] [arguments]\n\n";
    for (const CommandInfo &entry : allCommands()) {
      std::string left = "  " + std::string(entry.name) + " " + entry.arguments;
      left.resize(std::max<size_t>(left.size() + 2, 36), ' ');
      text += left + entry.summary + "\n";
    }
    return text + "\n`ptlc COMMAND --help` prints the options of a command.\n";
  }
  text = std::string("usage: ptlc ") + command->name + " [options] " + command->arguments + "\n" +
         command->summary + "\n\n";
  for (const OptionInfo &option : kOptions)
    if (option.commands & of(command->id))
      text += optionHelp(option);
  return text;
}

} // namespace ptl
