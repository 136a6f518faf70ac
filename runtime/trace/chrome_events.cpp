#include "runtime/trace/chrome_events.h"

#include "frontend/base/json.h"
#include "runtime/trace/lane_text.h"

namespace ptl::rt::trace {

static std::string time(double microseconds) { return fixed(microseconds, 4); }

std::string ChromeEvents::quoted(std::string_view text) {
  std::string result;
  appendJsonString(result, text);
  return result;
}

void ChromeEvents::open(const char *phase, std::string_view name, Track track) {
  text_ += text_.empty() ? "" : ",\n";
  text_ += "{\"ph\": \"" + std::string(phase) + "\", \"name\": " + quoted(name) +
           ", \"pid\": " + std::to_string(track.process) +
           ", \"tid\": " + std::to_string(track.thread);
}

void ChromeEvents::nameProcess(int process, std::string_view name, int order) {
  open("M", "process_name", {process, 0});
  text_ += ", \"args\": {\"name\": " + quoted(name) + "}}";
  open("M", "process_sort_index", {process, 0});
  text_ += ", \"args\": {\"sort_index\": " + std::to_string(order) + "}}";
}

void ChromeEvents::nameThread(Track track, std::string_view name) {
  open("M", "thread_name", track);
  text_ += ", \"args\": {\"name\": " + quoted(name) + "}}";
}

void ChromeEvents::task(std::string_view name, Track track, double start, double length,
                        const std::string &arguments) {
  open("X", name, track);
  text_ += ", \"ts\": " + time(start) + ", \"dur\": " + time(length) + ", \"args\": {" + arguments +
           "}}";
}

void ChromeEvents::arrow(Track from, double leaves, Track to, double arrives) {
  std::string same = ", \"cat\": \"dependence\", \"id\": " + std::to_string(++arrows_);
  open("s", "waits", from);
  text_ += same + ", \"ts\": " + time(leaves) + "}";
  open("f", "waits", to);
  text_ += same + ", \"ts\": " + time(arrives) + ", \"bp\": \"e\"}";
}

void ChromeEvents::counter(std::string_view name, double at, const std::string &arguments) {
  open("C", name, {});
  text_ += ", \"ts\": " + time(at) + ", \"args\": {" + arguments + "}}";
}

std::string ChromeEvents::take() {
  return "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n" + std::move(text_) + "\n]}\n";
}

} // namespace ptl::rt::trace
