// The parts of a program as ranks of MPI: `ptlc run --shape chip=4` starts `mpirun`, and what it starts
// finds itself among ranks.
#pragma once

#include "driver/options.h"
#include "runtime/movement/run_rank.h"
#include "runtime/ranks/ranks.h"

#include <memory>
#include <string>

namespace ptl {

/// All ranks of a run, seen from one.
class Ranks : public movement::Port {
public:
  /// Whether something like `mpirun` started this process as one of several.
  static bool isOne();
  /// Loads the plug-in; null, and the reason, if it cannot.
  static std::unique_ptr<Ranks> join(double patience, std::string &why);
  /// Becomes `mpirun` with as many of this same command; comes back with the reason if it cannot.
  static std::string start(uint32_t count);

  uint32_t rank() const { return static_cast<uint32_t>(ranks_->rank); }
  uint32_t count() const { return static_cast<uint32_t>(ranks_->count); }
  void send(uint32_t rank, std::span<const uint8_t> bytes) override;
  bool receive(uint32_t rank, std::span<uint8_t> bytes) override;
  /// The end of this rank, after all that it says has been written. Without success, of all ranks: by
  /// this one, or by the first if that has the same to say, `isShared`.
  void end(ExitCode code, bool isShared);

private:
  Ranks(const PtlRanks *ranks, double patience) : ranks_(ranks), patience_(patience) {}

  const PtlRanks *ranks_;
  double patience_;
};

} // namespace ptl
