#include "machines/machine_document.h"

#include "machines/machine_files.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>
#include <set>

namespace ptl {

using Json = MachineJson;

static std::string_view embeddedText(std::string_view name) {
  for (size_t i = 0; i < kMachineFileCount; ++i)
    if (kMachineFiles[i].name == name)
      return kMachineFiles[i].text;
  return "";
}

namespace {

/// Takes text that is known to be right as it comes. `Json::parse` looks whether each member of an
/// object is there already, and copies all of them whenever the object grows.
class TrustedReader : public nlohmann::json_sax<Json> {
public:
  static Json read(std::string_view text) {
    TrustedReader reader;
    Json::sax_parse(text, &reader);
    return std::move(reader.whole_);
  }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t &) override { return add(value); }
  bool string(string_t &value) override { return add(std::move(value)); }
  bool binary(binary_t &value) override { return add(std::move(value)); }
  bool key(string_t &name) override {
    name_ = std::move(name);
    return true;
  }
  bool start_object(size_t) override { return open(false); }
  bool start_array(size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string &, const Json::exception &) override { return false; }

private:
  /// A list or an object that has not ended.
  struct Open {
    bool isArray;
    std::string name; ///< in the object around it
    Json::array_t items = {};
    std::vector<std::pair<std::string, Json>> members = {};
  };

  bool add(Json value) {
    if (open_.empty())
      whole_ = std::move(value);
    else if (open_.back().isArray)
      open_.back().items.push_back(std::move(value));
    else
      open_.back().members.emplace_back(std::move(name_), std::move(value));
    return true;
  }
  bool open(bool isArray) {
    open_.push_back({isArray, std::move(name_)});
    return true;
  }
  bool close() {
    Open ended = std::move(open_.back());
    open_.pop_back();
    name_ = std::move(ended.name);
    if (ended.isArray)
      return add(std::move(ended.items));
    // An object with an order is a vector of its members.
    Json::object_t object;
    object.reserve(ended.members.size());
    std::vector<Json::object_t::value_type, Json::object_t::allocator_type> &members = object;
    for (auto &[name, value] : ended.members)
      members.emplace_back(std::move(name), std::move(value));
    return add(std::move(object));
  }

  Json whole_;
  std::vector<Open> open_; ///< from the outermost in
  std::string name_;
};

} // namespace

static const Json &schemaDocument() {
  static const Json schema = TrustedReader::read(embeddedText("schema"));
  return schema;
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

/// "line 3, column 7" of the byte with that number, counted from 1.
static std::string placeOf(std::string_view text, size_t byte) {
  std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  size_t line = 1 + static_cast<size_t>(std::count(before.begin(), before.end(), '\n'));
  size_t newline = before.rfind('\n');
  size_t column = newline == before.npos ? before.size() + 1 : before.size() - newline;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

/// Null and an error if the text is not JSON or gives a member of an object twice.
static Json parseText(std::string_view text, std::string *error) {
  std::vector<std::set<std::string>> open;
  std::string twice;
  auto watch = [&](int, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      open.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      open.pop_back();
    else if (event == Json::parse_event_t::key && twice.empty() &&
             !open.back().insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, watch);
  } catch (const Json::parse_error &problem) {
    *error = "it is not JSON: " + placeOf(text, problem.byte);
    return nullptr;
  } catch (const Json::exception &) {
    *error = "it has a number that is too large";
    return nullptr;
  }
  if (!twice.empty()) {
    *error = "`" + twice + "` is given twice in one object";
    return nullptr;
  }
  if (json.is_null())
    *error = "the document is not an object";
  return json;
}

static std::string memberPath(const std::string &path, const std::string &name) {
  return path.empty() ? name : path + "." + name;
}

static std::string itemPath(const std::string &path, size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

namespace {

/// Validates in the part of JSON Schema that `schema.json` uses. A `partial` document has a base:
/// it may leave out what is required, and remove by null and `"remove": true`. Every function gives
/// what is wrong, or an empty string.
class Validator {
public:
  Validator(const Json &schema, bool partial) : root_(schema), partial_(partial) {}

  std::string check(const Json &value) const { return check(root_, value, ""); }

private:
  /// The schema itself, or the one that it refers to.
  const Json *resolve(const Json *schema) const {
    auto reference = schema->find("$ref");
    if (reference == schema->end())
      return schema;
    std::string path = *reference;
    return &root_.at("$defs").at(path.substr(path.rfind('/') + 1));
  }

  static bool hasType(const Json &value, const std::string &type) {
    if (type == "integer") // above what 64 bits with a sign hold, a number is no size
      return value.is_number_integer() &&
             !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "number" && value.is_number());
  }

  /// What the only `pattern` of the schema says. The regular expressions of the C++ library would
  /// take a stack as deep as the text is long, and files may be damaged.
  static bool isWord(std::string_view text) {
    auto isPart = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
           std::all_of(text.begin(), text.end(), isPart);
  }

  /// Only of plain values: others may nest deeply.
  static std::string shown(const Json &value) {
    return value.is_object() ? "an object" : value.is_array() ? "a list" : value.dump();
  }

  std::string check(const Json &unresolved, const Json &value, const std::string &path) const;
  std::string checkObject(const Json &schema, const Json &value, const std::string &path) const;
  std::string checkArray(const Json &schema, const Json &value, const std::string &path) const;
  std::string checkKeys(const Json &keys, const Json &value, const std::string &path) const;

  const Json &root_;
  bool partial_;
};

} // namespace

std::string Validator::check(const Json &unresolved, const Json &value,
                             const std::string &path) const {
  const Json &schema = *resolve(&unresolved);
  std::string what = path.empty() ? "the document" : "`" + path + "`";
  if (auto choices = schema.find("anyOf"); choices != schema.end()) // a plain value or a list
    return check(choices->at(value.is_array() ? 1 : 0), value, path);
  if (auto type = schema.find("type"); type != schema.end() && !hasType(value, *type)) {
    std::string name = *type;
    return what + " is not " +
           (std::string("aio").find(name[0]) != std::string::npos ? "an " : "a ") + name;
  }
  if (auto legal = schema.find("enum");
      legal != schema.end() && std::find(legal->begin(), legal->end(), value) == legal->end())
    return what + " is " + shown(value) + ", not one of " + legal->dump();
  // Sources name machines, so a name has to be a word of the language.
  if (schema.contains("pattern") && !isWord(value.get<std::string>()))
    return what + " is " + shown(value) + ", not a word of letters, digits and `_`";
  if (auto minimum = schema.find("minimum"); minimum != schema.end() && value < *minimum)
    return what + " is " + value.dump() + ", less than " + minimum->dump();
  return value.is_object()  ? checkObject(schema, value, path)
         : value.is_array() ? checkArray(schema, value, path)
                            : "";
}

std::string Validator::checkObject(const Json &schema, const Json &value,
                                   const std::string &path) const {
  if (auto required = schema.find("required"); required != schema.end() && !partial_)
    for (const Json &name : *required)
      if (!value.contains(name.get<std::string>()))
        return "`" + memberPath(path, name) + "` is missing";
  auto properties = schema.find("properties");
  for (const auto &[name, member] : value.items()) {
    std::string where = memberPath(path, name);
    if (partial_ && name == "remove" && member == true)
      continue;
    const Json *rule = nullptr;
    if (properties != schema.end() && properties->contains(name))
      rule = &properties->at(name);
    else if (properties == schema.end())
      rule = &schema.at("additionalProperties");
    if (!rule)
      return "`" + where + "` is not a field of a machine";
    if (partial_ && member.is_null())
      continue;
    if (std::string error = check(*rule, member, where); !error.empty())
      return error;
  }
  return "";
}

std::string Validator::checkArray(const Json &schema, const Json &value,
                                  const std::string &path) const {
  if (auto length = schema.find("minItems"); length != schema.end() && value.size() != *length)
    return "`" + path + "` has " + std::to_string(value.size()) + " items, not " + length->dump();
  for (size_t i = 0; i < value.size(); ++i)
    if (std::string error = check(schema.at("items"), value[i], itemPath(path, i)); !error.empty())
      return error;
  auto keys = schema.find("x-key");
  return keys == schema.end() ? "" : checkKeys(*keys, value, path);
}

std::string Validator::checkKeys(const Json &keys, const Json &value,
                                 const std::string &path) const {
  std::set<std::string> seen;
  for (size_t i = 0; i < value.size(); ++i) {
    std::string name;
    for (const Json &key : keys) {
      auto member = value[i].find(key.get<std::string>());
      if (member == value[i].end() || !member->is_string())
        return "`" + memberPath(itemPath(path, i), key) + "` is missing";
      name += (name.empty() ? "" : " -> ") + member->get<std::string>();
    }
    if (!seen.insert(name).second)
      return "`" + itemPath(path, i) + "` describes `" + name + "` again";
  }
  return "";
}

static bool sameItem(const Json &keys, const Json &a, const Json &b) {
  return std::all_of(keys.begin(), keys.end(), [&](const Json &key) {
    return a.at(key.get<std::string>()) == b.at(key.get<std::string>());
  });
}

static std::string mergeInto(Json &base, const Json &own, const Json &schema,
                             const std::string &path);

static std::string mergeItems(Json &base, const Json &own, const Json &schema,
                              const std::string &path) {
  for (size_t i = 0; i < own.size(); ++i) {
    auto same = std::find_if(base.begin(), base.end(), [&](const Json &item) {
      return sameItem(schema.at("x-key"), item, own[i]);
    });
    if (own[i].contains("remove")) {
      if (same == base.end())
        return "`" + itemPath(path, i) + "` removes an item that the base does not have";
      base.erase(same);
    } else if (same == base.end()) {
      base.push_back(own[i]);
    } else if (std::string error = mergeInto(*same, own[i], schema.at("items"), itemPath(path, i));
               !error.empty()) {
      return error;
    }
  }
  return "";
}

/// Objects are merged member by member, keyed lists item by item; anything else is replaced.
static std::string mergeInto(Json &base, const Json &own, const Json &schema,
                             const std::string &path) {
  for (const auto &[name, value] : own.items()) {
    const Json *rule = nullptr;
    if (auto properties = schema.find("properties");
        properties != schema.end() && properties->contains(name))
      rule = &properties->at(name);
    auto old = base.find(name);
    std::string error;
    if (value.is_null())
      base.erase(name);
    else if (old == base.end())
      base[name] = value;
    else if (value.is_object() && old->is_object())
      error = mergeInto(*old, value, rule ? *rule : schema.at("additionalProperties"),
                        memberPath(path, name));
    else if (rule && rule->contains("x-key"))
      error = mergeItems(*old, value, *rule, memberPath(path, name));
    else
      *old = value;
    if (!error.empty())
      return error;
  }
  return "";
}

/// Leaves out of a list of types, or of lists of types, what names a type that is not in `legal`.
static void narrowList(Json &list, const Json &legal) {
  auto lacking = [&](const Json &type) {
    return std::find(legal.begin(), legal.end(), type) == legal.end();
  };
  Json kept = Json::array();
  for (const Json &row : list)
    if (row.is_array() ? std::none_of(row.begin(), row.end(), lacking) : !lacking(row))
      kept.push_back(row);
  list = std::move(kept);
}

/// Leaves out instructions that no type is left for; gives their names.
static Json narrowInstructions(Json &instructions, const Json &legal) {
  Json gone = Json::array();
  for (auto it = instructions.begin(); it != instructions.end(); ++it) {
    narrowList(it.value(), legal);
    if (it->empty())
      gone.push_back(it.key());
  }
  for (const Json &name : gone)
    instructions.erase(name.get<std::string>());
  return gone;
}

static void narrowTypes(Json &machine, const Json &legal) {
  Json gone = Json::array();
  if (machine.contains("instructions"))
    gone = narrowInstructions(machine["instructions"], legal);
  if (machine.contains("atomicTypes"))
    narrowList(machine["atomicTypes"], legal);
  if (!machine.contains("moves"))
    return;
  Json moves = Json::array();
  for (Json &move : machine["moves"]) {
    for (const char *list : {"types", "conversions", "quantized"})
      if (move.contains(list))
        narrowList(move[list], legal);
    Json kept = Json::array();
    for (const Json &name : move["instructions"])
      if (std::find(gone.begin(), gone.end(), name) == gone.end())
        kept.push_back(name);
    move["instructions"] = kept;
    if (!kept.empty())
      moves.push_back(std::move(move));
  }
  machine["moves"] = std::move(moves);
}

static Json resolveText(std::string_view text, std::string *error, const Json *schema,
                        std::span<const MachineFile> others, std::vector<std::string> &below);

/// The text of the machine of that name.
static std::string_view textOfMachine(std::string_view name, std::span<const MachineFile> others) {
  for (const MachineFile &file : others) {
    std::string ignored;
    Json json = parseText(file.text, &ignored);
    if (json.is_object() && json.contains("name") && json["name"] == std::string(name))
      return file.text;
  }
  return name == "schema" ? "" : embeddedText(name);
}

/// `schema` null: the text is known to be right.
static Json withBase(Json own, std::string *error, const Json *schema,
                     std::span<const MachineFile> others, std::vector<std::string> &below) {
  std::string name = own["base"];
  own.erase("base");
  if (std::find(below.begin(), below.end(), name) != below.end()) {
    *error = "`base` leads back to `" + name + "`";
    return nullptr;
  }
  std::string_view text = textOfMachine(name, others);
  if (text.empty()) {
    *error = "`base` is `" + name + "`, which is not a machine";
    return nullptr;
  }
  below.push_back(name);
  Json base = resolveText(text, error, schema, others, below);
  if (base.is_null()) {
    *error = "its base `" + name + "`: " + *error;
    return nullptr;
  }
  if (own.contains("elementTypes") && own["elementTypes"].is_array())
    narrowTypes(base, own["elementTypes"]);
  *error = mergeInto(base, own, schemaDocument(), "");
  if (!error->empty())
    return nullptr;
  return base;
}

static Json resolveText(std::string_view text, std::string *error, const Json *schema,
                        std::span<const MachineFile> others, std::vector<std::string> &below) {
  Json json = schema ? parseText(text, error) : TrustedReader::read(text);
  if (!error->empty())
    return nullptr;
  bool partial = json.is_object() && json.contains("base");
  if (schema)
    *error = Validator(*schema, partial).check(json);
  if (!error->empty())
    return nullptr;
  if (!partial)
    return json;
  for (const char *member : {"base", "name"}) // a base cannot stand in for these
    if (!json.contains(member) || !json[member].is_string()) {
      *error = "`" + std::string(member) + "` is missing";
      return nullptr;
    }
  below.push_back(json["name"]);
  json = withBase(std::move(json), error, schema, others, below);
  if (error->empty() && schema)
    *error = Validator(*schema, false).check(json);
  if (!error->empty())
    return nullptr;
  return json;
}

Json resolveMachine(std::string_view text, std::string *error,
                    std::span<const MachineFile> others) {
  error->clear();
  std::vector<std::string> below;
  return resolveText(text, error, &schemaDocument(), others, below);
}

const Json &builtinMachine(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, Json, std::less<>> machines;
  std::lock_guard lock(mutex);
  auto found = machines.find(name);
  if (found == machines.end()) {
    std::string_view text = textOfMachine(name, {});
    std::string error;
    std::vector<std::string> below;
    found = machines
                .emplace(std::string(name),
                         text.empty() ? Json() : resolveText(text, &error, nullptr, {}, below))
                .first;
  }
  return found->second;
}

} // namespace ptl
