#include "lsp/worker/view.h"

#include "compile/cost/cost.h"
#include "compile/cost/cost_views.h"
#include "compile/entry/reach.h"
#include "frontend/base/render.h"

#include <algorithm>

namespace ptl::worker {

Span Worker::View::now(Span span) const {
  if (!checked)
    return span;
  const std::vector<Span> &before = code->places();
  // The code was compiled from an earlier text: the declarations it reads are the same, but may
  // stand at other places now.
  for (size_t i = 0; i < before.size() && i < reach.size(); ++i) {
    Span from = before[i], to = reach[i]->span;
    if (span.file == from.file && from.begin <= span.begin && span.end <= from.end)
      return {to.file, span.begin - from.begin + to.begin, span.end - from.begin + to.begin};
  }
  return kNoSpan;
}

Json placeJson(const SourceManager &sources, Span span) {
  const SourceFile &file = sources.file(span.file);
  LineColumn begin = file.lineColumn(span.begin), end = file.lineColumn(span.end);
  return {{"path", file.path()},     {"begin", span.begin},     {"end", span.end},
          {"line", begin.line - 1},  {"col", begin.column - 1}, {"endLine", end.line - 1},
          {"endCol", end.column - 1}};
}

Json Worker::View::place(Span span) const {
  Span there = now(span);
  return there.file < sources().size() ? placeJson(sources(), there) : Json();
}

Json Worker::View::placedCost(const Cost &cost) const {
  return costJson(cost, [&](Span span) {
    Json json = place(span);
    return json.is_null() ? json : Json{{"place", std::move(json)}};
  });
}

static Json diagnosticJson(const SourceManager &sources, const Diagnostic &diagnostic) {
  Json result = {{"code", diagInfo(diagnostic.id).code},
                 {"severity", severityName(diagnostic.severity)},
                 {"message", diagnostic.message}};
  if (diagnostic.span.file < sources.size())
    result["place"] = placeJson(sources, diagnostic.span);
  Json notes = Json::array();
  for (const std::string &note : diagnostic.notes)
    notes.push_back(note);
  for (const std::string &help : diagnostic.helps)
    notes.push_back(help);
  if (!notes.empty())
    result["notes"] = std::move(notes);
  return result;
}

Json wholeDiagnosticJson(const Diagnostic &diagnostic, const std::function<Json(Span)> &place) {
  Json labels = Json::array(), fixes = Json::array();
  for (const Label &label : diagnostic.labels)
    labels.push_back({{"place", place(label.span)}, {"text", label.text}});
  for (const Fix &fix : diagnostic.fixes) {
    Json edits = Json::array();
    for (const TextEdit &edit : fix.edits)
      edits.push_back({{"place", place(edit.span)}, {"text", edit.text}});
    fixes.push_back(
        {{"title", fix.title}, {"kind", fixInfo(fix.id).name}, {"edits", std::move(edits)}});
  }
  return {{"code", diagInfo(diagnostic.id).code},
          {"severity", severityName(diagnostic.severity)},
          {"message", diagnostic.message},
          {"place", place(diagnostic.span)},
          {"label", diagnostic.primaryLabel},
          {"labels", std::move(labels)},
          {"notes", diagnostic.notes},
          {"helps", diagnostic.helps},
          {"fixes", std::move(fixes)}};
}

Json diagnosticsJson(const SourceManager &sources, const DiagnosticSink &sink,
                     const std::vector<const CallableDecl *> &reach) {
  Json inside = Json::array(), all = Json::array();
  for (const Diagnostic &diagnostic : sink.all()) {
    if (diagnostic.severity != Severity::Error)
      continue;
    Json json = diagnosticJson(sources, diagnostic);
    bool isInside = std::any_of(reach.begin(), reach.end(), [&](const CallableDecl *decl) {
      return decl->span.file == diagnostic.span.file && decl->span.begin <= diagnostic.span.begin &&
             diagnostic.span.begin <= decl->span.end;
    });
    // Errors outside the reachable declarations are shown only if there are no others.
    if (isInside || diagnostic.span.file == kNoFile)
      inside.push_back(json);
    all.push_back(std::move(json));
  }
  return inside.empty() ? all : inside;
}

Json timingsJson(const Timings &timings) {
  Json result = Json::object();
  for (const auto &[name, time] : timings)
    // A step that ran several times counts as one with the sum of its times.
    result[name] = result.value(name, 0.0) + time;
  return result;
}

Json choicesJson(const std::vector<BoundEntry> &entries) {
  Json result = Json::array();
  for (const BoundEntry &entry : entries) {
    Json values = Json::array();
    for (const Choice &choice : entry.choices)
      values.push_back({{"kind", choice.kind},
                        {"name", choice.name},
                        {"value", choice.value},
                        {"why", choice.why}});
    result.push_back({{"entry", entry.name}, {"values", std::move(values)}});
  }
  return result;
}

static Wanted wantedOf(const Json &bindings) {
  Wanted wanted;
  for (const auto &[name, value] : bindings.items())
    if (value.is_string())
      wanted[name] = value.get<std::string>();
    else if (value.is_number_integer())
      wanted[name] = std::to_string(value.get<int64_t>());
    else if (value.is_boolean())
      wanted[name] = value.get<bool>() ? "true" : "false";
  return wanted;
}

static CodeOptions codeOptionsOf(const Json &options, const Machine *chip,
                                 const MachineSet &machines) {
  CodeOptions result;
  if (chip) {
    result.chip = *chip;
    result.costs = findCosts(chip->name, machines.ownFiles());
  }
  result.helps = truthField(options, "helps", false);
  result.level = static_cast<int>(std::clamp<int64_t>(numberField(options, "level", 2), 0, 3));
  result.processor = textField(options, "processor");
  result.intel = textField(options, "syntax") == "intel";
  result.unchecked = truthField(options, "unchecked", false);
  return result;
}

static std::optional<uint32_t> offsetOf(const Json &request) {
  int64_t given = numberField(request, "offset", -1);
  return given < 0 ? std::nullopt
                   : std::optional(static_cast<uint32_t>(std::min<int64_t>(given, UINT32_MAX)));
}

/// Checks the root file of a request, cut down to its entry; null if the file cannot be read.
static std::unique_ptr<Checked> checkRequest(const Json &request, const std::string &stdPath,
                                             std::shared_ptr<const MachineSet> machines,
                                             Narrower &narrower) {
  auto checked = std::make_unique<Checked>();
  CheckOptions options;
  options.stdPath = stdPath;
  options.machines = std::move(machines);
  for (const auto &[path, text] : objectField(request, "files").items())
    if (text.is_string())
      options.overlays[path] = text.get<std::string>();
  auto folders = request.find("importPaths");
  if (folders != request.end() && folders->is_array())
    for (const Json &folder : *folders)
      if (folder.is_string())
        options.importPaths.push_back(folder.get<std::string>());
  for (const auto &[name, value] : objectField(request, "defines").items())
    if (value.is_number_integer())
      options.defines[name] = value.get<int64_t>();
  std::string root = textField(request, "root");
  auto overlay = options.overlays.find(root);
  std::string text;
  if (overlay != options.overlays.end()) {
    text = overlay->second;
  } else {
    SourceManager disk;
    std::string reason;
    std::optional<FileId> file = disk.load(root, &reason);
    if (!file)
      return nullptr;
    text = disk.file(*file).text();
  }
  text = narrower.narrowed(root, std::move(text), textField(request, "entry"), offsetOf(request));
  FileId file = checked->sources.add(root, std::move(text));
  checked->program = checkFile(checked->sources, file, options, checked->sink);
  checked->options = std::make_shared<CheckOptions>(std::move(options));
  return checked;
}

static Json failureOf(const std::string &code, const std::string &message) {
  return {{"ok", false}, {"error", {{"code", code}, {"message", message}}}};
}

static std::string keyOf(const Json &request, const std::string &target, const Checked &checked,
                         const std::vector<const CallableDecl *> &reach,
                         const std::vector<BoundEntry> &entries) {
  std::string key = target + dumped(objectField(request, "options"));
  key += dumped(objectField(request, "defines")) + dumped(objectField(request, "machines"));
  key += dumped(choicesJson(entries)) + "\n";
  return key + sourceKey(*checked.program, checked.sources, reach);
}

static std::string chipNames(const MachineSet &machines) {
  std::string names;
  for (const std::string &name : machines.chips())
    names += (names.empty() ? "`" : ", `") + name + "`";
  return names;
}

/// The machines that come with the compiler, and those of the request.
static std::shared_ptr<const MachineSet> machinesOf(const Json &request) {
  std::vector<MachineFile> own;
  for (const auto &[path, text] : objectField(request, "machines").items())
    if (text.is_string())
      own.push_back({path, text.get<std::string>()});
  return std::make_shared<MachineSet>(std::move(own));
}

Worker::View Worker::open(const Json &request, const std::string &target) {
  View view;
  std::shared_ptr<const MachineSet> machines = machinesOf(request);
  const Machine *chip = machines->find(target);
  // The CPU is a machine as well, but it is no chip.
  if (!target.empty() && (!chip || chip->executable)) {
    view.failure = failureOf("no-target", "there is no chip `" + target + "`; there are " +
                                              chipNames(*machines));
    return view;
  }
  if (!step("check")) {
    view.failure = failureOf("cancelled", "the request was cancelled");
    return view;
  }
  auto start = std::chrono::steady_clock::now();
  std::unique_ptr<Checked> checked = checkRequest(request, options_.stdPath, machines, narrower_);
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  view.timings.emplace_back("check", time.count());
  if (!checked) {
    view.failure = failureOf("unreadable", "`" + textField(request, "root") + "` cannot be read");
    return view;
  }
  const CallableDecl *decl =
      findDeclaration(*checked->program, textField(request, "entry"), offsetOf(request));
  if (!decl) {
    view.failure =
        failureOf("no-entry", "there is no declaration `" + textField(request, "entry") + "` here");
    view.failure["diagnostics"] = diagnosticsJson(checked->sources, checked->sink, {});
    return view;
  }
  view.reach = reachableFrom(*decl);
  bool isBroken = std::any_of(view.reach.begin(), view.reach.end(),
                              [](const CallableDecl *each) { return each->hasErrors; });
  if (isBroken) {
    view.failure = failureOf("errors", "`" + decl->name + "` has errors");
    view.failure["diagnostics"] = diagnosticsJson(checked->sources, checked->sink, view.reach);
    return view;
  }
  std::string problem;
  Wanted wanted = wantedOf(objectField(request, "bindings"));
  // Bindings of the user take precedence over example sizes.
  wanted.merge(staticSizes(*decl, sizesOf(request)));
  std::vector<BoundEntry> entries = bindEntries(*checked->program, *decl, wanted, problem);
  // The checked tree needs no binding.
  if (!problem.empty() && textField(request, "stage") != stageInfo(StageId::Checked).name) {
    view.failure = failureOf("binding", problem);
    return view;
  }
  std::string key = keyOf(request, target, *checked, view.reach, entries);
  // A text that differs only in what the entry does not read has the same key and the same code.
  view.code = cache_.find(key);
  view.isKnown = view.code;
  if (view.isKnown) {
    view.checked = std::move(checked);
    return view;
  }
  // A text without its origin would have to be made again from this one.
  view.code =
      cache_.add(std::move(key),
                 std::make_unique<Code>(
                     std::move(checked), view.reach, std::move(entries),
                     codeOptionsOf(objectField(request, "options"), chip, *machines), functions_));
  return view;
}

} // namespace ptl::worker
