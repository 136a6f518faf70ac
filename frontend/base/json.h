// A writer for JSON documents, indented by two. Bytes that are not UTF-8 are written as U+FFFD, so
// that the document is always valid.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ptl {

/// Appends `text` to `out` as a JSON string with its quotes.
void appendJsonString(std::string &out, std::string_view text);

/// Writes one document. Inside an object every value follows a `key`; calls that begin and end
/// brackets must match.
class JsonWriter {
public:
  JsonWriter &beginObject() { return open('{'); }
  JsonWriter &endObject() { return close('}'); }
  JsonWriter &beginArray() { return open('['); }
  JsonWriter &endArray() { return close(']'); }
  JsonWriter &key(std::string_view name);
  JsonWriter &string(std::string_view value);
  JsonWriter &number(int64_t value);
  JsonWriter &boolean(bool value);
  /// Writes a value that is JSON text already.
  JsonWriter &raw(std::string_view json);
  /// Writes a `key` followed by a string.
  JsonWriter &field(std::string_view name, std::string_view value) {
    return key(name).string(value);
  }
  /// Writes a `key` followed by a number.
  JsonWriter &field(std::string_view name, int64_t value) { return key(name).number(value); }
  /// Writes a `key` followed by an object, which has a field for each pair of a name and a value.
  template <typename Pairs> JsonWriter &fields(std::string_view name, const Pairs &pairs) {
    key(name).beginObject();
    for (const auto &[each, value] : pairs)
      field(each, value);
    return endObject();
  }

  /// The document with a final line end.
  std::string take() { return std::move(out_) + "\n"; }

private:
  JsonWriter &open(char bracket);
  JsonWriter &close(char bracket);
  void beforeValue();
  void newLine();

  std::string out_;
  unsigned depth_ = 0;
  bool first_ = true;     ///< nothing has been written yet in the innermost bracket
  bool afterKey_ = false; ///< a key waits for its value
};

} // namespace ptl
