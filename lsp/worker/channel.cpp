#include "lsp/worker/channel.h"

#include "common/message_header.h"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace ptl::worker {

namespace {

constexpr size_t kLongestHeader = 4096;
constexpr size_t kLongestMessage = size_t(256) << 20;
constexpr std::string_view kHeaderEnd = "\r\n\r\n";

} // namespace

bool Channel::fill(bool wait) {
  pollfd ready = {in_, POLLIN, 0};
  if (!wait && ::poll(&ready, 1, 0) <= 0)
    return false;
  char bytes[1 << 16];
  ssize_t count = ::read(in_, bytes, sizeof bytes);
  if (count < 0 && errno == EINTR)
    return true;
  if (count <= 0) {
    ended_ = true;
    return false;
  }
  buffer_.append(bytes, static_cast<size_t>(count));
  return true;
}

/// Moves one frame from the buffer to the messages; false when none is complete.
bool Channel::takeFrame() {
  size_t end = buffer_.find(kHeaderEnd);
  if (end == buffer_.npos) {
    // A header may still be on its way, unless there are more bytes than any has.
    if (buffer_.size() <= kLongestHeader)
      return false;
    buffer_.clear();
    messages_.push_back(Json(Json::value_t::discarded));
    return true;
  }
  std::optional<size_t> length = contentLength(std::string_view(buffer_).substr(0, end));
  if (!length || *length > kLongestMessage) {
    buffer_.erase(0, end + kHeaderEnd.size());
    messages_.push_back(Json(Json::value_t::discarded));
    return true;
  }
  size_t begin = end + kHeaderEnd.size();
  if (buffer_.size() - begin < *length)
    return false;
  Json message =
      Json::parse(buffer_.begin() + static_cast<std::ptrdiff_t>(begin),
                  buffer_.begin() + static_cast<std::ptrdiff_t>(begin + *length), nullptr, false);
  buffer_.erase(0, begin + *length);
  if (!message.is_object())
    message = Json(Json::value_t::discarded);
  messages_.push_back(std::move(message));
  return true;
}

std::optional<Json> Channel::read() {
  while (messages_.empty()) {
    while (takeFrame())
      ;
    if (messages_.empty() && (ended_ || (!fill(true) && ended_)))
      return std::nullopt;
  }
  Json message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

void Channel::poll() {
  while (!ended_ && fill(false))
    ;
  while (takeFrame())
    ;
}

bool Channel::wasCancelled(const Json &id) {
  poll();
  auto found = std::find_if(messages_.begin(), messages_.end(), [&](const Json &message) {
    return message.is_object() && message.contains("cancel") && message["cancel"] == id;
  });
  if (found == messages_.end())
    return false;
  messages_.erase(found);
  return true;
}

void Channel::write(const Json &message) {
  std::string text = dumped(message);
  std::string frame = messageHeader(text.size()) + text;
  for (size_t done = 0; done < frame.size();) {
    ssize_t count = ::write(out_, frame.data() + done, frame.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      ::_exit(0); // nobody is left to answer to
    done += static_cast<size_t>(count);
  }
}

} // namespace ptl::worker
