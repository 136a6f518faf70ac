#include "driver/debug/terminal.h"

#include "common/read_number.h"
#include "common/words.h"
#include "driver/debug/values.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace ptl::debug {

using namespace reference;

static constexpr const char *kHelp =
    "  next (n)             go to the next statement of this call\n"
    "  step (s)             go to the next statement, also into calls\n"
    "  out (o)              go to the next statement of the caller\n"
    "  continue (c)         go to the next breakpoint or failure\n"
    "  break LINE [if A < B] (b)  stop at a line; with a condition, only if it holds\n"
    "  print NAME (p)       a value: x, x[3, 1], r.start\n"
    "  values (v)           the values of all visible names\n"
    "  where (w)            the call stack\n"
    "  quit (q)\n"
    "An empty line repeats the last command.\n";

void Terminal::showPlace(const Stopped &why) const {
  const SourceFile &file = sources_.file(why.at.file);
  LineColumn at = file.lineColumn(why.at.begin);
  if (why.reason == Reason::Failure)
    std::printf("failed: %s\n", why.text.c_str());
  else if (!why.text.empty())
    std::printf("the condition cannot be evaluated: %s\n", why.text.c_str());
  std::printf("%s:%u\n%5u | %s\n", file.path().c_str(), at.line, at.line,
              std::string(file.line(at.line)).c_str());
}

void Terminal::showCalls(const RunView &view) const {
  for (const ActiveCall &call : view.calls())
    std::printf("  %s (%s)\n", call.decl->name.c_str(), sources_.place(call.at).c_str());
}

static void printShown(const Shown &shown) {
  std::string type = typeOf(shown);
  std::printf("  %s%s = %s\n", shown.path.empty() ? shown.name.c_str() : shown.path.c_str(),
              type.empty() ? "" : (": " + type).c_str(), textOf(shown).c_str());
}

void Terminal::showValues(const RunView &view) const {
  ActiveCall call = view.calls().front();
  for (const std::vector<Shown> &all : {dimensionsOf(call, view), localsOf(call)})
    for (const Shown &shown : all)
      printShown(shown);
}

void Terminal::showValue(const std::string &text, const RunView &view) const {
  std::string problem;
  if (auto shown = evaluate(text, view.calls().front(), view, problem))
    printShown(*shown);
  else
    std::printf("  %s\n", problem.c_str());
}

void Terminal::setBreakpoint(const std::string &words) {
  Breakpoints::Wanted wanted;
  std::string_view number = trimmed(std::string_view(words).substr(0, words.find("if ")));
  std::optional<uint32_t> line = integerIn<uint32_t>(number);
  if (!line) {
    std::printf("  `%s` is not the number of a line\n", std::string(number).c_str());
    return;
  }
  wanted.line = *line;
  if (size_t condition = words.find("if "); condition != words.npos)
    wanted.condition = words.substr(condition + 3);
  wanted_.push_back(wanted);
  Breakpoint set = breakpoints_.set(path_, wanted_).back();
  if (set.isPossible)
    std::printf("  stops at line %u\n", set.line);
  else
    std::printf("  nothing is executed at or behind line %u\n", wanted.line);
}

Resume Terminal::stopped(const Stopped &why, const RunView &view) {
  showPlace(why);
  std::string line;
  while (true) {
    std::printf("(ptl) ");
    std::fflush(stdout);
    if (!std::getline(std::cin, line))
      throw Quit();
    if (line.empty())
      line = last_;
    last_ = line;
    size_t space = std::min(line.find(' '), line.size());
    std::string word = line.substr(0, space);
    std::string rest = line.substr(std::min(space + 1, line.size()));
    if (word == "next" || word == "n")
      return Resume::Over;
    if (word == "step" || word == "s")
      return Resume::Into;
    if (word == "out" || word == "o")
      return Resume::Out;
    if (word == "continue" || word == "c")
      return Resume::Continue;
    if (word == "quit" || word == "q")
      throw Quit();
    if (word == "break" || word == "b")
      setBreakpoint(rest);
    else if (word == "print" || word == "p")
      showValue(rest, view);
    else if (word == "values" || word == "v")
      showValues(view);
    else if (word == "where" || word == "w")
      showCalls(view);
    else
      std::printf("%s", kHelp);
  }
}

} // namespace ptl::debug
