// `ptl-lsp`: the language server on standard input and output or a loopback socket, and its check
// of a file with every feature.

#include "common/read_number.h"
#include "frontend/base/install.h"
#include "frontend/base/time_slice.h"
#include "lsp/server/self_check.h"
#include "lsp/server/server.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>

namespace {

constexpr const char *kHelp =
    R"(usage: ptl-lsp [--stdio | --port N | --check FILE...]
the language server of PTL

  --stdio         speak the protocol on standard input and output (the default)
  --port N        wait for one client on port N of 127.0.0.1; 0 takes a free one; the port is printed
  --check FILE... run every feature at every token of the files and report failures
  --version       print the version
  --help          print this
)";

/// Long answers are made in memory that stays with the process: fresh pages from the system would
/// cost more than what is written into them.
void keepMemoryOfAnswers() {
  constexpr int longestAnswer = 4 << 20;
  mallopt(M_MMAP_THRESHOLD, longestAnswer);
  mallopt(M_TRIM_THRESHOLD, 2 * longestAnswer);
}

int serve(int port) {
  keepMemoryOfAnswers();
  // Somebody waits for each key, and the processor may be busy with the worker or with a build.
  ptl::askTimeSlice(std::chrono::microseconds(200), true);
  uv_loop_t loop;
  uv_loop_init(&loop);
  ptl::CheckOptions options;
  options.stdPath = ptl::standardLibraryFolder();
  int code;
  {
    ptl::lsp::Server server(&loop, std::move(options));
    if (port < 0) {
      server.connection.useStandardStreams();
    } else {
      int used = server.connection.listen(port);
      if (used < 0) {
        std::fprintf(stderr, "ptl-lsp: error: port %d: %s\n", port, uv_strerror(used));
        return 3;
      }
      std::printf("%d\n", used);
      std::fflush(stdout);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    // The last answers may not have been written yet.
    while (server.connection.unsent() > 0 && uv_run(&loop, UV_RUN_ONCE) != 0) {
    }
    code = server.exitCode();
  }
  return code;
}

} // namespace

int main(int argc, char **argv) {
  int port = -1;
  for (int i = 1; i < argc; ++i) {
    const char *argument = argv[i];
    if (!std::strcmp(argument, "--stdio"))
      continue;
    if (!std::strcmp(argument, "--version"))
      return std::printf("ptl-lsp %s\n", PTL_VERSION), 0;
    if (!std::strcmp(argument, "--help"))
      return std::fputs(kHelp, stdout), 0;
    if (!std::strcmp(argument, "--check"))
      return ptl::lsp::selfCheck(argv + i + 1, argv + argc);
    if (!std::strcmp(argument, "--port") && i + 1 < argc) {
      if (std::optional<uint16_t> number = ptl::integerIn<uint16_t>(argv[++i])) {
        port = *number;
        continue;
      }
      std::fprintf(stderr,
                   "ptl-lsp: error: `--port %s`: a whole number from 0 to 65535 is expected\n",
                   argv[i]);
      return 2;
    }
    std::fprintf(stderr, "ptl-lsp: error: unknown argument `%s`\n%s", argv[i], kHelp);
    return 2;
  }
  int code = serve(port);
  // The workspace is not taken apart: the system takes its memory back at once.
  std::fflush(nullptr);
  std::_Exit(code);
}
