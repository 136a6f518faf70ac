#include "lsp/worker/worker.h"
#include "lsp/worker/mlir_file.h"

#include "frontend/base/process_memory.h"
#include "lsp/worker/hover.h"
#include "lsp/worker/limits.h"
#include "lsp/worker/view.h"

#include <cstdio>
#include <malloc.h>
#include <unistd.h>

namespace ptl::worker {

Worker::Worker(WorkerOptions options, Watch watch)
    : options_(std::move(options)), watch_(std::move(watch)), functions_(options_.cacheBytes / 4),
      cache_(options_.cacheBytes) {}

Json error(const char *code, const std::string &message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

/// With the option `fault` a step hangs or crashes on demand, so that the limits can be tested.
static void provoke(const std::string &fault, const std::string &step) {
  if (fault == "hang:" + step)
    for (;;)
      ::pause();
  if (fault == "crash:" + step)
    ::abort();
}

bool Worker::step(const std::string &name) {
  noteStep(name);
  if (!options_.fault.empty())
    provoke(options_.fault, name);
  return !watch_ || watch_(name);
}

Json Worker::answer(Json request) {
  ++requests_;
  if (!request.is_object())
    return error("invalid", "a message is a JSON object behind a `Content-Length` header");
  if (std::string problem = texts_.complete(request); !problem.empty())
    return error("invalid", problem);
  std::string method = textField(request, "method");
  Json result;
  if (method == "preview")
    result = preview(request);
  else if (method == "hover")
    result = hover(request);
  else if (method == "facts")
    result = facts(request);
  else if (method == "feasibility")
    result = feasibility(request);
  else if (method == "timeline")
    result = timeline(request);
  else if (method == "sizes")
    result = sizes(request);
  else if (method == "mlir")
    result = mlir(request);
  else if (method == "warm")
    result = warm();
  else if (method == "stages")
    result = {{"result", stages()}};
  else if (method == "status")
    result = {{"result", status()}};
  else if (method == "shutdown") {
    shouldStop_ = true;
    result = {{"result", Json::object()}};
  } else {
    return error("unknown-method", "there is no method `" + method + "`");
  }
  return result;
}

/// Compiles a small program to the end, so that the first request does not wait for code and tables
/// to be loaded and finds the code of an `f32` product.
Json Worker::warm() {
  constexpr const char *text =
      "program k[N](x: f32[N, N]) -> (y: f32[N, N])\n{\n    let p = x @ x\n"
      "    y = exp(p - max(p, axis: -1))\n}\n";
  Json request = {{"root", "<warm>"},
                  {"files", {{"<warm>", text}}},
                  {"entry", "k"},
                  {"stage", stageInfo(StageId::Asm).name}};
  View view = open(request, "");
  bool isWarm = false;
  if (view.failure.is_null()) {
    Watch watch = [this](const std::string &name) { return step(name); };
    isWarm = view.code->stage(StageId::Asm, watch, view.timings);
    // Nobody asks for this text again.
    cache_.remove(view.code);
  }
  return {{"result", {{"ok", isWarm}, {"timings", timingsJson(view.timings)}}}};
}

void Worker::tidy() { cache_.trim(); }

static std::string_view machineName(StageMachine machine) {
  constexpr std::string_view names[] = {"cpu", "any", "chip"};
  return names[static_cast<size_t>(machine)];
}

Json Worker::stages() const {
  Json list = Json::array();
  for (const StageInfo &info : stageInfos)
    if (info.isShown())
      list.push_back({{"name", info.name},
                      {"title", info.shown.title},
                      {"languageId", info.shown.language},
                      {"extension", info.extension},
                      {"machine", machineName(info.machine)}});
  return {
      {"stages", std::move(list)}, {"targets", MachineSet().chips()}, {"usualTarget", kUsualChip}};
}

Json Worker::status() const {
  std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start_;
  return {{"pid", ::getpid()},
          {"uptimeMs", static_cast<int64_t>(time.count())},
          {"requests", requests_},
          {"residentBytes", residentBytes()},
          {"cache",
           {{"entries", cache_.size()},
            {"live", cache_.liveCount()},
            {"functions", functions_.size()},
            {"bytes", cache_.bytes() + functions_.bytes()},
            {"hits", cache_.hits},
            {"misses", cache_.misses}}}};
}

Json Worker::mlir(const Json &request) const {
  return {{"result", describeMlir(textField(request, "text"))}};
}

namespace {

/// The members `origins` and `map` of an answer: lines with the same origin share one entry.
void addMap(Json &result, const StageText &stage, const std::function<Json(Span)> &place) {
  Json origins = Json::array(), map = Json::array();
  std::vector<int64_t> known;
  for (size_t line = 0; line < stage.map.lineCount(); ++line) {
    uint32_t origin = stage.map.originOf(line);
    if (origin == LineMap::kNone)
      continue;
    // -2: not looked up yet; -1: none of its places is in the present text.
    known.resize(std::max<size_t>(known.size(), origin + 1), -2);
    if (known[origin] == -2) {
      Json places = Json::array();
      for (Span span : stage.map.origin(origin))
        if (Json json = place(span); !json.is_null())
          places.push_back(std::move(json));
      known[origin] = places.empty() ? -1 : static_cast<int64_t>(origins.size());
      if (!places.empty())
        origins.push_back(std::move(places));
    }
    if (known[origin] >= 0) {
      map.push_back(line);
      map.push_back(known[origin]);
    }
  }
  result["origins"] = std::move(origins);
  result["map"] = std::move(map);
}

Json foldsJson(const StageText &stage, StageId id) {
  Json folds = Json::array();
  for (const Fold &fold : foldsOf(stage.text, id))
    folds.push_back({{"start", fold.start}, {"end", fold.end}, {"kind", fold.kind}});
  return folds;
}

} // namespace

/// The answer when a stage could not be made.
Json Worker::stageFailure(const View &view) {
  const Code &code = *view.code;
  if (code.wasStopped())
    return error("cancelled", "the request was cancelled"); // what there is of it stays good
  Json result = {{"ok", false},
                 {"error", {{"code", "not-compiled"}, {"message", "it does not compile"}}},
                 {"diagnostics", diagnosticsJson(code.sources(), code.sink(), view.reach)}};
  cache_.remove(view.code);
  return {{"result", std::move(result)}};
}

Json openFailure(Json failure) {
  if (failure["error"]["code"] == "cancelled")
    return {{"error", failure["error"]}};
  return {{"result", std::move(failure)}};
}

/// What a request about a stage is answered from.
struct Worker::OpenStage {
  StageId id = StageId::Tile;
  View view;
  const StageText *text = nullptr;
  bool wasMade = false; ///< before the request
  Json failure;         ///< the whole answer where there is no text
};

Worker::OpenStage Worker::openStage(const Json &request) {
  OpenStage result;
  std::optional<StageWish> wish = stageWish(textField(request, "stage"));
  if (!wish) {
    result.failure =
        error("unknown-stage", "there is no stage `" + textField(request, "stage") + "`");
    return result;
  }
  result.id = wish->id;
  result.view = open(request, wish->target);
  View &view = result.view;
  if (!view.failure.is_null()) {
    result.failure = openFailure(std::move(view.failure));
    return result;
  }
  result.wasMade = view.code->has(wish->id); // graphs depend on sizes, too
  Watch watch = [this](const std::string &name) { return step(name); };
  result.text = wish->id == StageId::GraphSvg
                    ? view.code->graph(sizesOf(request), watch, view.timings)
                    : view.code->stage(wish->id, watch, view.timings);
  if (!result.text && view.isKnown && !view.code->wasStopped()) {
    // Its later stages, or what is wrong, are made from the present text; nothing of it is lost.
    cache_.remove(view.code);
    return openStage(request);
  }
  if (!result.text)
    result.failure = stageFailure(view);
  return result;
}

Json Worker::preview(const Json &request) {
  OpenStage opened = openStage(request);
  if (!opened.text)
    return std::move(opened.failure);
  const View &view = opened.view;
  const StageText *stage = opened.text;
  const StageInfo &info = stageInfo(opened.id);
  Json result = {{"ok", true},
                 {"stage", textField(request, "stage")},
                 {"languageId", info.shown.language},
                 {"extension", info.extension},
                 {"cached", opened.wasMade},
                 {"entry", view.reach.front()->name},
                 {"entries", choicesJson(view.code->entries())},
                 {"text", stage->text},
                 {"folds", foldsJson(*stage, opened.id)},
                 {"diagnostics", Json::array()},
                 {"timings", timingsJson(view.timings)}};
  addMap(result, *stage, [&](Span span) { return view.place(span); });
  return {{"result", std::move(result)}};
}

Json Worker::facts(const Json &request) {
  OpenStage opened = openStage(request);
  if (!opened.text)
    return std::move(opened.failure);
  const View &view = opened.view;
  const StageText *stage = opened.text;
  std::vector<std::string_view> lines = linesOf(stage->text);
  auto line = static_cast<size_t>(std::max<int64_t>(numberField(request, "line", 0), 0));
  if (line >= lines.size())
    return error("no-line", "the preview has " + std::to_string(lines.size()) + " lines");
  Json result = {{"ok", true}, {"line", line}, {"text", lines[line]}, {"sources", Json::array()}};
  for (Span span : stage->map.spans(line)) {
    Span now = view.now(span);
    if (now.file >= view.sources().size())
      continue;
    Json place = placeJson(view.sources(), now);
    place["text"] = view.sources().text(now);
    result["sources"].push_back(std::move(place));
  }
  if (line < stage->facts.size() && !stage->facts[line].op.empty()) {
    const LineFacts &facts = stage->facts[line];
    result["op"] = {{"name", facts.op}, {"operands", facts.operands}, {"results", facts.results}};
  }
  if (line < stage->facts.size() && !stage->facts[line].notes.empty())
    result["notes"] = stage->facts[line].notes;
  return {{"result", std::move(result)}};
}

/// The stages that a hover shows.
static std::vector<std::pair<std::string, StageWish>> wishesOf(const Json &request) {
  std::vector<std::pair<std::string, StageWish>> wanted;
  auto add = [&](const std::string &name) {
    if (std::optional<StageWish> wish = stageWish(name))
      wanted.emplace_back(name, *wish);
  };
  auto names = request.find("stages");
  if (names != request.end() && names->is_array())
    for (const Json &name : *names)
      if (name.is_string())
        add(name.get<std::string>());
  if (wanted.empty())
    for (StageId id : {StageId::Tile, StageId::Asm})
      add(std::string(stageInfo(id).name));
  return wanted;
}

static uint32_t byteOf(const Json &request, const char *name) {
  return static_cast<uint32_t>(std::max<int64_t>(numberField(request, name, 0), 0));
}

Json Worker::hover(const Json &request) {
  Watch watch = [this](const std::string &name) { return step(name); };
  Json stages = Json::array(), entries, timings = Json::object();
  for (const auto &[name, wish] : wishesOf(request)) {
    View view = open(request, wish.target);
    if (!view.failure.is_null())
      return openFailure(std::move(view.failure));
    // Without it nobody can say why an expression has no line.
    const StageText *built = view.code->stage(StageId::Built, watch, view.timings);
    const StageText *stage = view.code->stage(wish.id, watch, view.timings);
    if (!stage && view.isKnown && !view.code->wasStopped()) {
      cache_.remove(view.code);
      return hover(request);
    }
    if (!stage)
      return stageFailure(view);
    Span range = {view.reach.front()->span.file, byteOf(request, "begin"), byteOf(request, "end")};
    stages.push_back(hoverJson(
        *stage, wish.id, built, range, [&](Span span) { return view.now(span); },
        static_cast<size_t>(std::clamp<int64_t>(numberField(request, "limit", 8), 1, 100))));
    stages.back()["stage"] = name;
    entries = choicesJson(view.code->entries());
    const Json own = timingsJson(view.timings);
    for (const auto &[phase, time] : own.items())
      timings[phase] = timings.value(phase, 0.0) + time.get<double>();
  }
  Json result = {{"ok", true},
                 {"entries", std::move(entries)},
                 {"stages", std::move(stages)},
                 {"timings", std::move(timings)}};
  return {{"result", std::move(result)}};
}

} // namespace ptl::worker
