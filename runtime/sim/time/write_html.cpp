// The swimlane for a browser: one page that holds its data and needs nothing else.
#include "frontend/base/json.h"
#include "runtime/sim/time/report.h"
#include "runtime/sim/time/swimlane_page.h"

#include <cstdio>

namespace ptl::rt::sim {
namespace {

/// More tasks than this make a page that no browser likes: the lanes of the first cores are shown.
constexpr size_t kMostTasks = 400'000;

class Data {
public:
  explicit Data(const Report &report) : r_(report), t_(report.timeline), a_(report.analysis) {}

  std::string write() {
    text_ = "{\"title\":";
    string(title());
    text_ += ",\"end\":" + us(t_.end) + ",\"report\":";
    string(writePage(r_));
    sites();
    lanes();
    gaps();
    path();
    text_ += "}";
    return std::move(text_);
  }

private:
  std::string title() const {
    return describeCall(r_) + (r_.isPart ? ": the first rounds of its loops" : "");
  }
  void string(std::string_view value) {
    std::string quoted;
    appendJsonString(quoted, value);
    // `</script>` in a text would end the page's script.
    for (size_t at = quoted.find("</"); at != quoted.npos; at = quoted.find("</", at + 3))
      quoted.replace(at, 2, "<\\/");
    text_ += quoted;
  }
  std::string us(Cycles cycles) const {
    char text[48];
    std::snprintf(text, sizeof(text), "%.4f", t_.microseconds(cycles));
    return text;
  }
  /// Cores with their tasks, where there are several.
  std::span<const CoreUse> coresShown() const {
    if (a_.tasks.kernels < 2)
      return {};
    return a_.tasks.cores;
  }
  void sites();
  void lanes();
  void gaps();
  void path();

  const Report &r_;
  const Timeline &t_;
  const Analysis &a_;
  std::string text_;
  std::vector<int64_t> shown_; ///< number of a record among the tasks; -1: left out
};

void Data::sites() {
  text_ += ",\"sites\":[";
  for (size_t i = 0; i < t_.sites.size(); ++i) {
    const Site &site = t_.sites[i];
    text_ += i ? ",[" : "[";
    string(site.name);
    text_ += ",";
    string(toString(site.location));
    text_ += "," + std::to_string(site.location.line) + ",";
    string(site.location.name);
    text_ += "]";
  }
  // Tasks are drawn as instructions of their cores.
  for (const LaunchSpan &launch : t_.launches) {
    text_ += ",[";
    string(launch.kernel);
    text_ += ",";
    string(toString(launch.location));
    text_ += "," + std::to_string(launch.location.line) + ",";
    string(launch.writes);
    text_ += "]";
  }
  text_ += "]";
}

/// Tasks as [lane, site, start, end, stall].
void Data::lanes() {
  size_t work = 0;
  for (const Record &record : t_.records)
    work += t_.sites[record.site].isWork();
  // A page with all instructions of many cores would be too large for a browser, so then it shows
  // one core group, whose two vector cores are both there.
  int32_t cores = work <= kMostTasks ? INT32_MAX : 1;
  text_ += ",\"lanes\":[";
  std::vector<int64_t> number(t_.lanes.size(), -1);
  int64_t count = 0;
  for (const CoreUse &use : coresShown()) {
    text_ += count++ ? ",[" : "[";
    string(t_.coreName(use.core));
    text_ += ",\"task\"," + std::to_string(t_.end > 0 ? use.busy / t_.end : 0) + "]";
  }
  for (const LaneUse &use : a_.lanes) {
    const Lane &lane = t_.lanes[use.lane];
    if (lane.number >= (lane.cube || cores == INT32_MAX ? cores : cores * 2))
      continue;
    text_ += count ? ",[" : "[";
    string(lane.core());
    text_ += ",";
    string(pipeName(lane.pipe));
    text_ += "," + std::to_string(t_.end > 0 ? use.busy / t_.end : 0) + "]";
    number[use.lane] = count++;
  }
  text_ += "],\"tasks\":[";
  // Gaps refer to tasks by their number on the page, which is not that of the record.
  shown_.assign(t_.records.size(), -1);
  int64_t tasks = 0, lane = 0;
  for (const CoreUse &use : coresShown()) {
    for (uint32_t block : use.blocks) {
      const BlockSpan &span = t_.blocks[block];
      text_ += (tasks++ ? ",[" : "[") + std::to_string(lane) + "," +
               std::to_string(t_.sites.size() + span.launch) + "," + us(span.begun) + "," +
               us(span.end) + ",0]";
    }
    ++lane;
  }
  for (size_t i = 0; i < t_.records.size(); ++i) {
    const Record &record = t_.records[i];
    if (!t_.sites[record.site].isWork() || number[record.lane] < 0)
      continue;
    text_ += (tasks ? ",[" : "[") + std::to_string(number[record.lane]) + "," +
             std::to_string(record.site) + "," + us(record.start) + "," + us(record.end) + "," +
             us(record.stall) + "]";
    shown_[i] = tasks++;
  }
  text_ += "]";
}

/// Gaps as [task that waited, task that was waited for, start, cause, what the event was for].
void Data::gaps() {
  text_ += ",\"causes\":[";
  for (size_t i = 0; i < std::size(causeNames); ++i) {
    text_ += i ? "," : "";
    string(causeNames[i]);
  }
  text_ += "],\"gaps\":[";
  bool first = true;
  for (const Gap &gap : a_.gaps) {
    if (shown_[gap.next] < 0)
      continue;
    int64_t blocker = gap.blocker == kNoRecord ? -1 : shown_[gap.blocker];
    text_ += (first ? "[" : ",[") + std::to_string(shown_[gap.next]) + "," +
             std::to_string(blocker) + "," + us(gap.start) + "," +
             std::to_string(static_cast<int>(gap.cause)) + "," +
             std::to_string(t_.records[gap.wait].site) + "]";
    first = false;
  }
  text_ += "],\"whys\":{";
  first = true;
  for (size_t i = 0; i < t_.sites.size(); ++i)
    if (!t_.sites[i].why.empty()) {
      text_ += (first ? "\"" : ",\"") + std::to_string(i) + "\":";
      string(t_.sites[i].why);
      first = false;
    }
  text_ += "}";
}

void Data::path() {
  text_ += ",\"path\":[";
  bool first = true;
  for (const PathPiece &piece : a_.path)
    if (piece.record != kNoRecord && shown_[piece.record] >= 0 &&
        (piece.kind == PathPiece::Kind::Work || piece.kind == PathPiece::Kind::Stall)) {
      text_ += (first ? "" : ",") + std::to_string(shown_[piece.record]);
      first = false;
    }
  text_ += "]";
}

} // namespace

std::string writeSwimlane(const Report &report) {
  std::string_view page = kSwimlanePages[0].text;
  constexpr std::string_view mark = "/*DATA*/";
  size_t at = page.find(mark);
  return std::string(page.substr(0, at)) + Data(report).write() +
         std::string(page.substr(at + mark.size()));
}

} // namespace ptl::rt::sim
