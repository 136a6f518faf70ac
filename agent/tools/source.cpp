#include "agent/tools/source.h"

#include "compile/chip/feasibility.h"
#include "compile/entry/choose_entry.h"
#include "compile/entry/manifest.h"
#include "frontend/base/given_value.h"
#include "frontend/base/install.h"
#include "frontend/parse/parse.h"
#include "frontend/sema/declarations/check_module.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace ptl::agent {

namespace fs = std::filesystem;

std::string Source::errors() const {
  for (const Diagnostic &each : sink.all())
    if (each.severity == Severity::Error) {
      std::string place = sources.place(each.span), more;
      if (sink.errorCount() > 1)
        more = " (and " + std::to_string(sink.errorCount() - 1) + " more)";
      return (place.empty() ? "" : place + ": ") + diagInfo(each.id).code + ": " + each.message +
             more;
    }
  return "";
}

/// The first file that the imports of a text lead to, directly or not, outside of the folders; empty if there
/// is none. Nothing there is opened.
static std::string outsideImport(const Call &call, const SourceFile &file,
                                 const CheckOptions &options, std::set<std::string> &seen) {
  DiagnosticSink ignored;
  Tree tree = parse(file, ignored);
  for (NodeId node : tree.children(tree.root())) {
    if (!tree.is(node, NodeKind::ImportDecl))
      continue;
    for (const fs::path &place : importRequest(tree, node, file.path(), options).places) {
      std::string path = place.lexically_normal().string();
      std::error_code error;
      // Every place where the import may be found counts, even if there is no file: whether one
      // exists outside is nothing that the client may learn.
      if (!call.roots.holds(path, options.stdPath))
        return path;
      // Files may import each other.
      if (!fs::is_regular_file(place, error) || !seen.insert(path).second)
        continue;
      SourceManager sources;
      std::string ignoredReason;
      std::optional<FileId> imported = sources.load(path, &ignoredReason);
      if (!imported)
        continue;
      if (std::string outside = outsideImport(call, sources.file(*imported), options, seen);
          !outside.empty())
        return outside;
    }
  }
  return "";
}

std::unique_ptr<Source> openSource(const Call &call, Answer &answer) {
  std::string problem, named = call.arguments.text(ArgumentId::File);
  std::string real = call.roots.resolve(named, &problem);
  if (real.empty()) {
    answer.refuse(problem);
    return nullptr;
  }
  auto source = std::make_unique<Source>();
  source->path = call.roots.shown(real);
  source->options.stdPath = standardLibraryFolder();
  std::error_code error;
  if (call.arguments.has(ArgumentId::Text)) {
    source->file = source->sources.add(source->path, call.arguments.text(ArgumentId::Text));
  } else if (!fs::is_regular_file(real, error)) {
    answer.refuse("`" + named + "` is not a file");
    return nullptr;
  } else if (auto file = source->sources.load(source->path, &problem)) {
    source->file = *file;
  } else {
    answer.refuse("`" + named + "` cannot be read: " + problem);
    return nullptr;
  }
  std::set<std::string> seen;
  // An import must not read what the client may not name itself.
  std::string outside =
      outsideImport(call, source->sources.file(source->file), source->options, seen);
  if (!outside.empty()) {
    answer.refuse("`" + named + "` imports `" + outside +
                  "`, which is outside of the folders that the server was started for");
    return nullptr;
  }
  return source;
}

std::unique_ptr<Source> checkSource(const Call &call, Answer &answer, bool refuses) {
  std::unique_ptr<Source> source = openSource(call, answer);
  if (!source)
    return nullptr;
  for (const auto &[name, value] : wantedOf(call)) {
    if (std::string problem = givenProblem(value); !problem.empty()) {
      answer.refuse("the value of `" + name + "`: " + problem);
      return nullptr;
    }
    std::optional<int64_t> number = givenNumber(value);
    // `entry.C` chooses a variant of an entry, of which the checker knows nothing.
    if (number && name.find('.') == name.npos)
      source->options.defines[name] = *number;
  }
  source->program = checkFile(source->sources, source->file, source->options, source->sink);
  source->sink.sort();
  if (refuses && source->sink.hasErrors()) {
    answer.refuse("the file has errors: " + source->errors());
    answer.next("check", argumentsFor(call, of(ArgumentId::File) | of(ArgumentId::Text)),
                "lists the errors with their repairs", {"the file compiles"});
    return nullptr;
  }
  return source;
}

std::optional<Chip> chipOf(const Call &call, const Source &source, Answer &answer) {
  const MachineSet &machines = *source.options.machines;
  std::string name = call.arguments.text(ArgumentId::Target, "a3");
  const Machine *machine = machines.find(name);
  // The processor has no pipes and buffers that these tools could show.
  if (!machine || machine->executable) {
    std::string chips;
    for (const std::string &chip : machines.chips())
      chips += (chips.empty() ? "`" : ", `") + chip + "`";
    answer.refuse("there is no chip `" + name + "`; the chips are " + chips);
    return std::nullopt;
  }
  std::optional<MachineCosts> costs = findCosts(machine->name, machines.ownFiles());
  return Chip{*machine, costs.value_or(MachineCosts())};
}

std::optional<Chip> timedChipOf(const Call &call, const Source &source, Answer &answer) {
  std::optional<Chip> chip = chipOf(call, source, answer);
  if (!chip || chip->costs.known())
    return chip;
  answer.refuse("the file of " + chip->machine.name + " has no costs, so there are no times");
  return std::nullopt;
}

CompilerOptions optionsFor(const Source &source, const std::optional<Machine> &chip) {
  CompilerOptions options;
  options.chip = chip;
  options.reportsParts = true;
  options.recheck = std::make_shared<CheckOptions>(source.options);
  return options;
}

Wanted wantedOf(const Call &call) { return call.arguments.values(ArgumentId::Values); }

ExampleSizes sizesFor(const Call &call, const CallableDecl &decl) {
  return sizesWanted(decl, wantedOf(call));
}

std::vector<const CallableDecl *> chipEntries(const Call &call, const Source &source,
                                              const Machine &machine, Answer &answer) {
  std::vector<const CallableDecl *> all, chosen;
  std::string name = call.arguments.text(ArgumentId::Entry);
  for (const CallableDecl *decl : source.program->modules.front()->callables) {
    // A `fn` is inlined into its callers and has no code of its own on a chip.
    if (!isForChips(*decl) || !decl->isFor(machine.name))
      continue;
    all.push_back(decl);
    if (name.empty() || decl->name == name)
      chosen.push_back(decl);
  }
  if (chosen.empty() && !name.empty())
    answer.refuse("there is no kernel or program `" + name + "` for " + machine.name +
                  "; there is " + listedNames(all));
  else if (chosen.empty())
    answer.refuse("the file has no kernel or program for " + machine.name);
  return chosen;
}

const CallableDecl *oneEntry(const Call &call, const Source &source, Answer &answer,
                             const Machine *chip) {
  EntryChoice choice = chooseEntry(*source.program, call.arguments.text(ArgumentId::Entry),
                                   "`entry`", [&](const CallableDecl &decl) {
                                     return !chip || (isForChips(decl) && decl.isFor(chip->name));
                                   });
  if (choice.decl)
    choice.problem = entryProblem(*choice.decl);
  if (choice.problem.empty())
    return choice.decl;
  answer.refuse(choice.problem);
  return nullptr;
}

std::optional<TimedEntry> timedEntryOf(const Call &call, Answer &answer) {
  std::unique_ptr<Source> source = checkSource(call, answer, true);
  std::optional<Chip> chip = source ? timedChipOf(call, *source, answer) : std::nullopt;
  const CallableDecl *decl = chip ? oneEntry(call, *source, answer, &chip->machine) : nullptr;
  if (!decl)
    return std::nullopt;
  return TimedEntry{std::move(source), std::move(*chip), decl};
}

/// The edits of all certain fixes that do not touch each other.
static std::vector<TextEdit> certainEdits(const Source &source, size_t &count) {
  std::vector<TextEdit> edits;
  auto touches = [&](const TextEdit &edit) {
    return std::any_of(edits.begin(), edits.end(), [&](const TextEdit &other) {
      return other.span.file == edit.span.file && edit.span.begin <= other.span.end &&
             other.span.begin <= edit.span.end;
    });
  };
  for (const Diagnostic &diagnostic : source.sink.all())
    if (const Fix *fix = diagnostic.certainFix()) {
      bool isFree =
          !fix->edits.empty() && std::none_of(fix->edits.begin(), fix->edits.end(), touches) &&
          std::all_of(fix->edits.begin(), fix->edits.end(),
                      [&](const TextEdit &edit) { return edit.span.file == source.file; });
      // A fix is made as a whole or not at all, since half of it could break the program.
      count += isFree;
      if (isFree)
        edits.insert(edits.end(), fix->edits.begin(), fix->edits.end());
    }
  return edits;
}

static Json diagnosticJson(const Call &call, const Source &source, const Diagnostic &diagnostic,
                           const Json &again, Answer &answer) {
  Json fixes = Json::array();
  const char *code = diagInfo(diagnostic.id).code;
  for (const Fix &fix : diagnostic.fixes) {
    bool isOwn = !fix.edits.empty() &&
                 std::all_of(fix.edits.begin(), fix.edits.end(),
                             [&](const TextEdit &edit) { return edit.span.file == source.file; });
    if (!isOwn)
      continue;
    std::string id = answer.fix(call, source.sources, fix.title, fix.edits, again);
    fixes.push_back(
        {{"id", id}, {"title", fix.title}, {"safety", fixSafetyName(fixInfo(fix.id).safety)}});
    answer.next("apply_fix", {{"id", id}}, fix.title,
                {fix.isCertain() ? std::string("removes ") + code
                                 : std::string("removes ") + code + ", if that was meant"});
  }
  Json json = {{"code", code},
               {"severity", diagnostic.severity == Severity::Error     ? "error"
                            : diagnostic.severity == Severity::Warning ? "warning"
                                                                       : "note"},
               {"message", diagnostic.message},
               {"fixes", std::move(fixes)}};
  if (std::string at = source.sources.place(diagnostic.span); !at.empty())
    json["at"] = at;
  if (!diagnostic.primaryLabel.empty())
    json["label"] = diagnostic.primaryLabel;
  if (!diagnostic.notes.empty())
    json["notes"] = diagnostic.notes;
  if (!diagnostic.helps.empty())
    json["helps"] = diagnostic.helps;
  return json;
}

void addDiagnostics(const Call &call, Source &source, Answer &answer) {
  // An agent reads all of an answer, and one mistake often causes many reports; the whole list is
  // under `more`.
  constexpr size_t most = 6;
  size_t certain = 0, warnings = 0;
  Json again = {{"tool", call.tool.name}, {"arguments", call.arguments.json()}};
  if (std::vector<TextEdit> edits = certainEdits(source, certain); certain > 1) {
    std::string title = "make the " + std::to_string(certain) + " certain fixes at once";
    answer.next("apply_fix", {{"id", answer.fix(call, source.sources, title, edits, again)}}, title,
                {"removes " + std::to_string(certain) + " diagnostics"});
  }
  Json list = Json::array();
  for (const Diagnostic &diagnostic : source.sink.all()) {
    warnings += diagnostic.severity == Severity::Warning;
    if (list.size() < most)
      list.push_back(diagnosticJson(call, source, diagnostic, again, answer));
  }
  answer.body["errors"] = source.sink.errorCount();
  answer.body["warnings"] = warnings;
  answer.body["diagnostics"] = std::move(list);
}

} // namespace ptl::agent
