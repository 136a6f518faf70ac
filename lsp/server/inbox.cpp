#include "lsp/server/inbox.h"

#include <algorithm>

namespace ptl::lsp {

/// How deep the arrays and objects of a JSON text are nested.
static size_t nestingOf(std::string_view text) {
  size_t depth = 0, deepest = 0;
  bool isString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isString) {
      // The character behind a backslash does not end the string.
      i += c == '\\';
      isString = c != '"';
    } else if (c == '"') {
      isString = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (depth > 0 && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return deepest;
}

void Inbox::feed(std::string_view bytes) {
  frames_.feed(bytes);
  std::string error;
  auto reportBroken = [&] {
    if (!error.empty())
      refuse_({kParseError, error});
  };
  while (auto message = frames_.next(error)) {
    // What was broken came before the message.
    reportBroken();
    receive(*message);
  }
  reportBroken();
}

void Inbox::receive(const std::string &text) {
  constexpr size_t deepest = 500; // levels: copying and printing go down as deep as a value
  if (nestingOf(text) > deepest)
    return refuse_({kInvalidRequest,
                    "the message is nested deeper than " + std::to_string(deepest) + " levels"});
  json message = json::parse(text, nullptr, false);
  if (message.is_discarded())
    return refuse_({kParseError, "the message is not JSON"});
  if (message.is_array()) {
    if (message.empty())
      return refuse_({kInvalidRequest, "an empty batch"});
    for (const json &each : message)
      each.is_object() ? queue_.push_back(each) : refuse_({kInvalidRequest, "not a message"});
    return;
  }
  if (!message.is_object())
    return refuse_({kInvalidRequest, "the message is not an object"});
  auto method = message.find("method");
  if (method != message.end() && *method == "$/cancelRequest" && message.contains("params") &&
      message["params"].is_object())
    return cancel(message["params"].value("id", json()));
  queue_.push_back(std::move(message));
}

void Inbox::cancel(const json &id) {
  // A request that waits is answered as cancelled when its turn comes.
  if (std::ranges::any_of(queue_, [&](const json &message) {
        return message.contains("method") && message.value("id", json()) == id;
      }))
    cancelled_.insert(id.dump());
  if (!cancelled_.contains(id.dump()))
    cancel_(id);
}

json Inbox::take() {
  json message = std::move(queue_.front());
  queue_.pop_front();
  return message;
}

} // namespace ptl::lsp
