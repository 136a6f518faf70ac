#include "driver/reduce/failure.h"

#include <cctype>
#include <cstring>

namespace ptl {

static bool isDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

/// `` `acc` has 3 axes `` becomes `` `…` has # axes ``.
static std::string withoutNames(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size();) {
    if (size_t end = text[at] == '`' ? text.find('`', at + 1) : text.npos; end != text.npos) {
      plain += "`…`";
      at = end + 1;
    } else if (isDigit(text[at])) {
      plain += '#';
      while (at < text.size() && isDigit(text[at]))
        ++at;
    } else {
      plain += text[at++];
    }
  }
  return plain;
}

std::string firstError(std::string_view output) {
  constexpr std::string_view start = "error[";
  // A name in the source may contain anything, so the word has to begin a line.
  for (size_t line = 0; line < output.size();) {
    size_t end = std::min(output.find('\n', line), output.size());
    std::string_view text = output.substr(line, end - line);
    if (size_t close = text.find(']'); text.starts_with(start) && close != text.npos)
      return std::string(text.substr(start.size(), close - start.size())) +
             withoutNames(text.substr(close + 1));
    line = end + 1;
  }
  return {};
}

Failure failureOf(const ProcessEnd &end, std::string_view output) {
  return {end.signal, end.signal ? 0 : end.code, firstError(output)};
}

std::string Failure::text() const {
  std::string how = signal ? "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")"
                           : "exit code " + std::to_string(code);
  return message.empty() ? how : how + ", " + message;
}

} // namespace ptl
