// Runs a fuzz target over files, and over mutants of them, each in a process of its own with limits
// of time and memory: what does not end, or ends by a signal, is written down and told.
//   NAME [--mutants N] [--seconds S] [--seed S] [--limit SECONDS] [--found FOLDER] FILE|FOLDER…
#include "common/tool_number.h"
#include "frontend/base/source.h"
#include "frontend/lex/lexer.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/mutations.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ptl;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

namespace {

struct Settings {
  size_t mutants = 0;
  double seconds = 0; ///< for the mutants; 0: as long as they take
  unsigned seed = 1, limit = 20;
  std::string found = ".";
  std::vector<std::string> texts, names;
};

constexpr rlim_t kMemory = rlim_t(4) << 30;

/// Runs the target in a child; the signal that ended it, 0 for none.
int ended(const std::string &text, unsigned limit) {
  pid_t child = fork();
  if (child == 0) {
    rlimit memory{kMemory, kMemory}, none{0, 0};
    setrlimit(RLIMIT_AS, &memory);
    setrlimit(RLIMIT_CORE, &none);
    alarm(limit);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) ? SIGABRT : 0;
}

std::string read(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void add(Settings &settings, const std::filesystem::path &path) {
  if (std::filesystem::is_directory(path)) {
    for (const auto &entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.path().extension() == ".ptl")
        add(settings, entry.path());
    return;
  }
  settings.texts.push_back(read(path));
  settings.names.push_back(path.string());
}

/// Whole declarations, so that a mutant is compiled fast: a part of the lines that begin at the
/// left, with the imports.
std::string partOf(const std::string &text, std::minstd_rand &random) {
  std::vector<std::string> parts(1);
  std::string imports;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string line = text.substr(begin, end - begin);
    if (line.starts_with("import "))
      imports += line;
    else if (parts.back() += line; line.starts_with("}"))
      parts.emplace_back();
    begin = end;
  }
  if (parts.size() < 3)
    return text;
  size_t at = random() % parts.size();
  std::string part = imports;
  // A declaration mostly calls those before it.
  for (size_t i = at > 3 && random() % 2 ? at - 3 : at; i <= at; ++i)
    part += parts[i];
  return part;
}

std::string mutantOf(const std::string &text, std::minstd_rand &random) {
  SourceFile file(0, "<mutant>", partOf(text, random));
  std::vector<std::string> pieces = fuzz::piecesOf(file);
  for (unsigned count = 1 + random() % 3; count > 0 && !pieces.empty(); --count)
    fuzz::mutateGently(pieces, random);
  std::string mutant;
  for (const std::string &piece : pieces)
    mutant += piece;
  return mutant;
}

bool isBad(const Settings &settings, const std::string &text, const std::string &name) {
  int signal = ended(text, settings.limit);
  if (signal == 0)
    return false;
  std::string path = settings.found + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  std::fprintf(stderr, "%s: %s\n", path.c_str(),
               signal == SIGALRM ? "no end within the limit" : strsignal(signal));
  return true;
}

size_t runMutants(const Settings &settings) {
  size_t bad = 0, done = 0;
  auto start = std::chrono::steady_clock::now();
  for (; done < settings.mutants; ++done) {
    std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    if (settings.seconds > 0 && time.count() > settings.seconds)
      break;
    std::minstd_rand random(settings.seed + static_cast<unsigned>(done) * 7919);
    random.discard(8);
    const std::string &text = settings.texts[random() % settings.texts.size()];
    std::string name =
        "mutant_" + std::to_string(settings.seed) + "_" + std::to_string(done) + ".ptl";
    bad += isBad(settings, mutantOf(text, random), name);
  }
  std::fprintf(stderr, "%zu mutants, %zu bad\n", done, bad);
  return bad;
}

} // namespace

int main(int argc, char **argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&] { return i + 1 < argc ? std::string(argv[++i]) : std::string("0"); };
    if (word == "--mutants")
      settings.mutants = toolNumber<decltype(settings.mutants)>(word, value());
    else if (word == "--seconds")
      settings.seconds = toolNumber<double>(word, value());
    else if (word == "--seed")
      settings.seed = toolNumber<unsigned>(word, value());
    else if (word == "--limit")
      settings.limit = toolNumber<unsigned>(word, value());
    else if (word == "--found")
      settings.found = value();
    else
      add(settings, word);
  }
  if (settings.texts.empty())
    return 2;
  size_t bad = 0;
  if (settings.mutants == 0) {
    for (size_t i = 0; i < settings.texts.size(); ++i)
      if (int signal = ended(settings.texts[i], settings.limit)) {
        ++bad;
        std::fprintf(stderr, "%s: %s\n", settings.names[i].c_str(),
                     signal == SIGALRM ? "no end within the limit" : strsignal(signal));
      }
    std::fprintf(stderr, "%zu files, %zu bad\n", settings.texts.size(), bad);
  } else {
    bad = runMutants(settings);
  }
  return bad > 0 ? 1 : 0;
}
