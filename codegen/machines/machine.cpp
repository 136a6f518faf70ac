#include "codegen/machines/machine.h"

#include "codegen/machines/machine_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ptl {

using Json = nlohmann::json;

static std::string_view schemaText() {
  for (size_t i = 0; i < kMachineFileCount; ++i)
    if (kMachineFiles[i].name == "schema")
      return kMachineFiles[i].text;
  return "{}";
}

static bool hasType(const Json &value, const std::string &type) {
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
         (type == "integer" && value.is_number_integer());
}

static std::string memberPath(const std::string &path, const std::string &name) {
  return path.empty() ? name : path + "." + name;
}

static std::string validateValue(const Json &schema, const Json &value, const std::string &path);

static std::string validateMembers(const Json &schema, const Json &value, const std::string &path) {
  for (const Json &name : schema.value("required", Json::array()))
    if (!value.contains(name.get<std::string>()))
      return "`" + memberPath(path, name) + "` is missing";
  for (const auto &[name, member] : value.items()) {
    if (!schema.at("properties").contains(name))
      return "`" + memberPath(path, name) + "` is not a field of a machine";
    std::string error =
        validateValue(schema.at("properties").at(name), member, memberPath(path, name));
    if (!error.empty())
      return error;
  }
  return "";
}

/// What is wrong with `value`, in the part of JSON Schema that `schema.json` uses; empty if nothing
/// is.
static std::string validateValue(const Json &schema, const Json &value, const std::string &path) {
  std::string what = path.empty() ? "the document" : "`" + path + "`";
  if (schema.contains("type") && !hasType(value, schema["type"])) {
    std::string type = schema["type"];
    return what + " is not " + (type[0] == 'a' || type[0] == 'i' || type[0] == 'o' ? "an " : "a ") +
           type;
  }
  if (schema.contains("enum") &&
      std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
    return what + " is " + value.dump() + ", not one of " + schema["enum"].dump();
  if (schema.contains("minimum") && value < schema["minimum"])
    return what + " is " + value.dump() + ", less than " + schema["minimum"].dump();
  if (value.is_object())
    return validateMembers(schema, value, path);
  for (size_t i = 0; value.is_array() && i < value.size(); ++i) {
    std::string error =
        validateValue(schema.at("items"), value[i], path + "[" + std::to_string(i) + "]");
    if (!error.empty())
      return error;
  }
  return "";
}

static Machine machineOf(const Json &json) {
  Machine machine;
  machine.name = json["name"];
  machine.summary = json["summary"];
  machine.executable = json["executable"];
  for (const Json &type : json["elementTypes"])
    machine.elementTypes.push_back(type);
  for (const Json &core : json["cores"])
    machine.cores.push_back({core["kind"], core["count"]});
  for (const Json &memory : json["memories"])
    machine.memories.push_back(
        {memory["place"], memory["bytes"], memory.value("reserved", int64_t(0))});
  if (json.contains("tiling")) {
    const Json &tiling = json["tiling"];
    machine.tiling = TilingDefaults{tiling["productM"], tiling["productN"], tiling["productK"],
                                    tiling["rowBytes"]};
  }
  return machine;
}

std::vector<MachineFile> builtinMachineFiles() {
  std::vector<MachineFile> files;
  for (size_t i = 0; i < kMachineFileCount; ++i)
    if (kMachineFiles[i].name != "schema")
      files.push_back({std::string(kMachineFiles[i].name), std::string(kMachineFiles[i].text)});
  std::stable_partition(files.begin(), files.end(),
                        [](const MachineFile &file) { return file.path == "cpu"; });
  return files;
}

std::optional<Machine> parseMachine(std::string_view text, std::string *error) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    *error = "it is not JSON";
    return std::nullopt;
  }
  *error = validateValue(Json::parse(schemaText()), json, "");
  if (!error->empty())
    return std::nullopt;
  return machineOf(json);
}

std::optional<Machine> findMachine(std::string_view name) {
  std::string error;
  for (const MachineFile &file : builtinMachineFiles())
    if (file.path == name)
      return parseMachine(file.text, &error);
  return std::nullopt;
}

} // namespace ptl
