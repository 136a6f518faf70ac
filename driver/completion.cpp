// `ptlc completion`: prints the script of one shell.
#include "driver/commands.h"
#include "driver/completion_scripts.h"

#include <cstdio>

namespace ptl {

ExitCode runCompletion(const Options &options) {
  std::string known;
  for (const CompletedShell &shell : completedShells())
    known += std::string(known.empty() ? "" : ", ") + shell.name;
  if (options.positional().size() != 1)
    return usageError("`ptlc completion` needs the name of one shell: " + known);
  const std::string &wanted = options.positional().front();
  for (const CompletedShell &shell : completedShells())
    if (wanted == shell.name) {
      std::fputs(shell.script().c_str(), stdout);
      return ExitCode::Fine;
    }
  return usageError("no completion for the shell `" + wanted + "`; there are completions for " +
                    known);
}

} // namespace ptl
