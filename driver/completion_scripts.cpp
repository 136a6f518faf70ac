#include "driver/completion_scripts.h"

#include "common/words.h"
#include "compile/stage_table.h"
#include "frontend/base/diagnostic.h"
#include "machines/machine_set.h"

#include <set>

namespace ptl {

namespace {

std::vector<std::string> emitKinds() {
  std::vector<std::string> kinds;
  for (const StageInfo &info : stageInfos)
    if (info.isEmitted())
      kinds.emplace_back(info.emittedName());
  return kinds;
}

std::vector<std::string> warningFlags() {
  // Several diagnostics share one flag.
  std::set<std::string> flags;
  for (const DiagInfo &info : allDiagInfos())
    if (*info.flag)
      flags.insert(info.flag);
  std::vector<std::string> words(flags.begin(), flags.end());
  for (const std::string &flag : flags)
    words.push_back("no-" + flag);
  words.push_back("error");
  return words;
}

/// The words of `auto|always|never` and of `0..3`; none of what is no such list.
std::vector<std::string> wordsOf(std::string_view meta) {
  std::vector<std::string> words;
  if (meta == "0..3")
    return {"0", "1", "2", "3"};
  if (meta.find('|') == meta.npos)
    return words;
  for (size_t begin = 0; begin <= meta.size();) {
    size_t end = std::min(meta.find('|', begin), meta.size());
    words.emplace_back(meta.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// `text` in single quotes, for the Bourne shell and its kin.
std::string inQuotes(std::string_view text) {
  std::string out = "'";
  for (char c : text)
    // A quote ends the quoted text, stands escaped by itself, and begins it again.
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// fish ends a quote by nothing but a quote, and knows `\'` inside.
std::string fishQuoted(std::string_view text) {
  std::string out = "'";
  for (char c : text)
    out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + "'";
}

/// With what would end a part of `_arguments`' descriptions escaped.
std::string zshText(std::string_view text) {
  std::string out;
  for (char c : text)
    out +=
        c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string commandNames() {
  std::vector<std::string> names;
  for (const CommandInfo &command : allCommands())
    names.push_back(command.name);
  return joined(names);
}

std::string bashReply(const Completion &completion) {
  switch (completion.paths) {
  case Completion::Paths::Folders:
    return "_ptlc_paths -d";
  case Completion::Paths::Files:
    return "_ptlc_paths -f";
  case Completion::Paths::Sources:
    return "_ptlc_paths -f -X '!*.ptl'";
  case Completion::Paths::None:
    break;
  }
  return "COMPREPLY=($(compgen -W " + inQuotes(joined(completion.words)) + " -- \"$current\"))";
}

std::string zshAction(const Completion &completion) {
  switch (completion.paths) {
  case Completion::Paths::Folders:
    return "_files -/";
  case Completion::Paths::Files:
    return "_files";
  case Completion::Paths::Sources:
    return "_files -g \"*.ptl\"";
  case Completion::Paths::None:
    break;
  }
  std::vector<std::string> words;
  for (const std::string &word : completion.words)
    words.push_back(zshText(word));
  return words.empty() ? " " : "(" + joined(words) + ")";
}

std::string fishArguments(const Completion &completion) {
  switch (completion.paths) {
  case Completion::Paths::Folders:
    return "-x -a '(__fish_complete_directories)'";
  case Completion::Paths::Files:
    return "-r -F";
  case Completion::Paths::Sources:
    return "-x -a '(__fish_complete_suffix .ptl)'";
  case Completion::Paths::None:
    break;
  }
  return "-x" + (completion.words.empty() ? "" : " -a " + fishQuoted(joined(completion.words)));
}

} // namespace

Completion completionOf(const OptionInfo &option) {
  std::string_view meta = option.meta;
  switch (option.id) {
  case OptionId::Target:
  case OptionId::Executor: {
    Completion completion{MachineSet().names()};
    completion.words.push_back("reference");
    return completion;
  }
  case OptionId::Emit:
    return {emitKinds()};
  case OptionId::Warning:
    return {warningFlags()};
  default:
    break;
  }
  if (meta == "DIR")
    return {{}, Completion::Paths::Folders};
  if (meta == "FILE" || meta == "PATH" || meta == "PROGRAM")
    return {{}, Completion::Paths::Files};
  return {wordsOf(meta)};
}

Completion completionOf(const CommandInfo &command) {
  switch (command.id) {
  case CommandId::Explain: {
    Completion completion;
    for (const DiagInfo &info : allDiagInfos())
      completion.words.push_back(info.code);
    return completion;
  }
  case CommandId::Targets:
    return {MachineSet().names()};
  case CommandId::Completion: {
    Completion completion;
    for (const CompletedShell &shell : completedShells())
      completion.words.push_back(shell.name);
    return completion;
  }
  case CommandId::Cache:
    return {{"clear"}};
  case CommandId::New:
    return {};
  default:
    return {{}, Completion::Paths::Sources};
  }
}

std::string bashCompletion() {
  std::string commands, values;
  for (const CommandInfo &command : allCommands()) {
    std::vector<std::string> names;
    for (const OptionInfo &option : allOptions())
      if (option.isFor(command.id))
        names.push_back(option.spelled());
    commands += "    " + std::string(command.name) + ")\n      options=" + inQuotes(joined(names)) +
                "\n      arguments() { " + bashReply(completionOf(command)) + "; } ;;\n";
  }
  for (const OptionInfo &option : allOptions()) {
    if (!option.takesValue())
      continue;
    std::string letter = option.letter ? std::string("-") + option.letter + "|" : "";
    values += "    " + letter + option.spelled() + ") " + bashReply(completionOf(option)) +
              "; return ;;\n";
  }
  return R"(# Completion of ptlc in bash. Generated from the tables of its commands and options.
_ptlc_paths() {
  compopt -o filenames 2>/dev/null
  local IFS=$'\n'
  COMPREPLY=($(compgen "$@" -- "$current"))
  # Folders lead to files of every kind.
  [ "$1" = -d ] || COMPREPLY+=($(compgen -d -- "$current"))
}

_ptlc() {
  local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} options
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W ')" +
         commandNames() + R"( --help --version' -- "$current"))
    return
  fi
  # `=` is a word of its own: `--target=a` is `--target`, `=`, `a`.
  if [ "$current" = = ]; then
    current=
  elif [ "$option" = = ]; then
    option=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $option in
)" + values +
         R"(  esac
  case ${COMP_WORDS[1]} in
)" + commands +
         R"(    *) return ;;
  esac
  case $current in
    -*) COMPREPLY=($(compgen -W "$options" -- "$current")) ;;
    *) arguments ;;
  esac
  unset -f arguments
}
complete -F _ptlc ptlc
)";
}

std::string zshCompletion() {
  std::string descriptions, commands;
  for (const CommandInfo &command : allCommands()) {
    descriptions += "    " + inQuotes(command.name + (":" + zshText(command.summary))) + "\n";
    commands += "    " + std::string(command.name) + ")\n      _arguments -s";
    for (const OptionInfo &option : allOptions()) {
      if (!option.isFor(command.id))
        continue;
      std::string text = "[" + zshText(option.summary) + "]",
                  repeat = option.kind == OptionKind::List ? "*" : "";
      if (option.takesValue())
        text += ":" + zshText(option.meta) + ":" + zshAction(completionOf(option));
      // A value follows a long option after `=` or as the next word, a short one also directly.
      std::string join = !option.takesValue() ? "" : "=",
                  joinShort = option.takesValue() ? "+" : "";
      commands += " \\\n        " + inQuotes(repeat + option.spelled() + join + text);
      if (option.letter)
        commands += " \\\n        " + inQuotes(repeat + "-" + option.letter + joinShort + text);
    }
    commands +=
        " \\\n        " +
        inQuotes("*:" + zshText(command.arguments) + ":" + zshAction(completionOf(command))) +
        " ;;\n";
  }
  return R"(#compdef ptlc
# Completion of ptlc in zsh. Generated from the tables of its commands and options.
_ptlc() {
  local -a commands
  commands=(
)" + descriptions +
         R"(  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
)" + commands +
         R"(  esac
}
# Loaded by the completion system, the file is the function; sourced, it defines it.
if [[ $funcstack[1] = _ptlc ]]; then
  _ptlc "$@"
else
  compdef _ptlc ptlc
fi
)";
}

std::string fishCompletion() {
  std::string text =
      "# Completion of ptlc in fish. Generated from the tables of its commands and options.\n"
      "complete -c ptlc -f\n";
  for (const CommandInfo &command : allCommands()) {
    std::string name = command.name, given = " -n '__fish_seen_subcommand_from " + name + "'";
    text += "complete -c ptlc -n __fish_use_subcommand -a " + name + " -d " +
            fishQuoted(command.summary) + "\n";
    Completion arguments = completionOf(command);
    if (!arguments.words.empty() || arguments.paths != Completion::Paths::None)
      text += "complete -c ptlc" + given + " " + fishArguments(arguments) + "\n";
    for (const OptionInfo &option : allOptions()) {
      if (!option.isFor(command.id))
        continue;
      text += "complete -c ptlc" + given;
      if (option.letter)
        text += std::string(" -s ") + option.letter;
      text += (option.hasOneDash() ? " -o " : " -l ") + std::string(option.name);
      if (option.takesValue())
        text += " " + fishArguments(completionOf(option));
      text += " -d " + fishQuoted(option.summary) + "\n";
    }
  }
  return text;
}

std::span<const CompletedShell> completedShells() {
  static constexpr CompletedShell shells[] = {
      {"bash", bashCompletion}, {"zsh", zshCompletion}, {"fish", fishCompletion}};
  return shells;
}

} // namespace ptl
