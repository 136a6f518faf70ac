#include "agent/tools/handlers.h"
#include "agent/tools/source.h"
#include "compile/stage_table.h"
#include "lsp/worker/worker.h"

#include <algorithm>

namespace ptl::agent {

static std::string stageNames() {
  std::string names;
  for (const StageInfo &info : stageInfos)
    if (info.isShown())
      names += (names.empty() ? "" : ", ") + std::string(info.name);
  return names;
}

/// The document of docs/schemas/preview.json from what the worker of the language server says: lines and
/// columns count from 1 here.
static Json previewDocument(const Json &result, const std::string &stage) {
  Json document = {{"version", 1},
                   {"entry", result["entry"]},
                   {"stage", stage},
                   {"language", result["languageId"]},
                   {"values", result["entries"]},
                   {"text", result["text"]},
                   {"map", Json::array()}};
  const Json &map = result["map"], &origins = result["origins"];
  for (size_t i = 0; i + 1 < map.size(); i += 2) {
    Json sources = Json::array();
    for (const Json &place : origins[map[i + 1].get<size_t>()])
      sources.push_back(place["path"].get<std::string>() + ":" +
                        std::to_string(place["line"].get<int64_t>() + 1) + ":" +
                        std::to_string(place["col"].get<int64_t>() + 1));
    document["map"].push_back(
        {{"line", map[i].get<int64_t>() + 1}, {"sources", std::move(sources)}});
  }
  return document;
}

static std::string linesOf(const std::string &text, int64_t from, int64_t count, int64_t &total) {
  std::string part;
  total = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    ++total;
    if (total >= from && total - from < count)
      part += text.substr(begin, end - begin);
    begin = end;
  }
  return part;
}

void runPreview(Call &call, Answer &answer) {
  // Errors of the source, and imports from elsewhere, are found before.
  std::unique_ptr<Source> source = checkSource(call, answer, true);
  if (!source)
    return;
  std::string stage = call.arguments.text(ArgumentId::Stage),
              chip = call.arguments.text(ArgumentId::Target);
  std::optional<StageId> id = stageByName(stage);
  if (!id)
    return answer.refuse("there is no stage `" + stage + "`; the stages are " + stageNames());
  if (stageInfo(*id).machine == StageMachine::Chip && chip.empty())
    chip = "a3";
  if (stageInfo(*id).machine == StageMachine::Cpu && !chip.empty() && chip != "cpu")
    return answer.refuse("`" + stage + "` is a stage of this processor: leave out `target`");
  const CallableDecl *decl = oneEntry(call, *source, answer);
  if (!decl)
    return;
  Json bindings = Json::object();
  for (const auto &[name, value] : wantedOf(call))
    bindings[name] = value;
  worker::WorkerOptions options;
  options.stdPath = source->options.stdPath;
  worker::Worker worker(std::move(options), [&](const std::string &step) {
    if (step.find(':') == step.npos)
      call.progress(0, 0, step);
    return true;
  });
  Json request = {{"method", "preview"},
                  {"root", source->path},
                  {"entry", decl->name},
                  {"bindings", bindings},
                  {"stage", chip.empty() || chip == "cpu" ? stage : stage + "@" + chip}};
  if (call.arguments.has(ArgumentId::Text))
    request["files"] = {{source->path, call.arguments.text(ArgumentId::Text)}};
  Json reply = worker.answer(request);
  const Json *error = reply.contains("error") ? &reply["error"] : nullptr;
  if (!error && !reply["result"].value("ok", false))
    error = &reply["result"]["error"];
  if (error) {
    std::string why = (*error)["message"];
    if (reply.contains("result"))
      for (const Json &diagnostic : reply["result"].value("diagnostics", Json::array()))
        why += "\n" + diagnostic["code"].get<std::string>() + ": " +
               diagnostic["message"].get<std::string>();
    answer.next(
        "check",
        argumentsFor(call, of(ArgumentId::File) | of(ArgumentId::Text) | of(ArgumentId::Target)),
        "reports why it cannot be compiled", {"the reason, and repairs"});
    return answer.refuse(why);
  }
  const Json &result = reply["result"];
  int64_t total = 0, from = std::max<int64_t>(1, call.arguments.whole(ArgumentId::FromLine, 1));
  int64_t count = std::min<int64_t>(call.arguments.whole(ArgumentId::LineCount, 60), 100000);
  std::string text = result["text"];
  answer.body["stage"] = stage;
  answer.body["entry"] = decl->name;
  answer.body["language"] = result["languageId"];
  answer.body["text"] = linesOf(text, from, count, total);
  answer.body["from_line"] = from;
  answer.body["lines"] = total;
  answer.summary =
      "`" + decl->name + "` at stage " + stage + ": " + std::to_string(total) + " lines";
  Json document = previewDocument(result, stage);
  document["entry"] = decl->name;
  answer.keep("preview.json", "the text with the source of each line (docs/schemas/preview.json)",
              document.dump(1) + "\n");
  if (from + count <= total) {
    Json more = call.arguments.json();
    more["from_line"] = from + count;
    answer.next("preview", more, "the next lines",
                {std::to_string(total - from - count + 1) + " lines are left"});
  }
}

} // namespace ptl::agent
