#include "driver/debug/channel.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <poll.h>
#include <unistd.h>

namespace ptl::debug {

using nlohmann::json;

constexpr size_t kLongestHeader = 8192;
constexpr size_t kLongestMessage = size_t(64) << 20;

bool Channel::readMore() {
  char bytes[1 << 14];
  ssize_t count = 0;
  do
    count = ::read(input_, bytes, sizeof bytes);
  while (count < 0 && errno == EINTR);
  if (count > 0)
    buffer_.append(bytes, static_cast<size_t>(count));
  return count > 0;
}

std::optional<size_t> Channel::takeHeader() {
  size_t end = buffer_.find("\r\n\r\n");
  std::string header = buffer_.substr(0, end);
  buffer_.erase(0, end + 4);
  std::transform(header.begin(), header.end(), header.begin(),
                 [](unsigned char byte) { return static_cast<char>(std::tolower(byte)); });
  constexpr std::string_view name = "content-length:";
  size_t at = header.find(name);
  if (at == header.npos)
    return std::nullopt;
  at = header.find_first_not_of(' ', at + name.size());
  size_t length = 0;
  if (at == header.npos ||
      std::from_chars(header.data() + at, header.data() + header.size(), length).ec != std::errc())
    return std::nullopt;
  return length <= kLongestMessage ? std::optional(length) : std::nullopt;
}

std::optional<json> Channel::next() {
  while (true) {
    while (buffer_.find("\r\n\r\n") == buffer_.npos)
      if (buffer_.size() > kLongestHeader || !readMore())
        return std::nullopt;
    std::optional<size_t> length = takeHeader();
    if (!length)
      return std::nullopt;
    while (buffer_.size() < *length)
      if (!readMore())
        return std::nullopt;
    json message = json::parse(buffer_.substr(0, *length), nullptr, false);
    buffer_.erase(0, *length);
    // What is no JSON cannot be answered, and the next message may be right.
    if (message.is_object())
      return message;
  }
}

bool Channel::hasInput() const {
  pollfd one{input_, POLLIN, 0};
  return !buffer_.empty() || ::poll(&one, 1, 0) > 0;
}

void Channel::send(json message) {
  message["seq"] = ++sent_;
  std::string text = message.dump(-1, ' ', false, json::error_handler_t::replace);
  text = "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text;
  for (size_t at = 0; at < text.size();) {
    ssize_t count = ::write(output_, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return; // Nobody listens any more; the input ends, too.
    at += static_cast<size_t>(count);
  }
}

} // namespace ptl::debug
