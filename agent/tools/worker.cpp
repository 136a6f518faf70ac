#include "agent/tools/worker.h"

#include "agent/tools/handlers.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace ptl::agent {

namespace {
/// Where lines for the server go: standard output is for what programs print.
class Lines {
public:
  Lines() : out_(::dup(STDOUT_FILENO)) {}
  void write(const Json &message) {
    std::string line = dumped(message) + "\n";
    for (size_t done = 0; done < line.size();) {
      ssize_t count = ::write(out_, line.data() + done, line.size() - done);
      if (count <= 0)
        ::_exit(0); // the server has gone
      done += static_cast<size_t>(count);
    }
  }

private:
  int out_;
};
} // namespace

/// Nobody waits for the answer of a worker whose server has died, and no call takes all memory.
static void installLimits() {
  pid_t parent = ::getppid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (parent == 1)
    ::_exit(0);
  constexpr rlim_t memory = rlim_t(16) << 30;
  rlimit limit{memory, memory};
  ::setrlimit(RLIMIT_AS, &limit);
  rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
}

static void answerCall(Call &call, Answer &answer) {
  switch (call.tool.id) {
#define PTL_CASE_Worker(ID)                                                                        \
  case ToolId::ID:                                                                                 \
    return run##ID(call, answer);
#define PTL_CASE_Server(ID)
#define TOOL(ID, NAME, TITLE, WHERE, HINTS, NEEDED, ALLOWED, WHAT) PTL_CASE_##WHERE(ID)
#include "agent/tools.def"
#undef PTL_CASE_Worker
#undef PTL_CASE_Server
  default:
    answer.refuse("the server answers this tool itself");
  }
}

/// What was printed since, up to a limit.
static std::string takePrinted(int file) {
  std::fflush(stdout);
  std::string text(4000, '\0');
  ssize_t count = ::pread(file, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  return text;
}

int runWorker() {
  installLimits();
  Lines lines;
  int printed = ::memfd_create("printed", MFD_CLOEXEC);
  ::dup2(printed, STDOUT_FILENO);
  std::string line;
  if (!std::getline(std::cin, line))
    return 0;
  Json request = Json::parse(line, nullptr, false);
  const ToolInfo *tool = request.is_object() ? findTool(request.value("tool", "")) : nullptr;
  if (!tool)
    return 2;
  std::string problem;
  Roots roots(request.at("roots").get<std::vector<std::string>>(), &problem);
  if (roots.folders().empty() || ::chdir(roots.folders().front().c_str()) != 0)
    return 2;
  using Clock = std::chrono::steady_clock;
  Clock::time_point told{};
  Call call{*tool, Arguments(request.at("arguments")), std::move(roots),
            [&](double done, double total, const std::string &what) {
              // A client has no use for more than a few in a second.
              if (Clock::now() - told < std::chrono::milliseconds(100))
                return;
              told = Clock::now();
              Json message = {{"progress", done}, {"message", what}};
              if (total > 0)
                message["total"] = total;
              lines.write(message);
            }};
  Answer answer;
  answerCall(call, answer);
  std::string text = takePrinted(printed);
  if (!text.empty() && !answer.body.contains("printed"))
    answer.body["printed"] = text;
  lines.write(answer.take());
  std::fflush(stderr);
  ::_exit(0); // taking the compiler apart costs more than the system does
}

} // namespace ptl::agent
