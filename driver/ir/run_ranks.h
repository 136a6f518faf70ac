// The parts of a program as ranks of MPI: `ptlc run --shape chip=4` starts `mpirun` and watches over it, and
// what that starts finds itself among ranks.
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

/// All ranks of a run, seen from one.
class Ranks : public movement::Port {
public:
  /// Whether something like `mpirun` started this process as one of several.
  static bool isOne();
  /// Ties this rank to what watches over it and loads the plug-in; null, and the reason, if it cannot.
  static std::unique_ptr<Ranks> join(double patience, std::string &why);
  /// Runs `mpirun` with as many of this same command, until all of them are gone.
  static ranks::Outcome start(uint32_t count, double patience, ranks::Keeper::NameOf nameOf);
  ~Ranks() override;

  uint32_t rank() const { return static_cast<uint32_t>(ranks_->rank); }
  uint32_t count() const { return static_cast<uint32_t>(ranks_->count); }
  void send(uint32_t rank, std::span<const uint8_t> bytes) override;
  void post(uint32_t rank, std::span<const uint8_t> bytes) override;
  bool settle(uint32_t rank) override;
  bool receive(uint32_t rank, std::span<uint8_t> bytes) override;
  /// A file that is to be gone if the run fails.
  void makes(const std::string &path) { lifeline_->makes(path); }
  /// The end of this rank, after all that it says has been written. With success it waits until every
  /// rank has come here; then the first one puts the results where they belong, by `commit`, and its
  /// code is that of the run. Without, all ranks end: because of this one, or of the first if that has the
  /// same to say, `isShared`.
  ExitCode end(ExitCode code, bool isShared, const std::function<ExitCode()> &commit);

private:
  Ranks(std::unique_ptr<ranks::Lifeline> lifeline, const PtlRanks *ranks, double patience)
      : lifeline_(std::move(lifeline)), ranks_(ranks), patience_(patience) {}
  /// How long to wait for others: as long as it takes, if somebody watches over all of them.
  double patience() const { return lifeline_->coversAll() ? -1 : patience_; }
  [[noreturn]] void stop(ExitCode code, bool isShared);

  std::unique_ptr<ranks::Lifeline> lifeline_;
  const PtlRanks *ranks_;
  double patience_;
  bool hasEnded_ = false;
};

} // namespace ptl
