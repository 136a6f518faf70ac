#include "agent/tool_table.h"

#include <algorithm>
#include <array>

namespace ptl::agent {

namespace {
constexpr auto kTools = [] {
  using enum ArgumentId;
  using enum ToolHome;
  using enum ToolHints;
  return std::to_array<ToolInfo>({
#define TOOL(ID, NAME, TITLE, WHERE, HINTS, NEEDED, ALLOWED, WHAT)                                 \
  {ToolId::ID, NAME, TITLE, WHERE, HINTS, NEEDED, ALLOWED, WHAT},
#include "agent/tools.def"
  });
}();

constexpr auto kArguments = std::to_array<ArgumentInfo>({
#define ARGUMENT(ID, NAME, TYPE, WHAT) {ArgumentId::ID, NAME, ArgumentType::TYPE, WHAT},
#include "agent/arguments.def"
});
static_assert(kArguments.size() <= 8 * sizeof(ArgumentSet));

Json schemaOf(const ArgumentInfo &argument) {
  Json schema = {{"description", argument.what}};
  switch (argument.type) {
  case ArgumentType::Text:
    schema["type"] = "string";
    break;
  case ArgumentType::Whole:
    schema["type"] = "integer";
    schema["minimum"] = 0;
    break;
  case ArgumentType::Texts:
    schema["type"] = "array";
    schema["items"] = {{"type", "string"}};
    break;
  case ArgumentType::Values:
    schema["type"] = "object";
    schema["additionalProperties"] = {{"type", {"string", "number", "boolean"}}};
    break;
  }
  return schema;
}

/// What the value should be; empty if it is that.
const char *wrongType(ArgumentType type, const Json &value) {
  switch (type) {
  case ArgumentType::Text:
    return value.is_string() ? "" : "a string";
  case ArgumentType::Whole:
    return value.is_number_unsigned() || (value.is_number_integer() && value.get<int64_t>() >= 0 &&
                                          value.get<int64_t>() < INT64_MAX)
               ? ""
               : "an integer of at least 0";
  case ArgumentType::Texts:
    return value.is_array() &&
                   std::ranges::all_of(value, [](const Json &each) { return each.is_string(); })
               ? ""
               : "a list of strings";
  case ArgumentType::Values:
    return value.is_object() && std::ranges::all_of(value,
                                                    [](const Json &each) {
                                                      return each.is_string() || each.is_number() ||
                                                             each.is_boolean();
                                                    })
               ? ""
               : "an object of numbers and strings by name";
  }
  return "";
}
} // namespace

std::span<const ToolInfo> allTools() { return kTools; }
std::span<const ArgumentInfo> allArguments() { return kArguments; }

const ToolInfo *findTool(std::string_view name) {
  auto found = std::ranges::find(kTools, name, &ToolInfo::name);
  return found == kTools.end() ? nullptr : &*found;
}

const char *nameOf(ArgumentId id) { return kArguments[static_cast<size_t>(id)].name; }

Json inputSchema(const ToolInfo &tool) {
  Json properties = Json::object(), required = Json::array();
  for (const ArgumentInfo &argument : kArguments) {
    if ((tool.needed | tool.allowed) & of(argument.id))
      properties[argument.name] = schemaOf(argument);
    if (tool.needed & of(argument.id))
      required.push_back(argument.name);
  }
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

/// "`file` and `text`"
static std::string namesIn(ArgumentSet set) {
  std::string names;
  for (const ArgumentInfo &argument : kArguments)
    if (set & of(argument.id))
      names += (names.empty() ? "`" : ", `") + std::string(argument.name) + "`";
  return names;
}

std::string argumentProblem(const ToolInfo &tool, const Json &arguments) {
  if (!arguments.is_object())
    return "the arguments of `" + std::string(tool.name) + "` are a JSON object";
  for (const auto &[name, value] : arguments.items()) {
    auto known = std::ranges::find(kArguments, name, &ArgumentInfo::name);
    if (known == kArguments.end() || !((tool.needed | tool.allowed) & of(known->id)))
      return "`" + std::string(tool.name) + "` has no argument `" + name.substr(0, 60) +
             "`: it takes " + namesIn(tool.needed | tool.allowed);
    if (std::string_view wanted = wrongType(known->type, value); !wanted.empty())
      return "`" + name + "` is " + std::string(wanted) + ": " + known->what;
  }
  for (const ArgumentInfo &argument : kArguments)
    if ((tool.needed & of(argument.id)) && !arguments.contains(argument.name))
      return "`" + std::string(tool.name) + "` needs `" + argument.name + "`: " + argument.what;
  return "";
}

std::string Arguments::text(ArgumentId id, const std::string &otherwise) const {
  auto found = json_.find(nameOf(id));
  return found == json_.end() ? otherwise : found->get<std::string>();
}

int64_t Arguments::whole(ArgumentId id, int64_t otherwise) const {
  auto found = json_.find(nameOf(id));
  return found == json_.end() ? otherwise : found->get<int64_t>();
}

std::map<std::string, std::string> Arguments::values(ArgumentId id) const {
  std::map<std::string, std::string> values;
  if (auto found = json_.find(nameOf(id)); found != json_.end())
    for (const auto &[name, value] : found->items())
      values[name] = value.is_string() ? value.get<std::string>() : value.dump();
  return values;
}

std::vector<std::string> Arguments::texts(ArgumentId id) const {
  auto found = json_.find(nameOf(id));
  return found == json_.end() ? std::vector<std::string>() : found->get<std::vector<std::string>>();
}

std::string contentName(std::string_view content) {
  uint64_t hash = 14695981039346656037u; // FNV-1a
  for (unsigned char c : content)
    hash = (hash ^ c) * 1099511628211u;
  constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (int shift = 60; shift >= 0; shift -= 4)
    name += digits[hash >> shift & 15];
  return name;
}

} // namespace ptl::agent
