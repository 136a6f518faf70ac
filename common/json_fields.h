// Fields of JSON values that somebody else has written, so that any may be missing or of another type.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace ptl {

/// The member of that name if `json` is an object that has one for which `is` holds, else null.
inline const nlohmann::json *findField(const nlohmann::json &json, const char *key,
                                       bool (nlohmann::json::*is)() const noexcept) {
  auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && ((*found).*is)() ? &*found : nullptr;
}

/// The member as text, integer or boolean; the default if it is missing or of another type.
inline std::string textField(const nlohmann::json &json, const char *key,
                             const std::string &otherwise = "") {
  auto *found = findField(json, key, &nlohmann::json::is_string);
  return found ? found->get<std::string>() : otherwise;
}
inline int64_t numberField(const nlohmann::json &json, const char *key, int64_t otherwise = 0) {
  auto *found = findField(json, key, &nlohmann::json::is_number_integer);
  return found ? found->get<int64_t>() : otherwise;
}
inline bool truthField(const nlohmann::json &json, const char *key, bool otherwise = false) {
  auto *found = findField(json, key, &nlohmann::json::is_boolean);
  return found ? found->get<bool>() : otherwise;
}

/// The member if it is an object or a list, else an empty one.
inline const nlohmann::json &objectField(const nlohmann::json &json, const char *key) {
  static const nlohmann::json none = nlohmann::json::object();
  auto *found = findField(json, key, &nlohmann::json::is_object);
  return found ? *found : none;
}
inline const nlohmann::json &listField(const nlohmann::json &json, const char *key) {
  static const nlohmann::json none = nlohmann::json::array();
  auto *found = findField(json, key, &nlohmann::json::is_array);
  return found ? *found : none;
}

/// The value as one line. Invalid UTF-8 is replaced: a message must not fail because of a name in it.
inline std::string dumped(const nlohmann::json &value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The answer of JSON-RPC to the message `id` that could not be answered.
inline nlohmann::json errorMessage(const nlohmann::json &id, int code, const std::string &text) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}};
}

} // namespace ptl
