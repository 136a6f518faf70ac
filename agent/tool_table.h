// The table of tools (tools.def), and what is derived from it: the schemas of arguments and their
// validation. Both processes include it: the server of `ptlc mcp`, and the workers that answer
// calls.
#pragma once

#include "common/json_fields.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ptl::agent {

using Json = nlohmann::json;

enum class ToolId : uint8_t {
#define TOOL(ID, NAME, TITLE, WHERE, HINTS, NEEDED, ALLOWED, WHAT) ID,
#include "agent/tools.def"
};

enum class ArgumentId : uint8_t {
#define ARGUMENT(ID, NAME, TYPE, WHAT) ID,
#include "agent/arguments.def"
};

enum class ArgumentType : uint8_t { Text, Whole, Texts, Values };

/// A set of arguments, one bit for each.
using ArgumentSet = uint32_t;
constexpr ArgumentSet of(ArgumentId id) { return ArgumentSet(1) << static_cast<unsigned>(id); }

/// The process that answers a call.
enum class ToolHome : uint8_t { Worker, Server };
enum class ToolHints : uint8_t { Reads, Writes };

struct ArgumentInfo {
  ArgumentId id;
  const char *name;
  ArgumentType type;
  const char *what;
};

struct ToolInfo {
  ToolId id;
  const char *name, *title;
  ToolHome home;
  ToolHints hints;
  ArgumentSet needed, allowed; ///< `allowed` does not contain those that are needed
  const char *what;
};

/// All rows, in order of the tables.
std::span<const ToolInfo> allTools();
std::span<const ArgumentInfo> allArguments();
/// The tool of that name; null if there is none.
const ToolInfo *findTool(std::string_view name);
const char *nameOf(ArgumentId id);

/// The JSON schema of a tool's arguments.
Json inputSchema(const ToolInfo &tool);
/// Validates the arguments of a call. Returns what is wrong and what would be right; empty if they
/// are valid.
std::string argumentProblem(const ToolInfo &tool, const Json &arguments);

/// The arguments of a call that `argumentProblem` has accepted, by their ids.
class Arguments {
public:
  explicit Arguments(Json json) : json_(std::move(json)) {}

  bool has(ArgumentId id) const { return json_.contains(nameOf(id)); }
  std::string text(ArgumentId id, const std::string &otherwise = "") const;
  int64_t whole(ArgumentId id, int64_t otherwise) const;
  /// The members of an object as strings, ordered by name.
  std::map<std::string, std::string> values(ArgumentId id) const;
  std::vector<std::string> texts(ArgumentId id) const;
  const Json &json() const { return json_; }

private:
  Json json_;
};

/// A short name derived from the content (a hash): equal contents have equal names.
std::string contentName(std::string_view content);

} // namespace ptl::agent
