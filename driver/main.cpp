// `ptlc`: finds the command, reads its options, runs it.
#include "driver/check.h"
#include "driver/commands.h"
#include "driver/defines.h"
#include "driver/version.h"
#include "frontend/base/diagnostic.h"
#include "frontend/base/render.h"

#include <cstdio>
#include <cstdlib>
#include <malloc.h>

using namespace ptl;

static int print(const std::string &text) {
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(ExitCode::Fine);
}

static ExitCode runFront(const CommandInfo &command, const Options &options,
                         const std::vector<std::string> &arguments) {
  switch (command.id) {
  case CommandId::Check:
    return runCheck(options, {}, [&] { return runInCompiler(options, arguments); });
  case CommandId::Fmt:
    return runFmt(options);
  case CommandId::Debug:
    return runDebug(options);
  case CommandId::Doc:
    return runDoc(options);
  case CommandId::Cache:
    return runCache(options);
  case CommandId::Completion:
    return runCompletion(options);
  case CommandId::Explain:
    return runExplain(options);
  case CommandId::Mcp:
    return runMcp(options);
  case CommandId::New:
    return runNew(options);
  case CommandId::Reduce:
    return runReduce(options);
  case CommandId::Targets:
    return runTargets(options);
  default:
    return ExitCode::Internal;
  }
}

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

/// Whether the command needs IR: most say so in their table, `check` when it is asked about chips
/// or costs.
static bool isInCompiler(const CommandInfo &command, const Options &options) {
  std::string_view target = options.value(OptionId::Target);
  bool isForChips =
      target.empty() ? options.has(OptionId::Machine) : target != "cpu" && target != "reference";
  return command.home == CommandHome::Ir ||
         (command.id == CommandId::Check &&
          (isForChips || options.has(OptionId::Cost) || options.has(OptionId::Checkpoint)));
}

int main(int argc, char **argv) {
  // A short-lived process: memory is taken in large steps and never given back before the end.
  mallopt(M_TOP_PAD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  std::string error;
  std::vector<std::string> arguments = expandResponseFiles(argc, argv, &error);
  if (!error.empty())
    return static_cast<int>(usageError(error));
  // `ptlc help check` is what people try first; it means `ptlc check --help`.
  if (arguments.size() == 3 && arguments[1] == "help")
    arguments = {arguments[0], arguments[2], "--help"};
  if (arguments.size() < 2 || arguments[1] == "--help" || arguments[1] == "-h" ||
      arguments[1] == "help")
    return print(helpText(nullptr));
  if (arguments[1] == "--version" || arguments[1] == "-V")
    return print(versionText());
  const CommandInfo *command = findCommand(arguments[1]);
  if (!command) {
    const CommandInfo *similar = similarCommand(arguments[1]);
    return static_cast<int>(
        usageError("unknown command `" + arguments[1] + "`" +
                   (similar ? std::string("; did you mean `") + similar->name + "`?"
                            : "; `ptlc --help` lists the commands")));
  }
  ParsedOptions parsed = parseOptions(*command, {arguments.begin() + 2, arguments.end()});
  if (!parsed.error.empty())
    return static_cast<int>(usageError(parsed.error));
  // Help is given even where values are wrong.
  if (parsed.options.has(OptionId::Help))
    return print(helpText(command));
  if (std::string wrong = wrongValue(command->id, parsed.options); !wrong.empty())
    return static_cast<int>(usageError(wrong));
  ExitCode code = isInCompiler(*command, parsed.options)
                      ? runInCompiler(parsed.options, arguments)
                      : runFront(*command, parsed.options, arguments);
  // Nothing that is static has to be taken apart, and LLVM has thousands of such things.
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}
