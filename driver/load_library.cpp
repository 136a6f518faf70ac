#include "driver/commands.h"

#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace ptl {

/// Asks the system for large pages for the compiler's memory: it would need a thousand small ones,
/// and the first access to each costs microseconds.
static void useLargePages() {
  constexpr size_t page = 2 << 20, ahead = 64 << 20;
  mallopt(M_TOP_PAD, ahead);
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(16 * page));
  void *first = std::malloc(8 * page); // more than is left: the heap grows
  auto begin = (reinterpret_cast<uintptr_t>(first) + page - 1) / page * page;
  auto end = reinterpret_cast<uintptr_t>(::sbrk(0)) / page * page;
  std::free(first);
  if (first && begin < end)
    ::madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
}

ExitCode runInLibrary(const Options &options, std::vector<std::string> arguments) {
  std::string folder = executableFolder(), reason = "libptlc-ir.so is not beside `ptlc`";
  for (const char *place : {"", "../lib/"}) {
    std::string path = folder + place + "libptlc-ir.so";
    // In the built tree the library is beside the program, in an installation in `lib`.
    if (::access(path.c_str(), R_OK) != 0)
      continue;
    useLargePages();
    // LLVM and MLIR take long to load, so commands that need neither do without.
    void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    void *entry = library ? ::dlsym(library, "ptlcIrMain") : nullptr;
    if (entry) {
      std::vector<char *> argv;
      for (std::string &argument : arguments)
        argv.push_back(argument.data());
      argv.push_back(nullptr);
      auto *irMain = reinterpret_cast<int (*)(int, char **)>(entry);
      return static_cast<ExitCode>(irMain(static_cast<int>(arguments.size()), argv.data()));
    }
    if (const char *text = ::dlerror())
      reason = text;
  }
  Session session(options);
  session.sink().report(DiagId::CompilerPartMissing, kNoSpan, {reason});
  return session.finish(ExitCode::Missing);
}

} // namespace ptl
