// `ptlc tune -D M=256,1024,4096`: a schedule for each range of a length.
#pragma once

#include "compile/tune/tune_entry.h"
#include "driver/session.h"

#include <functional>

namespace ptl {

/// The length with several values, and these in ascending order.
struct TunedLength {
  std::string name;
  std::vector<int64_t> values;
};

/// The length of the declaration to which `-D` gives several values. Nothing where none has, or where several
/// have, or what is no length.
std::optional<TunedLength> tunedLength(const CallableDecl &decl, const Wanted &wanted);

/// What tuning asks of the command around it.
struct RangeCommand {
  Session &session;
  const CheckedProgram &program;
  const CallableDecl &decl;
  TunedLength length;
  /// The question with these values; nothing after reporting why there is none.
  std::function<std::optional<TuneQuestion>(const Wanted &wanted)> question;
  /// Searches; `ended` says what ended the search before its end.
  std::function<TuneResult(EntryTuning &tuning, std::string &ended)> search;
  /// Whether the file gives that time with these values, and why not.
  std::function<bool(const Wanted &wanted, double us, std::string &why)> gives;
  std::string machine;
};

/// Tunes for each value, joins neighbours that one choice serves within a few hundredths, and prints or writes the
/// schedules.
void tuneRanges(const RangeCommand &command);

} // namespace ptl
