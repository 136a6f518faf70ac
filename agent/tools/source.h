// The file that a call is about: read within the folders of the server, checked, with what calls ask of it.
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

  /// The first error in a line, and how many there are.
  std::string errors() const;
};

/// Reads the file of a call, without checking it. Nothing after refusing the call: the file, or one that it
/// imports, is outside of the folders, or cannot be read.
std::unique_ptr<Source> openSource(const Call &call, Answer &answer);
/// The same, checked. `refuses`: a file with errors refuses the call, and says what to do.
std::unique_ptr<Source> checkSource(const Call &call, Answer &answer, bool refuses);

/// The chip of a call with its costs. Nothing after refusing the call.
struct Chip {
  Machine machine;
  MachineCosts costs;
};
std::optional<Chip> chipOf(const Call &call, const Source &source, Answer &answer);
/// The same for answers about time: a chip without costs refuses the call.
std::optional<Chip> timedChipOf(const Call &call, const Source &source, Answer &answer);

/// The arguments that say what a call is about, for another call about the same.
inline constexpr ArgumentSet kSubject = of(ArgumentId::File) | of(ArgumentId::Text) |
                                        of(ArgumentId::Entry) | of(ArgumentId::Target) |
                                        of(ArgumentId::Values);

/// How entries are compiled for agents: nothing is written to disk.
CompilerOptions optionsFor(const Source &source, const std::optional<Machine> &chip);
/// The values of the call that are lengths of one declaration.
ExampleSizes sizesFor(const Call &call, const CallableDecl &decl);
Wanted wantedOf(const Call &call);

/// The kernels and programs for a chip that the call names: one, or all. Empty after refusing it.
std::vector<const CallableDecl *> chipEntries(const Call &call, const Source &source,
                                              const Machine &machine, Answer &answer);
/// The one entry of a call that needs one, of those for `chip` where there is one; null after
/// refusing it.
const CallableDecl *oneEntry(const Call &call, const Source &source, Answer &answer,
                             const Machine *chip = nullptr);

/// What a call about the time of one entry is about: a checked file without errors, a chip with costs, the
/// entry. Nothing after refusing the call.
struct TimedEntry {
  std::unique_ptr<Source> source;
  Chip chip;
  const CallableDecl *decl = nullptr;
};
std::optional<TimedEntry> timedEntryOf(const Call &call, Answer &answer);

/// Fills in the diagnostics of the source with the fixes that can be applied, and keeps all of them as a
/// document.
void addDiagnostics(const Call &call, Source &source, Answer &answer);

} // namespace ptl::agent
