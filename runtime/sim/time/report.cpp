// The report for people.
#include "runtime/sim/time/analysis_tasks.h"
#include "runtime/sim/time/hints.h"
#include "runtime/sim/time/write_tasks.h"

#include "frontend/base/printed.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ptl::rt::sim {
namespace {

std::string duration(double microseconds) {
  return microseconds >= 10000 ? printed("%.2f ms", microseconds / 1000)
                               : printed("%.2f us", microseconds);
}

std::string amount(double bytes) {
  return bytes >= 1e9   ? printed("%.2f GB", bytes * 1e-9)
         : bytes >= 1e6 ? printed("%.1f MB", bytes * 1e-6)
                        : printed("%.1f KB", bytes * 1e-3);
}

class Page {
public:
  explicit Page(const Report &report) : r_(report), t_(report.timeline), a_(report.analysis) {}

  void head();
  void path();
  void pipes();
  void waits();
  void gains();
  void lines();
  void memory();
  void hints();
  std::string text;

private:
  double us(Cycles cycles) const { return t_.microseconds(cycles); }
  double share(Cycles cycles) const { return t_.end > 0 ? 100 * cycles / t_.end : 0; }

  const Report &r_;
  const Timeline &t_;
  const Analysis &a_;
};

void Page::head() {
  text += describeCall(r_) + ": " + duration(us(t_.end));
  text += printed("  (%.0f cycles at %.0f MHz", t_.end, t_.clockMhz);
  text += a_.tasks.kernels == 1 ? ")" : printed(", %d kernels)", a_.tasks.kernels);
  text += "  " + describeBound(a_) + "\n";
  if (t_.records.empty())
    text += "no operations were kept: no lanes, gaps and path\n";
}

void Page::path() {
  std::vector<std::pair<std::string, Cycles>> parts(a_.pathByPart.begin(), a_.pathByPart.end());
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto &a, const auto &b) { return a.second > b.second; });
  text += "\ncritical path\n";
  for (const auto &[part, cycles] : parts)
    text += printed("  %-18s %12s  %5.1f %%\n", part.c_str(), duration(us(cycles)).c_str(),
                    share(cycles));
}

void Page::pipes() {
  text +=
      printed("\npipes             busy of the %s at work, on how many cores\n",
              duration(us(t_.launches.empty() ? 0 : t_.end - t_.launches.front().begun)).c_str());
  for (const PipeUse &use : a_.pipes) {
    auto bar = static_cast<size_t>(std::lround(use.share * 40));
    text += printed("  %s %-5s %6.1f %%  %-40s %d\n", use.cube ? "aic" : "aiv",
                    std::string(pipeName(use.pipe)).c_str(), use.share * 100,
                    std::string(std::min<size_t>(bar, 40), '#').c_str(), use.lanes);
  }
}

void Page::waits() {
  text += "\nwhy pipes that have work are idle: sum over the cores, how often\n";
  size_t shown = 0;
  for (const GapGroup &group : a_.groups) {
    if (++shown > 12 || group.total < 0.002 * t_.end)
      break;
    text += printed("  %s %-5s %12s %7llu x  ", group.cube ? "aic" : "aiv",
                    std::string(pipeName(group.pipe)).c_str(), duration(us(group.total)).c_str(),
                    static_cast<unsigned long long>(group.count));
    text += describeGap(t_, group) + (group.critical > 0 ? "  [on the critical path]" : "") + "\n";
  }
}

void Page::gains() {
  double uneven = a_.tasks.kernels == 1 ? a_.uneven : 0;
  if (a_.gains.empty() && uneven <= 0.01 * t_.end)
    return;
  text += "\nwhat would be gained: the run again, if\n";
  for (const Gain &gain : a_.gains)
    text += printed("  %6.1f %%  %12s  %s\n", t_.end > 0 ? -100 * (t_.end - gain.end) / t_.end : 0,
                    duration(us(gain.end)).c_str(), gain.what.c_str());
  if (uneven > 0.01 * t_.end)
    text += printed("  %6.1f %%  %12s  all core groups ended at the same time\n", -share(uneven),
                    duration(us(t_.end - uneven)).c_str());
}

void Page::lines() {
  text += "\nlines of the source: busy on all pipes, of the critical path\n";
  size_t shown = 0;
  for (const LineCost &line : lineCosts(r_)) {
    if (++shown > 15)
      break;
    text += printed("  %-28s %12s  %5.1f %%  %s\n", toString(line.location).c_str(),
                    duration(us(line.busy)).c_str(), share(line.path), line.names.c_str());
  }
}

void Page::memory() {
  double seconds = us(a_.atWork) * 1e-6;
  if (seconds <= 0)
    return;
  text += "\nglobal memory: " + amount(static_cast<double>(t_.bytes));
  text += printed(" to and from the cores, %.2f TB/s; ",
                  static_cast<double>(t_.bytes) / seconds * 1e-12);
  text += amount(static_cast<double>(t_.missed));
  text +=
      printed(" of it not in L2, %.2f TB/s\n", static_cast<double>(t_.missed) / seconds * 1e-12);
  if (t_.signal > 0 && a_.signals > 0)
    text += printed("signals between cores: %llu, which take %.1f %% of what the hub can hand on\n",
                    static_cast<unsigned long long>(a_.signals), a_.signalUse * 100);
  text += printed("core groups: %d of %lld have work\n", a_.groupsAtWork,
                  static_cast<long long>(r_.groupsOfChip));
}

void Page::hints() {
  std::vector<Hint> hints = hintsOf(r_);
  if (!hints.empty())
    text += "\nhints\n";
  for (const Hint &hint : hints) {
    std::string place = toString(hint.location);
    text += "  " + (place.empty() ? "" : place + ": ") + hint.text;
    text += hint.gain > 0 ? printed(" (%.1f %%)\n", -100 * hint.gain) : "\n";
  }
}

} // namespace

std::vector<LineCost> lineCosts(const Report &report) {
  std::map<std::pair<std::string, int32_t>, LineCost> lines;
  const Timeline &t = report.timeline;
  auto lineOf = [&](const Site &site) -> LineCost & {
    LineCost &line = lines[{site.location.file, site.location.line}];
    line.location = site.location;
    line.location.name.clear();
    line.location.column = 1;
    return line;
  };
  for (size_t i = 0; i < t.sites.size(); ++i) {
    const Site &site = t.sites[i];
    const SiteTotal &total = t.totals[i];
    if (!site.isWork() || !total.count)
      continue;
    LineCost &line = lineOf(site);
    line.count += total.count;
    line.busy += total.busy;
    // Each instruction is named once in a line; the spaces around keep `tadd` apart from `tadds`.
    if ((" " + line.names + " ").find(" " + site.name + " ") == std::string::npos)
      line.names += (line.names.empty() ? "" : " ") + site.name;
  }
  for (const PathPiece &piece : report.analysis.path)
    if (piece.record != kNoRecord && piece.kind != PathPiece::Kind::Launch && piece.weight > 0)
      lineOf(t.sites[t.records[piece.record].site]).path += piece.length();
  std::vector<LineCost> result;
  for (auto &[key, line] : lines)
    result.push_back(std::move(line));
  // Lines on the critical path come first: what only keeps a pipe busy beside it costs no time.
  std::stable_sort(result.begin(), result.end(), [](const LineCost &a, const LineCost &b) {
    return a.path != b.path ? a.path > b.path : a.busy > b.busy;
  });
  return result;
}

std::string describeCall(const Report &report) {
  std::string list;
  auto add = [&](const std::string &text) { list += (list.empty() ? "" : ", ") + text; };
  for (const auto &[name, value] : report.dims) {
    const std::vector<std::string> &assumed = report.assumedDims;
    bool isAssumed = std::find(assumed.begin(), assumed.end(), name) != assumed.end();
    add(name + "=" + std::to_string(value) + (isAssumed ? " (assumed)" : ""));
  }
  for (const auto &[name, elements] : report.elements)
    add(name + ": " + elements);
  for (const auto &[place, text] : report.decisions)
    add(place + ": " + text);
  return report.entry + (list.empty() ? "" : "[" + list + "]") + " on " + report.machine;
}

std::string writeShort(const Report &report) {
  Page page(report);
  page.head();
  page.path();
  page.hints();
  return page.text;
}

std::string writePage(const Report &report) {
  Page page(report);
  page.head();
  page.path();
  page.pipes();
  page.text += taskPage(report);
  page.waits();
  page.gains();
  page.lines();
  page.memory();
  page.hints();
  return page.text;
}

} // namespace ptl::rt::sim
