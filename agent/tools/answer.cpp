#include "agent/tools/answer.h"

namespace ptl::agent {

void Answer::refuse(const std::string &why) {
  isRefused_ = true;
  summary += (summary.empty() ? "" : "\n") + why;
}

void Answer::next(const char *tool, Json arguments, const std::string &why, const Gain &gain) {
  Json step = {
      {"tool", tool}, {"arguments", std::move(arguments)}, {"why", why}, {"gain", gain.text}};
  if (gain.us > 0)
    step["gain_us"] = gain.us;
  next_.push_back(std::move(step));
}

std::string Answer::keep(const std::string &name, const std::string &what, std::string text,
                         const char *type) {
  std::string uri = "ptl://answers/" + contentName(text) + "/" + name;
  more_.push_back({{"uri", uri}, {"what", what}, {"bytes", text.size()}});
  documents_.push_back({{"uri", uri},
                        {"name", name},
                        {"description", what},
                        {"mimeType", type},
                        {"text", std::move(text)}});
  return uri;
}

std::string Answer::fix(const Call &call, const SourceManager &sources, const std::string &title,
                        const std::vector<TextEdit> &edits, Json again) {
  Json list = Json::array(), files = Json::object();
  std::string key = title;
  for (const TextEdit &edit : edits) {
    const SourceFile &file = sources.file(edit.span.file);
    std::string problem, path = call.roots.resolve(file.path(), &problem);
    files[path] = contentName(file.text());
    key += call.roots.shown(path) + ":" + std::to_string(edit.span.begin) + "-" +
           std::to_string(edit.span.end) + contentName(file.text()) + edit.text + "\n";
    list.push_back(
        {{"file", path}, {"begin", edit.span.begin}, {"end", edit.span.end}, {"text", edit.text}});
  }
  std::string id = contentName(key).substr(0, 10);
  Json fix = {
      {"id", id}, {"title", title}, {"edits", std::move(list)}, {"files", std::move(files)}};
  if (call.arguments.has(ArgumentId::Text))
    fix["text"] = call.arguments.text(ArgumentId::Text);
  fix["again"] = std::move(again);
  fixes_.push_back(std::move(fix));
  return id;
}

Json Answer::take() {
  body["summary"] = summary;
  body["next"] = std::move(next_);
  body["more"] = std::move(more_);
  return {{"answer", std::move(body)},
          {"documents", std::move(documents_)},
          {"fixes", std::move(fixes_)},
          {"isError", isRefused_}};
}

Json argumentsFor(const Call &call, ArgumentSet kept) {
  Json result = Json::object();
  for (const ArgumentInfo &argument : allArguments())
    if ((kept & of(argument.id)) && call.arguments.has(argument.id))
      result[argument.name] = call.arguments.json()[argument.name];
  return result;
}

} // namespace ptl::agent
