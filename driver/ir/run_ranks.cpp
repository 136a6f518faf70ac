#include "driver/ir/run_ranks.h"

#include "driver/command_line.h"
#include "driver/commands.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <sched.h>
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
    why = "libptl-mpi.so is not beside `ptlc`: it is built if MPI is installed (libopenmpi-dev)";
    return nullptr;
  }
  std::unique_ptr<ranks::Lifeline> lifeline = ranks::Lifeline::tie(patience, why);
  if (!lifeline)
    return nullptr;
  // MPI loads parts of itself, which look for its names.
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  auto open = reinterpret_cast<PtlRanksOpen>(library ? ::dlsym(library, PTL_RANKS_OPEN) : nullptr);
  const PtlRanks *ranks = open ? open() : nullptr;
  if (!ranks || ranks->version != kPtlRanksVersion) {
    const char *text = library ? nullptr : ::dlerror();
    why = text ? text : path + " is not a plug-in of this version of ptlc";
    lifeline->ends(static_cast<int>(ExitCode::Missing), false);
    lifeline->done();
    return nullptr;
  }
  lifeline->does(ranks::kWorks);
  // The pool of threads reads this when it is first used.
  if (cpu_set_t own; ::sched_getaffinity(0, sizeof own, &own) == 0)
    ::setenv("PTL_NUM_THREADS", std::to_string(std::min(ranks->cores, CPU_COUNT(&own))).c_str(), 0);
  return std::unique_ptr<Ranks>(new Ranks(std::move(lifeline), ranks, patience));
}

ranks::Outcome Ranks::start(uint32_t count, double patience, ranks::Keeper::NameOf nameOf) {
  constexpr int missing = static_cast<int>(ExitCode::Missing);
  if (pluginPath().empty())
    return {false, missing,
            "libptl-mpi.so is not beside `ptlc`: it is built if MPI is installed (libopenmpi-dev)"};
  // The ranks get this command line, and find out by their environment that they are ranks.
  std::vector<std::string> words = {"mpirun", "--quiet", "--oversubscribe", "-n",
                                    std::to_string(count)};
  // Open MPI refuses to run for the superuser unless that is said, and in containers there is often no other user.
  if (::geteuid() == 0)
    words.push_back("--allow-run-as-root");
  words.push_back(std::string(executableFolder()) + "ptlc");
  words.insert(words.end(), runningCommand().begin() + 1, runningCommand().end());
  ranks::Limits limits;
  limits.patience = patience;
  return ranks::attend(std::move(words), count, limits, std::move(nameOf));
}

Ranks::~Ranks() {
  // Whatever has led here, the others do not wait for it.
  if (!hasEnded_)
    stop(ExitCode::SourceErrors, false);
}

void Ranks::send(uint32_t rank, std::span<const uint8_t> bytes) {
  ranks_->send(static_cast<int32_t>(rank), bytes.data(), bytes.size());
}

void Ranks::post(uint32_t rank, std::span<const uint8_t> bytes) {
  ranks_->post(static_cast<int32_t>(rank), bytes.size(), nullptr,
               const_cast<uint8_t *>(bytes.data()));
}

void Ranks::postBy(uint32_t rank, size_t size, const movement::GiveBytes &give) {
  auto next = [](void *message, void *bytes, size_t count) {
    (*static_cast<const movement::GiveBytes *>(message))({static_cast<uint8_t *>(bytes), count});
  };
  ranks_->post(static_cast<int32_t>(rank), size, next, const_cast<movement::GiveBytes *>(&give));
}

bool Ranks::settle(uint32_t rank) {
  lifeline_->does(static_cast<int32_t>(rank));
  bool hasLeft = ranks_->settle(static_cast<int32_t>(rank), patience()) == 0;
  lifeline_->does(ranks::kWorks);
  return hasLeft;
}

bool Ranks::receive(uint32_t rank, std::span<uint8_t> bytes) {
  return receive(rank, bytes.size(), bytes.data(), nullptr);
}

bool Ranks::receiveBy(uint32_t rank, size_t size, const movement::TakeBytes &take) {
  return receive(rank, size, nullptr, &take);
}

bool Ranks::receiveInto(uint32_t rank, std::span<uint8_t> bytes, const movement::TakeBytes &seen) {
  return receive(rank, bytes.size(), bytes.data(), &seen);
}

bool Ranks::receive(uint32_t rank, size_t size, void *place, const movement::TakeBytes *take) {
  auto next = [](void *message, void *bytes, size_t count) {
    (*static_cast<const movement::TakeBytes *>(message))({static_cast<uint8_t *>(bytes), count});
  };
  lifeline_->does(static_cast<int32_t>(rank));
  bool hasCome = ranks_->receive(static_cast<int32_t>(rank), size, place, take ? +next : nullptr,
                                 const_cast<movement::TakeBytes *>(take), patience()) == 0;
  lifeline_->does(ranks::kWorks);
  return hasCome;
}

movement::Cost Ranks::cost() const {
  movement::Cost cost;
  cost.ranksPerCore = ranks_->ranksPerCore;
  return cost;
}

namespace {
/// What a rank says of a property.
struct Said {
  uint64_t hash = 0;
  char name[56] = {};
};
} // namespace

std::string Ranks::firstOther(const std::string &property, const std::string &name) {
  Said own{.hash = std::hash<std::string>()(property)};
  name.copy(own.name, sizeof own.name - 1);
  char found[200] = {};
  auto bytesOf = [](auto &what) {
    return std::span(reinterpret_cast<uint8_t *>(&what), sizeof what);
  };
  if (rank() > 0) {
    send(0, bytesOf(own));
    return receive(0, bytesOf(found)) ? found : "the first rank has not said what it has";
  }
  for (uint32_t other = 1; other < count(); ++other) {
    Said said;
    bool isSame = receive(other, bytesOf(said)) && said.hash == own.hash;
    if (!isSame && !*found)
      std::snprintf(found, sizeof found, "rank 0 has `%s`, and rank %u `%s`%s", own.name, other,
                    said.name, name == said.name ? " with other features" : "");
  }
  for (uint32_t other = 1; other < count(); ++other)
    send(other, bytesOf(found));
  return found;
}

void Ranks::stop(ExitCode code, bool isShared) {
  hasEnded_ = true;
  std::fflush(nullptr);
  lifeline_->ends(static_cast<int>(code), isShared);
  // The first rank is on its way to say it, and what watches over all knows whether it is. Of a rank on
  // another machine nothing is known.
  if (isShared && rank() > 0)
    std::this_thread::sleep_for(std::chrono::seconds(lifeline_->coversAll() ? 3600 : 5));
  ranks_->abort(static_cast<int>(code));
  std::abort(); // `abort` does not return.
}

ExitCode Ranks::end(ExitCode code, bool isShared, const std::function<ExitCode()> &commit) {
  if (code != ExitCode::Fine)
    stop(code, isShared);
  lifeline_->does(ranks::kWaitsForAll);
  // No result may appear before all ranks have ended well.
  if (ranks_->finish(patience()) != 0) {
    std::fprintf(stderr, "ptlc: rank %u has ended, but others have not after %g more seconds\n",
                 rank(), patience_);
    stop(ExitCode::ProgramStopped, false);
  }
  if (rank() == 0) {
    lifeline_->commits();
    code = commit();
    if (code != ExitCode::Fine)
      stop(code, false);
    lifeline_->committed();
  }
  hasEnded_ = true;
  ranks_->leave();
  lifeline_->done();
  return code;
}

} // namespace ptl
