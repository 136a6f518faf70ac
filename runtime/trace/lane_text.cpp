#include "runtime/trace/lane_text.h"

#include <cstdio>

namespace ptl::rt::trace {

std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

static std::string textOf(const LaneTask &task) {
  std::string text = "{\"name\": ";
  appendJsonString(text, task.name);
  text += ", \"line\": " + std::to_string(task.line) + ", \"start\": " + fixed(task.start) +
          ", \"end\": " + fixed(task.end);
  if (task.stall > 0)
    text += ", \"stall\": " + fixed(task.stall);
  return text + "}";
}

static std::string textOf(const LaneGap &gap) {
  std::string text =
      "{\"start\": " + fixed(gap.start) + ", \"end\": " + fixed(gap.end) + ", \"cause\": ";
  appendJsonString(text, gap.cause);
  text += ", \"before\": " + std::to_string(gap.before);
  if (!gap.waitsFor.empty()) {
    text += ", \"waits_for\": ";
    appendJsonString(text, gap.waitsFor);
    text += ", \"lane\": ";
    appendJsonString(text, gap.lane);
    text += ", \"line\": " + std::to_string(gap.line);
  }
  return text + "}";
}

void writeLane(JsonWriter &json, const LaneText &lane) {
  json.beginObject().field("lane", lane.name);
  json.key("util").raw(fixed(lane.utilisation, 4));
  json.key("busy_us").raw(fixed(lane.busy));
  json.key("idle_us").beginObject();
  for (const auto &[cause, time] : lane.idle)
    json.key(cause).raw(fixed(time));
  json.endObject();
  json.key("tasks").beginArray();
  for (const LaneTask &task : lane.tasks)
    json.raw(textOf(task));
  json.endArray();
  json.key("gaps").beginArray();
  for (const LaneGap &gap : lane.gaps)
    json.raw(textOf(gap));
  json.endArray();
  json.endObject();
}

} // namespace ptl::rt::trace
