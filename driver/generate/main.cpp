// ptl-command-files FOLDER VERSION: writes man pages and completion scripts of `ptlc` below FOLDER,
// where `share` of an installation has them.
#include "driver/generate/completion.h"
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
  if (!file)
    std::fprintf(stderr, "cannot write %s\n", path.c_str());
  return bool(file);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s FOLDER VERSION\n", argv[0]);
    return 2;
  }
  std::filesystem::path folder = argv[1];
  std::filesystem::path pages = folder / "man/man1";
  bool fine = write(pages / "ptlc.1", manPage(nullptr, argv[2]));
  for (const CommandInfo &command : allCommands())
    if (command.home != CommandHome::Planned)
      fine &=
          write(pages / ("ptlc-" + std::string(command.name) + ".1"), manPage(&command, argv[2]));
  fine &= write(folder / "bash-completion/completions/ptlc", bashCompletion());
  fine &= write(folder / "zsh/site-functions/_ptlc", zshCompletion());
  fine &= write(folder / "fish/vendor_completions.d/ptlc.fish", fishCompletion());
  return fine ? 0 : 1;
}
