#include "driver/ir/run_ranks.h"

#include "driver/commands.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <thread>
#include <unistd.h>

namespace ptl {

bool Ranks::isOne() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name))
      return true;
  return false;
}

static std::string pluginPath() {
  if (const char *given = std::getenv("PTL_RANKS"))
    return given;
  std::string folder = executableFolder();
  for (const char *place : {"", "../lib/"})
    if (std::string path = folder + place + "libptl-mpi.so"; ::access(path.c_str(), R_OK) == 0)
      return path;
  return {};
}

std::unique_ptr<Ranks> Ranks::join(double patience, std::string &why) {
  std::string path = pluginPath();
  if (path.empty()) {
    why = "libptl-mpi.so is not beside `ptlc`: it is built where MPI is (libopenmpi-dev)";
    return nullptr;
  }
  // MPI loads parts of itself, which look for its names.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  auto open = reinterpret_cast<PtlRanksOpen>(library ? ::dlsym(library, PTL_RANKS_OPEN) : nullptr);
  const PtlRanks *ranks = open ? open() : nullptr;
  if (!ranks || ranks->version != kPtlRanksVersion) {
    const char *text = library ? nullptr : ::dlerror();
    why = text ? text : path + " is no plug-in of this version of ptlc";
    return nullptr;
  }
  return std::unique_ptr<Ranks>(new Ranks(ranks, patience));
}

std::string Ranks::start(uint32_t count) {
  if (pluginPath().empty())
    return "libptl-mpi.so is not beside `ptlc`: it is built where MPI is (libopenmpi-dev)";
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::vector<std::string> words = {"mpirun", "--quiet", "--oversubscribe", "-n",
                                    std::to_string(count)};
  if (::geteuid() == 0)
    words.push_back("--allow-run-as-root");
  words.push_back(std::string(executableFolder()) + "ptlc");
  for (size_t at = line.find('\0'); at + 1 < line.size(); at = line.find('\0', at + 1))
    words.emplace_back(line.c_str() + at + 1);
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  return "mpirun cannot be started (openmpi-bin): " + std::string(std::strerror(errno));
}

void Ranks::send(uint32_t rank, std::span<const uint8_t> bytes) {
  ranks_->send(static_cast<int32_t>(rank), bytes.data(), bytes.size());
}

bool Ranks::receive(uint32_t rank, std::span<uint8_t> bytes) {
  return ranks_->receive(static_cast<int32_t>(rank), bytes.data(), bytes.size(), patience_) == 0;
}

void Ranks::end(ExitCode code, bool isShared) {
  std::fflush(nullptr);
  if (code == ExitCode::Fine && ranks_->finish(patience_) == 0)
    return;
  if (code == ExitCode::Fine) {
    std::fprintf(stderr, "ptlc: rank %u is done, and others are not after %g seconds more\n",
                 rank(), patience_);
    code = ExitCode::ProgramStopped;
  }
  if (isShared && rank() > 0)
    std::this_thread::sleep_for(std::chrono::seconds(5));
  ranks_->abort(static_cast<int>(code));
}

} // namespace ptl
