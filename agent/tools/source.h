// The file that a call is about: it is read within the server's folders and checked, and tools
// query it.
#pragma once

#include "agent/tools/answer.h"
#include "compile/call/example_call.h"
#include "compile/compiler_options.h"
#include "machines/costs.h"

#include <memory>
#include <optional>

namespace ptl::agent {

struct Source {
  std::string path; ///< as an agent writes it
  SourceManager sources;
  DiagnosticSink sink;
  CheckOptions options;
  FileId file = 0;
  std::unique_ptr<CheckedProgram> program;

  /// The first error as one line, and the number of errors.
  std::string errors() const;
};

/// Reads the file of a call without checking it. Returns null and refuses the call if the file, or
/// one that it imports, lies outside the folders or cannot be read.
std::unique_ptr<Source> openSource(const Call &call, Answer &answer);
/// Like `openSource`, and checks the file. With `refuses`, a file with errors refuses the call,
/// with advice what to do.
std::unique_ptr<Source> checkSource(const Call &call, Answer &answer, bool refuses);

/// The chip of a call with its cost model. Nothing if the call has been refused.
struct Chip {
  Machine machine;
  MachineCosts costs;
};
std::optional<Chip> chipOf(const Call &call, const Source &source, Answer &answer);
/// Like `chipOf`, for answers about time: a chip without a cost model refuses the call.
std::optional<Chip> timedChipOf(const Call &call, const Source &source, Answer &answer);

/// The arguments that identify what a call is about, to be repeated in another call about the same
/// thing.
inline constexpr ArgumentSet kSubject = of(ArgumentId::File) | of(ArgumentId::Text) |
                                        of(ArgumentId::Entry) | of(ArgumentId::Target) |
                                        of(ArgumentId::Values);

/// The compiler options of agents' calls: nothing is written to disk.
CompilerOptions optionsFor(const Source &source, const std::optional<Machine> &chip);
/// The values of the call that name dimensions of one declaration.
ExampleSizes sizesFor(const Call &call, const CallableDecl &decl);
Wanted wantedOf(const Call &call);

/// The kernels and programs for a chip that the call names: the named one, or all. Empty if the
/// call has been refused.
std::vector<const CallableDecl *> chipEntries(const Call &call, const Source &source,
                                              const Machine &machine, Answer &answer);
/// The entry of a call that needs exactly one, among those for `chip` if a chip is given. Null if
/// the call has been refused.
const CallableDecl *oneEntry(const Call &call, const Source &source, Answer &answer,
                             const Machine *chip = nullptr);

/// The subject of a call about the time of one entry: a checked file without errors, a chip with a
/// cost model, and the entry. Nothing if the call has been refused.
struct TimedEntry {
  std::unique_ptr<Source> source;
  Chip chip;
  const CallableDecl *decl = nullptr;
};
std::optional<TimedEntry> timedEntryOf(const Call &call, Answer &answer);

/// Adds the diagnostics of the source, with the fixes that can be applied, to the answer, and keeps
/// the full list as a document.
void addDiagnostics(const Call &call, Source &source, Answer &answer);

} // namespace ptl::agent
