// Writes the trace format of Chrome, which Perfetto reads, event by event.
#pragma once

#include <string>
#include <string_view>

namespace ptl::rt::trace {

/// A row in the picture.
struct Track {
  int process = 0, thread = 0;
};

/// All times are in microseconds. `arguments` is the inside of a JSON object.
class ChromeEvents {
public:
  void nameProcess(int process, std::string_view name, int order);
  void nameThread(Track track, std::string_view name);
  void task(std::string_view name, Track track, double start, double length,
            const std::string &arguments);
  void arrow(Track from, double leaves, Track to, double arrives);
  void counter(std::string_view name, double time, const std::string &arguments);
  /// The document.
  std::string take();

  static std::string quoted(std::string_view text);

private:
  void open(const char *phase, std::string_view name, Track track);

  std::string text_;
  int arrows_ = 0;
};

} // namespace ptl::rt::trace
