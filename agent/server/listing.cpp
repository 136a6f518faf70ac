#include "agent/server/listing.h"

#include "agent/server/library.h"
#include "common/read_number.h"

namespace ptl::agent {

/// The parts of answers.json that a schema refers to, directly or not.
static void addDefinitions(const Json &schema, const Json &all, Json &used) {
  if (schema.is_array() || schema.is_object())
    for (const auto &[name, value] : schema.items()) {
      if (name == "$ref" && value.is_string()) {
        std::string part = value.get<std::string>().substr(std::string_view("#/$defs/").size());
        // Definitions may refer to each other in a circle.
        if (!used.contains(part)) {
          used[part] = all.at(part);
          addDefinitions(all.at(part), all, used);
        }
      }
      addDefinitions(value, all, used);
    }
}

static Json outputSchema(const ToolInfo &tool, const Json &answers) {
  Json schema = answers["tools"][tool.name], used = Json::object();
  addDefinitions(schema, answers["$defs"], used);
  if (!used.empty())
    schema["$defs"] = std::move(used);
  return schema;
}

Json toolList() {
  const LibraryPage *page = libraryPage("ptl://schemas/answers.json");
  Json answers = Json::parse(page ? page->text : "{}", nullptr, false), list = Json::array();
  for (const ToolInfo &tool : allTools()) {
    bool reads = tool.hints == ToolHints::Reads;
    Json annotations = {{"title", tool.title}, {"readOnlyHint", reads}, {"openWorldHint", false}};
    // The other hints only have a meaning for tools that change something.
    if (!reads)
      annotations.update({{"destructiveHint", false}, {"idempotentHint", false}});
    list.push_back({{"name", tool.name},
                    {"title", tool.title},
                    {"description", tool.what},
                    {"inputSchema", inputSchema(tool)},
                    {"outputSchema", outputSchema(tool, answers)},
                    {"annotations", std::move(annotations)}});
  }
  return {{"tools", std::move(list)}};
}

std::optional<Json> resourceList(const std::string &cursor) {
  constexpr size_t most = 100;
  const std::vector<LibraryPage> &pages = libraryPages();
  size_t first = 0;
  if (!cursor.empty()) {
    // A cursor that the server has not given is refused like one beyond the end.
    first = integerIn<size_t>(cursor).value_or(pages.size());
    if (first >= pages.size())
      return std::nullopt;
  }
  Json list = Json::array(), result;
  size_t last = std::min(first + most, pages.size());
  for (size_t i = first; i < last; ++i)
    list.push_back({{"uri", pages[i].uri},
                    {"name", pages[i].name},
                    {"description", pages[i].description},
                    {"mimeType", pages[i].type},
                    {"size", pages[i].text.size()}});
  result["resources"] = std::move(list);
  if (last < pages.size())
    result["nextCursor"] = std::to_string(last);
  return result;
}

Json resourceTemplates() {
  auto row = [](const char *uri, const char *name, const char *what, const char *type) {
    return Json{{"uriTemplate", uri}, {"name", name}, {"description", what}, {"mimeType", type}};
  };
  return {{"resourceTemplates",
           {row("ptl://diagnostics/{code}", "diagnostic",
                "the page of a diagnostic code, such as E0312", "text/markdown"),
            row("ptl://answers/{content}/{name}", "answer",
                "a document that an answer names under `more`", "application/json")}}};
}

std::optional<Json> readResource(const std::string &uri, const Store &store) {
  if (const StoredDocument *document = store.document(uri))
    return Json{
        {"contents", {{{"uri", uri}, {"mimeType", document->type}, {"text", document->text}}}}};
  if (const LibraryPage *page = libraryPage(uri))
    return Json{{"contents", {{{"uri", uri}, {"mimeType", page->type}, {"text", page->text}}}}};
  return std::nullopt;
}

namespace {
struct PromptInfo {
  const char *name, *title, *what, *argument, *argumentWhat, *text;
};
constexpr PromptInfo kPrompts[] = {
#define PROMPT(NAME, TITLE, WHAT, ARGUMENT, ARGUMENT_WHAT, TEXT)                                   \
  {NAME, TITLE, WHAT, ARGUMENT, ARGUMENT_WHAT, TEXT},
#include "agent/server/prompts.def"
};
} // namespace

Json promptList() {
  Json list = Json::array();
  for (const PromptInfo &prompt : kPrompts) {
    Json argument = {
        {"name", prompt.argument}, {"description", prompt.argumentWhat}, {"required", true}};
    list.push_back({{"name", prompt.name},
                    {"title", prompt.title},
                    {"description", prompt.what},
                    {"arguments", Json::array({std::move(argument)})}});
  }
  return {{"prompts", std::move(list)}};
}

std::optional<Json> promptText(const std::string &name, const Json &arguments,
                               std::string &problem) {
  for (const PromptInfo &prompt : kPrompts) {
    if (name != prompt.name)
      continue;
    auto given = arguments.find(prompt.argument);
    if (given == arguments.end() || !given->is_string()) {
      problem = "`" + name + "` needs `" + prompt.argument + "`: " + prompt.argumentWhat;
      return std::nullopt;
    }
    std::string text = prompt.text;
    text.replace(text.find("{}"), 2, given->get<std::string>());
    Json message = {{"role", "user"}, {"content", {{"type", "text"}, {"text", std::move(text)}}}};
    return Json{{"description", prompt.what}, {"messages", Json::array({std::move(message)})}};
  }
  problem = "there is no prompt `" + name.substr(0, 60) + "`";
  return std::nullopt;
}

std::string instructions(const Roots &roots) {
  std::string text =
      "PTL is a language for tile programs: kernels and whole programs for this processor and for "
      "chips, which are simulated. "
      "Begin with `check`. Each answer has `summary`, `next` (suggested calls with their arguments "
      "and expected gain, best first) and `more` (longer documents, to be read as resources or "
      "with the tool `more`). To make a kernel faster, call `cost`, then `apply_fix` with the "
      "first id of its answer, then `cost` again, until it suggests no change; then call `tune` if "
      "there are tunables. Every change that `cost` suggests was tried: the changed program "
      "compiles, is proved correct, and takes the reported time. "
      "Lengths come from `values`, from `bench` blocks in the file, or are assumed. Only files in "
      "these folders can be used:";
  for (const std::string &folder : roots.folders())
    text += " " + folder;
  return text;
}

} // namespace ptl::agent
