#include "frontend/base/json.h"

#include "frontend/base/utf8.h"

namespace ptl {

static void appendEscape(std::string &out, unsigned char c) {
  static const char digits[] = "0123456789abcdef";
  switch (c) {
  case '"':
    out += "\\\"";
    return;
  case '\\':
    out += "\\\\";
    return;
  case '\n':
    out += "\\n";
    return;
  case '\t':
    out += "\\t";
    return;
  case '\r':
    out += "\\r";
    return;
  default:
    out += "\\u00";
    out += digits[c >> 4];
    out += digits[c & 15];
  }
}

void appendJsonString(std::string &out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    auto c = static_cast<unsigned char>(text[i]);
    CodePoint point = decodeUtf8(text, i);
    if (!point.valid)
      out += "\xEF\xBF\xBD";
    else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7F)
      appendEscape(out, c);
    else
      out.append(text, i, point.length);
    i += point.length;
  }
  out += '"';
}

void JsonWriter::newLine() {
  out_ += '\n';
  out_.append(depth_ * 2, ' ');
}

void JsonWriter::beforeValue() {
  if (afterKey_) {
    afterKey_ = false;
    return;
  }
  if (depth_ == 0)
    return;
  if (!first_)
    out_ += ',';
  first_ = false;
  newLine();
}

JsonWriter &JsonWriter::open(char bracket) {
  beforeValue();
  out_ += bracket;
  ++depth_;
  first_ = true;
  return *this;
}

JsonWriter &JsonWriter::close(char bracket) {
  --depth_;
  if (!first_)
    newLine();
  first_ = false;
  out_ += bracket;
  return *this;
}

JsonWriter &JsonWriter::key(std::string_view name) {
  beforeValue();
  appendJsonString(out_, name);
  out_ += ": ";
  afterKey_ = true;
  return *this;
}

JsonWriter &JsonWriter::string(std::string_view value) {
  beforeValue();
  appendJsonString(out_, value);
  return *this;
}

JsonWriter &JsonWriter::number(int64_t value) { return raw(std::to_string(value)); }

JsonWriter &JsonWriter::boolean(bool value) { return raw(value ? "true" : "false"); }

JsonWriter &JsonWriter::raw(std::string_view json) {
  beforeValue();
  out_ += json;
  return *this;
}

} // namespace ptl
