// One run of `ptlc`: its sources, its diagnostics and how they are shown. It is used both by the
// commands of the executable and by those of ptlc-ir.
#pragma once

#include "driver/options.h"
#include "frontend/base/diagnostic.h"
#include "frontend/base/install.h"
#include "frontend/sema/check.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptl {

class Session {
public:
  explicit Session(const Options &options);

  const Options &options() const { return options_; }
  SourceManager &sources() { return sources_; }
  DiagnosticSink &sink() { return sink_; }
  const std::vector<Diagnostic> &diagnostics() const { return sink_.all(); }

  /// Reads an input; `-` is standard input. If it cannot be read, reports E0001 and returns
  /// nothing.
  std::optional<FileId> load(const std::string &path);

  /// The machines that the command line may name. The first call reads the files of `--machine`;
  /// errors are reported: files that cannot be read (E0001) or are not machines (E0803).
  const std::shared_ptr<const MachineSet> &machines();

  /// The checker's options from the command line (`-I`, `-D`, `--machine`, the location of `std`).
  CheckOptions checkOptions();

  /// Loads and checks an input. Null if it cannot be read.
  std::unique_ptr<CheckedProgram> check(const std::string &path);

  /// Writes a file; a failure is reported, and the result is false.
  bool write(const std::string &path, std::string_view data);

  /// Runs one phase and adds its time to the table of `--time-passes`.
  template <typename Phase> auto timed(const char *name, Phase phase) {
    Timer timer(*this, name);
    return phase();
  }

  /// Writes the dependency file of `-MD`: `target` depends on every source that was read.
  void writeDependencies(const std::string &target);

  /// Shows all diagnostics (once, at the end) and returns `code`, or SourceErrors if there were
  /// errors and `code` is Fine.
  ExitCode finish(ExitCode code = ExitCode::Fine);

  /// True once an error was reported.
  bool failed() const { return sink_.hasErrors(); }

private:
  struct Timer {
    Timer(Session &session, const char *name)
        : session(session), name(name), start(std::chrono::steady_clock::now()) {}
    ~Timer();
    Session &session;
    const char *name;
    std::chrono::steady_clock::time_point start;
  };

  std::vector<Diagnostic> shownDiagnostics(size_t *hidden) const;

  const Options &options_;
  SourceManager sources_;
  DiagnosticSink sink_;
  std::shared_ptr<const MachineSet> machines_;
  std::vector<std::pair<const char *, double>> times_; ///< phases and their milliseconds
};

/// Prints `ptlc: error: …` for wrong usage and returns ExitCode::Usage.
ExitCode usageError(const std::string &message);

} // namespace ptl
