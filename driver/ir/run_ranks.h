// Runs the parts of a program as MPI ranks: `ptlc run --shape chip=4` starts `mpirun` and
// supervises it, and the processes that `mpirun` starts run the same command as ranks.
#pragma once

#include "driver/options.h"
#include "runtime/movement/run_rank.h"
#include "runtime/ranks/attend.h"
#include "runtime/ranks/lifeline.h"
#include "runtime/ranks/ranks.h"

#include <functional>
#include <memory>
#include <string>

namespace ptl {

/// One rank of a run, with its connections to all others.
class Ranks : public movement::Port {
public:
  /// Whether `mpirun` or a similar program started this process as one of several.
  static bool isOne();
  /// Connects this rank to its keeper and loads the MPI plug-in. Null, with the reason, after a
  /// failure.
  static std::unique_ptr<Ranks> join(double patience, std::string &why);
  /// Runs `mpirun` with `count` processes of this command, and waits until all of them have ended.
  static ranks::Outcome start(uint32_t count, double patience, ranks::Keeper::NameOf nameOf);
  ~Ranks() override;

  uint32_t rank() const { return static_cast<uint32_t>(ranks_->rank); }
  uint32_t count() const { return static_cast<uint32_t>(ranks_->count); }
  void send(uint32_t rank, std::span<const uint8_t> bytes) override;
  void post(uint32_t rank, std::span<const uint8_t> bytes) override;
  void postBy(uint32_t rank, size_t size, const movement::GiveBytes &give) override;
  bool settle(uint32_t rank) override;
  bool receive(uint32_t rank, std::span<uint8_t> bytes) override;
  bool receiveBy(uint32_t rank, size_t size, const movement::TakeBytes &take) override;
  bool receiveInto(uint32_t rank, std::span<uint8_t> bytes,
                   const movement::TakeBytes &seen) override;
  movement::Cost cost() const override;
  /// Compares a property of all ranks, whose short form is `name`: says which rank is the first one with another than the first rank has, on
  /// all of them alike. Empty if all have the same.
  std::string firstOther(const std::string &property, const std::string &name);
  /// Notes a file that is removed if the run fails.
  void makes(const std::string &path) { lifeline_->makes(path); }
  /// Ends this rank, after its messages have been printed. After success it waits until every rank
  /// has called this; then the first rank writes the results by `commit`, whose exit code is that
  /// of the run. After a failure all ranks end. With `isShared` all ranks have failed for the same
  /// reason, and the first one reports it.
  ExitCode end(ExitCode code, bool isShared, const std::function<ExitCode()> &commit);

private:
  Ranks(std::unique_ptr<ranks::Lifeline> lifeline, const PtlRanks *ranks, double patience)
      : lifeline_(std::move(lifeline)), ranks_(ranks), patience_(patience) {}
  bool receive(uint32_t rank, size_t size, void *place, const movement::TakeBytes *take);
  /// How long to wait for others in seconds: without a limit if the keeper watches all of them.
  double patience() const { return lifeline_->coversAll() ? -1 : patience_; }
  [[noreturn]] void stop(ExitCode code, bool isShared);

  std::unique_ptr<ranks::Lifeline> lifeline_;
  const PtlRanks *ranks_;
  double patience_;
  bool hasEnded_ = false;
};

} // namespace ptl
