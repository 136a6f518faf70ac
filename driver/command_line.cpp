#include "driver/command_line.h"

#include "driver/defines.h"
#include "driver/version.h"
#include "frontend/base/diagnostic.h"
#include "frontend/base/render.h"

namespace ptl {

/// A name in `-W` that no warning has.
static std::string warningProblem(const Options &options) {
  std::string known;
  for (const DiagInfo &info : allDiagInfos())
    if (*info.flag && known.find("`" + std::string(info.flag) + "`") == std::string::npos)
      known += (known.empty() ? "`" : ", `") + std::string(info.flag) + "`";
  for (const std::string &value : options.values(OptionId::Warning)) {
    std::string_view name = value;
    if (name.starts_with("no-"))
      name.remove_prefix(3);
    if (name == "error" || name == "all")
      continue;
    if (name.starts_with("error="))
      name.remove_prefix(6);
    if (name != "all" && known.find("`" + std::string(name) + "`") == std::string::npos)
      return "`-W " + value + "`: there is no warning `" + std::string(name) + "`; there are " +
             known;
  }
  return {};
}

/// Values that every command understands alike are checked once, here.
static std::string wrongValue(CommandId command, const Options &options) {
  std::string_view form = options.value(OptionId::Diagnostics);
  if (!form.empty() && !parseDiagnosticFormat(form))
    return "`--diagnostics` is human, short, json or sarif, not `" + std::string(form) + "`";
  std::string_view color = options.value(OptionId::Color);
  if (!color.empty() && color != "auto" && color != "always" && color != "never")
    return "`--color` is auto, always or never, not `" + std::string(color) + "`";
  if (std::string wrong = numberProblem(options); !wrong.empty())
    return wrong;
  if (std::string wrong = warningProblem(options); !wrong.empty())
    return wrong;
  if (std::string wrong = defineProblem(options); !wrong.empty())
    return wrong;
  return needProblem(command, options);
}

bool needsCompiler(const CommandInfo &command, const Options &options) {
  std::string_view target = options.value(OptionId::Target);
  bool isForChips =
      target.empty() ? options.has(OptionId::Machine) : target != "cpu" && target != "reference";
  return command.home == CommandHome::Ir ||
         (command.id == CommandId::Check &&
          (isForChips || options.has(OptionId::Cost) || options.has(OptionId::Checkpoint)));
}

static std::vector<std::string> &lastRead() {
  static std::vector<std::string> arguments;
  return arguments;
}

const std::vector<std::string> &runningCommand() { return lastRead(); }

CommandLine readCommandLine(const std::vector<std::string> &arguments) {
  lastRead() = arguments;
  CommandLine line;
  std::vector<std::string> words(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  // `ptlc help check` is what people try first; it means `ptlc check --help`.
  if (words.size() == 2 && words[0] == "help")
    words = {words[1], "--help"};
  if (words.empty() || words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    line.text = helpText(nullptr);
    return line;
  }
  if (words[0] == "--version" || words[0] == "-V") {
    line.text = versionText();
    return line;
  }
  const CommandInfo *command = findCommand(words[0]);
  if (!command) {
    const CommandInfo *similar = similarCommand(words[0]);
    line.error = "unknown command `" + words[0] + "`" +
                 (similar ? std::string("; did you mean `") + similar->name + "`?"
                          : "; `ptlc --help` lists the commands");
    return line;
  }
  ParsedOptions parsed = parseOptions(*command, {words.begin() + 1, words.end()});
  line.error = parsed.error;
  if (!line.error.empty())
    return line;
  // Help is given even where values are wrong.
  if (parsed.options.has(OptionId::Help)) {
    line.text = helpText(command);
    return line;
  }
  line.error = wrongValue(command->id, parsed.options);
  line.command = line.error.empty() ? command : nullptr;
  line.options = std::move(parsed.options);
  return line;
}

} // namespace ptl
