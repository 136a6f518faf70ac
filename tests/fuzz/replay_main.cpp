// Runs a fuzz target over the files and folders of its arguments: how a normal build replays a
// corpus.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  // Named before it runs, so that a crash says which file it was.
  std::fprintf(stderr, "%s\n", path.c_str());
  // Every truncation of a small file is an input of its own.
  size_t step = text.size() < 4096 ? text.size() / 64 + 1 : text.size();
  for (size_t size = 0; size < text.size(); size += step)
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), size);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(text.data()), text.size());
}

int main(int argc, char **argv) {
  size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      replay(argv[i]);
      ++files;
      continue;
    }
    for (const auto &entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file()) {
        replay(entry.path());
        ++files;
      }
  }
  std::fprintf(stderr, "%zu files\n", files);
  return files > 0 ? 0 : 1;
}
