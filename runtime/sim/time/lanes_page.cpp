#include "runtime/sim/time/lanes_page.h"

#include "frontend/base/json.h"
#include "frontend/base/printed.h"
#include "runtime/sim/time/swimlane_page.h"

namespace ptl::rt::sim {
namespace {

/// Pixels for the names of lanes, which are longer than those of pipes.
constexpr int kNameWidth = 420;

std::string scriptText(std::string_view value) {
  std::string text;
  appendJsonString(text, value);
  // `</script>` in a text would end the page's script.
  for (size_t at = text.find("</"); at != text.npos; at = text.find("</", at + 3))
    text.replace(at, 2, "<\\/");
  return text;
}

/// `[…,…]` of what `each` writes.
template <typename List, typename Each> std::string listed(const List &list, const Each &each) {
  std::string text;
  for (const auto &item : list)
    text += (text.empty() ? "" : ",") + each(item);
  return "[" + text + "]";
}

std::string dataOf(const LanesPage &page) {
  std::string tasks;
  size_t number = 0;
  std::string lanes = listed(page.lanes, [&](const PageLane &lane) {
    double busy = 0;
    for (const PageTask &task : lane.tasks) {
      busy += task.end - task.start;
      tasks += (tasks.empty() ? "" : ",") +
               printed("[%zu,%zu,%.4f,%.4f,0]", number, task.site, task.start, task.end);
    }
    ++number;
    return "[" + scriptText(lane.group) + "," + scriptText(lane.name) + "," +
           printed("%.4f", page.end > 0 ? busy / page.end : 0) + "]";
  });
  std::string sites = listed(page.sites, [](const PageSite &site) {
    return "[" + scriptText(site.name) + "," + scriptText(site.location) + "," +
           std::to_string(site.line) + ",\"\"]";
  });
  return "{\"title\":" + scriptText(page.title) + ",\"left\":" + std::to_string(kNameWidth) +
         printed(",\"end\":%.4f", page.end) + ",\"report\":" + scriptText(page.report) +
         ",\"sites\":" + sites + ",\"lanes\":" + lanes + ",\"tasks\":[" + tasks +
         "],\"causes\":[],\"gaps\":[],\"whys\":{},\"path\":[]}";
}

} // namespace

std::string writeLanesPage(const LanesPage &page) {
  std::string_view text = kSwimlanePages[0].text;
  constexpr std::string_view mark = "/*DATA*/";
  size_t at = text.find(mark);
  return std::string(text.substr(0, at)) + dataOf(page) +
         std::string(text.substr(at + mark.size()));
}

} // namespace ptl::rt::sim
