#include "driver/options.h"

#include "frontend/base/source.h"

namespace ptl {

/// Splits like a shell: white space separates, quotes group, a backslash takes the next character
/// as it is.
static std::vector<std::string> splitArguments(std::string_view text) {
  std::vector<std::string> arguments;
  std::string current;
  // An argument may be empty, as `""`, so whether one has begun is kept apart from its text.
  bool open = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool isSpace = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      current += text[++i];
      open = true;
    } else if (quote) {
      if (c == quote)
        quote = 0;
      else
        current += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (isSpace) {
      if (open)
        arguments.push_back(std::move(current));
      current.clear();
      open = false;
    } else {
      current += c;
      open = true;
    }
  }
  if (open)
    arguments.push_back(std::move(current));
  return arguments;
}

std::vector<std::string> expandResponseFiles(int argc, char **argv, std::string *error) {
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) {
    std::string_view argument = argv[i];
    // The name of the program is no argument.
    if (i == 0 || argument.size() < 2 || argument[0] != '@') {
      arguments.emplace_back(argument);
      continue;
    }
    SourceManager files;
    std::string path(argument.substr(1)), reason;
    std::optional<FileId> id = files.load(path, &reason);
    if (!id) {
      *error = "cannot read the response file `" + path + "`: " + reason;
      return arguments;
    }
    for (std::string &word : splitArguments(files.file(*id).text()))
      arguments.push_back(std::move(word));
  }
  return arguments;
}

} // namespace ptl
