#include "driver/session.h"

#include "driver/defines.h"
#include "frontend/base/counted.h"
#include "frontend/base/given_value.h"

#include "frontend/base/output.h"
#include "frontend/base/render.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <unistd.h>

namespace ptl {

Session::Session(const Options &options) : options_(options) {}

Session::Timer::~Timer() {
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  for (auto &[known, total] : session.times_)
    // A step that runs several times is one line of the report.
    if (std::string_view(known) == name) {
      total += time.count();
      return;
    }
  session.times_.emplace_back(name, time.count());
}

static std::string readStandardInput() {
  std::string text;
  char buffer[1 << 16];
  while (size_t count = std::fread(buffer, 1, sizeof buffer, stdin))
    text.append(buffer, count);
  return text;
}

std::optional<FileId> Session::load(const std::string &path) {
  if (path == "-") {
    std::string_view name = options_.value(OptionId::StdinName);
    return sources_.add(std::string(name.empty() ? "<stdin>" : name), readStandardInput());
  }
  std::string reason;
  std::optional<FileId> id = sources_.load(path, &reason);
  if (!id)
    sink_.report(DiagId::CannotReadFile, kNoSpan, {path, reason});
  return id;
}

const std::shared_ptr<const MachineSet> &Session::machines() {
  if (machines_)
    return machines_;
  std::vector<MachineFile> files;
  for (const std::string &path : options_.values(OptionId::Machine))
    if (std::optional<FileId> id = load(path))
      files.push_back({path, std::string(sources_.file(*id).text())});
  // Files are read once, so that a wrong one is reported once.
  machines_ = std::make_shared<MachineSet>(std::move(files));
  for (const MachineSet::Invalid &file : machines_->invalid())
    sink_.report(DiagId::InvalidMachine, kNoSpan, {file.path, file.reason});
  return machines_;
}

CheckOptions Session::checkOptions() {
  CheckOptions check;
  check.machines = machines();
  check.importPaths = options_.values(OptionId::Include);
  check.stdPath = standardLibraryFolder();
  check.deterministic = options_.has(OptionId::Deterministic);
  for (const std::string &define : options_.values(OptionId::Define)) {
    size_t equals = define.find('=');
    // `-D entry.C=512,1024` chooses variants; the checker has no use for it.
    if (define.substr(0, equals).find('.') != define.npos)
      continue;
    // A value that is no number is an element type, or there are several; constants take neither.
    std::string_view value =
        equals == define.npos ? "1" : std::string_view(define).substr(equals + 1);
    if (std::optional<int64_t> number = givenNumber(value))
      check.defines[define.substr(0, equals)] = *number;
  }
  return check;
}

std::unique_ptr<CheckedProgram> Session::check(const std::string &path) {
  std::optional<FileId> id = timed("read", [&] { return load(path); });
  if (!id)
    return nullptr;
  std::unique_ptr<CheckedProgram> program =
      timed("check", [&] { return checkFile(sources_, *id, checkOptions(), sink_); });
  // Where checking failed, names may only seem to be unknown.
  if (program && !failed())
    reportUnknownDefines(options_, *program, sink_);
  return program;
}

bool Session::write(const std::string &path, std::string_view data) {
  std::string reason;
  if (writeOutput(path, data, &reason))
    return true;
  sink_.report(DiagId::CannotWriteFile, kNoSpan, {path, reason});
  return false;
}

/// A path as Make reads it.
static std::string makeEscaped(std::string_view path) {
  std::string out;
  for (char c : path) {
    if (c == ' ' || c == '#' || c == '\\')
      out += '\\';
    out += c == '$' ? "$$" : std::string(1, c);
  }
  return out;
}

void Session::writeDependencies(const std::string &target) {
  if (!options_.has(OptionId::MakeDeps))
    return;
  std::string text = makeEscaped(target) + ":";
  for (FileId id = 0; id < sources_.size(); ++id)
    // Standard input is no file to depend on.
    if (sources_.file(id).path().substr(0, 1) != "<")
      text += " \\\n  " + makeEscaped(sources_.file(id).path());
  std::string path(options_.value(OptionId::MakeDepsFile));
  write(path.empty() ? target + ".d" : path, text + "\n");
}

/// Applies `-W` to one flag: off, an error, or as the table says.
static void applyWarningOptions(const std::vector<std::string> &options, Diagnostic &diagnostic,
                                bool &shown) {
  std::string_view flag = diagInfo(diagnostic.id).flag;
  if (diagnostic.severity != Severity::Warning || flag.empty())
    return;
  bool error = false;
  for (std::string_view option : options) {
    bool on = option.substr(0, 3) != "no-";
    if (!on)
      option.remove_prefix(3);
    bool isError = option.substr(0, 5) == "error" && (option.size() == 5 || option[5] == '=');
    std::string_view name = isError ? option.substr(std::min<size_t>(6, option.size())) : option;
    if (!name.empty() && name != flag && name != "all")
      continue;
    if (isError)
      error = on;
    else
      shown = on;
    if (isError && on && !name.empty())
      // What is made an error by name has to be seen.
      shown = true;
  }
  if (error)
    diagnostic.severity = Severity::Error;
}

std::vector<Diagnostic> Session::shownDiagnostics(size_t *hidden) const {
  std::vector<Diagnostic> shown;
  size_t limit = static_cast<size_t>(options_.number(OptionId::ErrorLimit).value_or(100));
  size_t errors = 0;
  for (Diagnostic diagnostic : sink_.all()) {
    bool keep = true;
    applyWarningOptions(options_.values(OptionId::Warning), diagnostic, keep);
    // A limit of 0 means none.
    if (keep && diagnostic.severity == Severity::Error && ++errors > limit && limit != 0) {
      ++*hidden;
      continue;
    }
    if (keep)
      shown.push_back(std::move(diagnostic));
  }
  return shown;
}

static bool wantsColor(std::string_view when) {
  if (when == "always" || when == "never")
    return when == "always";
  // See no-color.org: any value but an empty one turns colours off.
  const char *off = std::getenv("NO_COLOR");
  const char *terminal = std::getenv("TERM");
  return !(off && *off) && ::isatty(STDERR_FILENO) &&
         !(terminal && std::string_view(terminal) == "dumb");
}

ExitCode Session::finish(ExitCode code) {
  sink_.sort();
  size_t hidden = 0;
  std::vector<Diagnostic> shown = shownDiagnostics(&hidden);
  RenderOptions render;
  render.format =
      parseDiagnosticFormat(options_.value(OptionId::Diagnostics)).value_or(render.format);
  render.color = wantsColor(options_.value(OptionId::Color));
  std::string text = renderDiagnostics(sources_, shown, render);
  bool document =
      render.format == DiagnosticFormat::Json || render.format == DiagnosticFormat::Sarif;
  auto count = [&](Severity severity) {
    return static_cast<size_t>(
        std::count_if(shown.begin(), shown.end(),
                      [&](const Diagnostic &each) { return each.severity == severity; }));
  };
  size_t errors = count(Severity::Error), warnings = count(Severity::Warning);
  // A single problem that lies in no source needs no count.
  bool counted = std::any_of(shown.begin(), shown.end(),
                             [](const Diagnostic &each) { return each.span.file != kNoFile; });
  if (render.format == DiagnosticFormat::Human && counted && errors + warnings > 0) {
    text += "\n";
    if (errors)
      text += ptl::counted(errors, "error");
    if (warnings)
      text += (errors ? ", " : "") + ptl::counted(warnings, "warning");
    if (hidden)
      text += ", " + ptl::counted(hidden, "more error") + " not shown";
    text += "\n";
  }
  for (const auto &[name, milliseconds] : times_)
    if (options_.has(OptionId::TimePasses) && !document) {
      char line[80];
      std::snprintf(line, sizeof line, "%10.3f ms  %s\n", milliseconds, name);
      text += line;
    }
  std::fputs(text.c_str(), document ? stdout : stderr);
  // Whichever command met it, and whatever came of it there.
  if (std::any_of(shown.begin(), shown.end(),
                  [](const Diagnostic &each) { return each.id == DiagId::CompilerFault; }))
    return ExitCode::Internal;
  return code == ExitCode::Fine && errors > 0 ? ExitCode::SourceErrors : code;
}

ExitCode usageError(const std::string &message) {
  std::fprintf(stderr, "ptlc: error: %s\n", message.c_str());
  return ExitCode::Usage;
}

} // namespace ptl
