#include "frontend/format/format.h"

#include "driver/commands.h"
#include "frontend/parse/parse.h"

#include <cstdio>

namespace ptl {

/// Formats one input in place (standard input to standard output); false if `--check` found it
/// unformatted.
static bool formatInput(Session &session, const std::string &path) {
  std::optional<FileId> id = session.load(path);
  if (!id)
    return true;
  const SourceFile &file = session.sources().file(*id);
  Tree tree = session.timed("parse", [&] { return parse(file, session.sink()); });
  std::string text = session.timed("format", [&] { return format(tree).text; });
  bool formatted = text == file.text();
  if (session.options().has(OptionId::CheckOnly)) {
    if (!formatted)
      std::fprintf(stderr, "%s is not formatted\n", file.path().c_str());
    return formatted;
  }
  // A file that is formatted keeps its time, which build tools look at.
  if (path == "-" || !formatted)
    session.write(path, text);
  return true;
}

ExitCode runFmt(const Options &options) {
  if (options.positional().empty())
    return usageError("name the files: `ptlc fmt FILES`");
  Session session(options);
  bool formatted = true;
  for (const std::string &path : options.positional())
    // All files are formatted, also behind one that is not.
    formatted = formatInput(session, path) && formatted;
  return session.finish(formatted ? ExitCode::Fine : ExitCode::SourceErrors);
}

} // namespace ptl
