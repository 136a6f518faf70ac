#include "driver/debug/channel.h"

#include "common/json_fields.h"
#include "common/message_header.h"

#include <cerrno>
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
  std::optional<size_t> length = contentLength(header);
  return length && *length <= kLongestMessage ? length : std::nullopt;
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
  std::string text = dumped(message);
  text = messageHeader(text.size()) + text;
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
