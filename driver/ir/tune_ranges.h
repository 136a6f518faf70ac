// `ptlc tune -D M=256,1024,4096`: finds a schedule for each range of a length.
#pragma once

#include "compile/tune/tune_entry.h"
#include "driver/session.h"

#include <functional>

namespace ptl {

/// A length with several values, in ascending order.
struct TunedLength {
  std::string name;
  std::vector<int64_t> values;
};

/// The length of the declaration to which `-D` gives several values. Nothing if there is none, if
/// there are several, or if the name is not a length.
std::optional<TunedLength> tunedLength(const CallableDecl &decl, const Wanted &wanted);

/// The input of the tuning, and the functions of `ptlc tune` that it calls.
struct RangeCommand {
  Session &session;
  const CheckedProgram &program;
  const CallableDecl &decl;
  TunedLength length;
  /// The question for these values; nothing after reporting why there is none.
  std::function<std::optional<TuneQuestion>(const Wanted &wanted)> question;
  /// Runs the search. `ended` gets the reason if it ended early.
  std::function<TuneResult(EntryTuning &tuning, std::string &ended)> search;
  /// Whether the file as written reaches that time with these values; if not, `why` has the reason.
  std::function<bool(const Wanted &wanted, double us, std::string &why)> gives;
  std::string machine;
};

/// Tunes for each value, merges neighbouring values for which one choice is within a few percent of
/// the best, and prints or writes the schedules.
void tuneRanges(const RangeCommand &command);

} // namespace ptl
