#include "driver/generate/man_page.h"

#include "driver/option_table.h"

#include <algorithm>
#include <sstream>

namespace ptl {

namespace {

/// With what troff reads as commands escaped; `code` in backticks becomes bold.
std::string troff(std::string_view text) {
  std::string out;
  bool bold = false;
  for (char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '`')
      // Backticks come in pairs.
      out += (bold = !bold) ? "\\fB" : "\\fR";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out + (bold ? "\\fR" : "");
}

std::string bold(std::string_view text) { return "\\fB" + troff(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + troff(text) + "\\fR"; }

std::string upper(std::string text) {
  for (char &c : text)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string head(const std::string &name, std::string_view version, std::string_view summary) {
  return ".TH " + upper(name) + " 1 \"\" \"PTL " + std::string(version) + "\" \"PTL\"\n.SH NAME\n" +
         troff(name) + " \\- " + troff(summary) + "\n.SH SYNOPSIS\n";
}

std::string optionEntry(const OptionInfo &option) {
  std::string text = ".TP\n";
  if (option.letter)
    text += bold(std::string("-") + option.letter) + ", ";
  text += bold(option.spelled());
  if (*option.meta)
    text += (option.takesValue() ? " " : "") + italic(option.meta);
  return text + "\n" + troff(option.summary) + "\n";
}

const char *const kExitStatus = R"(.SH EXIT STATUS
.IP 0
done
.IP 1
errors in the source
.IP 2
wrong usage
.IP 3
a tool, a file or a feature that is missing
.IP 4
an error in the compiler
.IP 5
the program that ran stopped: a
.BR where ,
an
.BR assert ,
or a bound
)";

const char *const kEnvironment = R"(.SH ENVIRONMENT
.TP
.B PTL_STD
the folder of the standard library, instead of the one that came with the compiler
.TP
.B PTL_CACHE
the folder of compiled code that
.BR run ,
.B test
and
.B bench
find again, instead of
.I ~/.cache/ptl
(in
.B XDG_CACHE_HOME
where that is set);
.B off
keeps none
.TP
.B PTL_CACHE_LIMIT
the largest size of that folder in MiB (256); the least recently used code is removed first
.TP
.B PTL_BUNDLE
.B off
keeps no folder with what reproduces an internal error
.TP
.B NO_COLOR
messages are printed without colours
)";

std::string allPage(std::string_view version) {
  std::string text = head("ptlc", version, "compiler of the Parallel Tile Language"), also;
  text += ".B ptlc\n.I COMMAND\n.RI [ options ]\n.RI [ arguments ]\n.SH DESCRIPTION\n"
          "Checks, compiles and runs programs of tiles for the processor of this computer and for "
          "chips.\n"
          "An argument\n.BI @ FILE\nis replaced by the arguments in the file.\n.SH COMMANDS\n";
  for (const CommandInfo &command : allCommands()) {
    text += ".TP\n" + bold(command.name) + " " + italic(command.arguments) + "\n" +
            troff(command.summary) + "\n";
    also += (also.empty() ? "" : " ,\n") + (".BR ptlc\\-" + std::string(command.name)) + " (1)";
  }
  return text + kExitStatus + kEnvironment + ".SH SEE ALSO\n" + also + "\n";
}

} // namespace

std::string manPage(const CommandInfo *command, std::string_view version) {
  if (!command)
    return allPage(version);
  std::string name = std::string("ptlc-") + command->name;
  std::string text = head(name, version, command->summary);
  text +=
      ".B ptlc " + std::string(command->name) + "\n.RI [ options ]\n" + italic(command->arguments) +
      "\n.SH OPTIONS\n" +
      "A value follows its option as the next argument, after\n.B =\n(long options), or directly "
      "(short ones).\n";
  for (const OptionInfo &option : allOptions())
    if (option.isFor(command->id))
      text += optionEntry(option);
  return text + kExitStatus + kEnvironment + ".SH SEE ALSO\n.BR ptlc (1)\n";
}

std::string manPageOfHelp(std::string_view name, std::string_view help, std::string_view version) {
  std::istringstream lines{std::string(help)};
  std::string usage, summary, options, line;
  std::getline(lines, usage);
  std::getline(lines, summary);
  while (std::getline(lines, line)) {
    size_t begin = line.find_first_not_of(' '), end = line.find("  ", begin);
    // The longest options leave one space before their text.
    if (end == line.npos)
      end = line.find("... ", begin) + 3;
    size_t text = line.find_first_not_of(' ', end);
    if (begin != line.npos && text != line.npos)
      options +=
          ".TP\n" + bold(line.substr(begin, end - begin)) + "\n" + troff(line.substr(text)) + "\n";
  }
  // Behind "usage: " and the name.
  usage = usage.substr(std::min(usage.size(), usage.find(name) + name.size()));
  return head(std::string(name), version, summary) + bold(name) + troff(usage) + "\n.SH OPTIONS\n" +
         options + ".SH SEE ALSO\n.BR ptlc (1)\n";
}

} // namespace ptl
