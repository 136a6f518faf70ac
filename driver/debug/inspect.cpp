// The requests of the adapter about a run that stands still.
#include "driver/debug/adapter.h"

namespace ptl::debug {

using namespace reference;

// References of scopes are counted from 1, those of values from here on.
static constexpr int64_t kFirstValue = 1 << 20;

static std::string titleOf(const ActiveCall &call, const RunView &view) {
  const CallableDecl &decl = *call.decl;
  bool isBlock = decl.kind == DeclKind::Test || decl.kind == DeclKind::Property;
  std::string dims;
  for (const Shown &shown : dimensionsOf(call, view))
    dims += (dims.empty() ? "" : ", ") + shown.name + " = " + textOf(shown);
  std::string name = !isBlock                      ? decl.name
                     : decl.kind == DeclKind::Test ? "test \"" + decl.name + "\""
                                                   : "property \"" + decl.name + "\"";
  return dims.empty() ? name : name + "[" + dims + "]";
}

void Adapter::stackTrace(const Json &request) {
  Json frames = Json::array();
  std::vector<ActiveCall> calls = view_ ? view_->calls() : std::vector<ActiveCall>();
  size_t start = request.at("arguments").value("startFrame", 0u);
  size_t most = request.at("arguments").value("levels", 0u);
  for (size_t i = start; i < calls.size() && (most == 0 || i < start + most); ++i) {
    Json frame = sourceOf(calls[i].at);
    frame["id"] = i + 1;
    frame["name"] = titleOf(calls[i], *view_);
    frames.push_back(std::move(frame));
  }
  answer(request, {{"stackFrames", std::move(frames)}, {"totalFrames", calls.size()}});
}

std::optional<ActiveCall> Adapter::callOf(int64_t frame) const {
  std::vector<ActiveCall> calls = view_ ? view_->calls() : std::vector<ActiveCall>();
  if (frame < 1 || static_cast<size_t>(frame) > calls.size())
    return std::nullopt;
  return calls[static_cast<size_t>(frame) - 1];
}

void Adapter::scopes(const Json &request) {
  Json scopes = Json::array();
  if (auto call = callOf(request.at("arguments").at("frameId"))) {
    auto add = [&](const char *name, std::vector<Shown> values) {
      if (values.empty())
        return;
      size_t count = values.size();
      opened_.push_back(std::move(values));
      scopes.push_back({{"name", name},
                        {"variablesReference", opened_.size()},
                        {"namedVariables", count},
                        {"expensive", false}});
    };
    add("Values", localsOf(*call));
    add("Dimensions", dimensionsOf(*call, *view_));
  }
  answer(request, {{"scopes", std::move(scopes)}});
}

Adapter::Json Adapter::variable(Shown shown) {
  Json made = {{"name", shown.name}, {"value", textOf(shown)}, {"variablesReference", 0}};
  if (std::string type = typeOf(shown); !type.empty())
    made["type"] = type;
  if (!shown.path.empty())
    made["evaluateName"] = shown.path;
  size_t indexed = indexedCount(shown), named = namedCount(shown);
  if (indexed > 0)
    made["indexedVariables"] = indexed;
  if (named > 0)
    made["namedVariables"] = named;
  if (indexed + named > 0) {
    parents_.push_back(std::move(shown));
    made["variablesReference"] = kFirstValue + static_cast<int64_t>(parents_.size());
  }
  return made;
}

void Adapter::variables(const Json &request) {
  const Json &arguments = request.at("arguments");
  int64_t reference = arguments.at("variablesReference");
  size_t start = arguments.value("start", 0u), count = arguments.value("count", 0u);
  Json all = Json::array();
  if (reference > kFirstValue && static_cast<size_t>(reference - kFirstValue) <= parents_.size()) {
    // The list may grow while it is read.
    Shown parent = parents_[static_cast<size_t>(reference - kFirstValue) - 1];
    constexpr size_t most = 10'000;
    for (Shown &part : partsOf(parent, start, count == 0 ? most : count))
      all.push_back(variable(std::move(part)));
  } else if (reference >= 1 && static_cast<size_t>(reference) <= opened_.size()) {
    for (const Shown &shown : std::vector<Shown>(opened_[static_cast<size_t>(reference) - 1]))
      all.push_back(variable(shown));
  }
  answer(request, {{"variables", std::move(all)}});
}

void Adapter::evaluateText(const Json &request) {
  const Json &arguments = request.at("arguments");
  auto call = callOf(arguments.value("frameId", int64_t(1)));
  if (!call)
    return refuse(request, "the run is not stopped");
  std::string problem;
  auto shown = evaluate(arguments.at("expression").get<std::string>(), *call, *view_, problem);
  if (!shown)
    return refuse(request, problem);
  Json made = variable(*shown);
  Json body = {{"result", made["value"]}, {"variablesReference", made["variablesReference"]}};
  for (const char *name : {"type", "indexedVariables", "namedVariables"})
    if (made.contains(name))
      body[name] = made[name];
  answer(request, std::move(body));
}

} // namespace ptl::debug
