// ptl-command-files FOLDER VERSION: writes man pages and completion scripts of `ptlc` below FOLDER,
// where `share` of an installation has them.
#include "driver/completion_scripts.h"
#include "driver/generate/man_page.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

using namespace ptl;

static bool write(const std::filesystem::path &path, const std::string &text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  // Closing writes what is left, so errors show only here.
  if (!file)
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return bool(file);
}

/// The text that a program prints for `--help`; empty if it cannot be run.
static std::string helpOf(const std::string &program) {
  std::string text;
  if (FILE *pipe = ::popen(("'" + program + "' --help").c_str(), "r")) {
    char part[4096];
    while (size_t length = std::fread(part, 1, sizeof part, pipe))
      text.append(part, length);
    // Half of a text would make a wrong page.
    if (::pclose(pipe) != 0)
      text.clear();
  }
  return text;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s FOLDER VERSION PROGRAMS...\n", argv[0]);
    return 2;
  }
  std::filesystem::path folder = argv[1];
  std::filesystem::path pages = folder / "man/man1";
  bool fine = write(pages / "ptlc.1", manPage(nullptr, argv[2]));
  for (const CommandInfo &command : allCommands())
    fine &= write(pages / ("ptlc-" + std::string(command.name) + ".1"), manPage(&command, argv[2]));
  for (int i = 3; i < argc; ++i) {
    std::string name = std::filesystem::path(argv[i]).filename(), help = helpOf(argv[i]);
    if (help.empty())
      std::fprintf(stderr, "%s gives no help\n", argv[i]);
    fine &= !help.empty() && write(pages / (name + ".1"), manPageOfHelp(name, help, argv[2]));
  }
  fine &= write(folder / "bash-completion/completions/ptlc", bashCompletion());
  fine &= write(folder / "zsh/site-functions/_ptlc", zshCompletion());
  fine &= write(folder / "fish/vendor_completions.d/ptlc.fish", fishCompletion());
  return fine ? 0 : 1;
}
