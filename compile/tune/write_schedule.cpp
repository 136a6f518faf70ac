#include "compile/tune/write_schedule.h"

#include "frontend/format/format.h"
#include "frontend/parse/parse.h"
#include "frontend/syntax/typed_nodes.h"

#include <algorithm>

namespace ptl {

static std::string formatted(const std::string &path, std::string text) {
  DiagnosticSink quiet;
  SourceManager sources;
  FileId file = sources.add(path, std::move(text));
  return format(parse(sources.file(file), quiet)).text;
}

/// Formats the text only if the file was formatted before, so that another style is kept.
static std::string inStyleOf(const SourceFile &file, std::string text) {
  bool wasFormatted = formatted(file.path(), std::string(file.text())) == file.text();
  return wasFormatted ? formatted(file.path(), std::move(text)) : text;
}

/// The index of the axis that an item of a schedule sets; nullopt if it sets none.
static std::optional<size_t> axisOf(const Tree &tree, NodeId item, const EntryTuning &tuning) {
  std::string key = choiceKey(tree, item);
  for (size_t i = 0; i < tuning.axes().size(); ++i)
    if (tuning.axes()[i].name == key)
      return i;
  return std::nullopt;
}

/// The span of an item with the separator behind it, or else with the one before it.
static Span withSeparator(std::string_view text, Span item) {
  size_t end = text.find_first_not_of(" \t", item.end);
  if (end != text.npos && (text[end] == ',' || text[end] == ';')) {
    end = text.find_first_not_of(" \t", end + 1);
    return {item.file, item.begin, static_cast<uint32_t>(end == text.npos ? text.size() : end)};
  }
  size_t before = text.find_last_not_of(" \t\n", item.begin - 1);
  bool isSeparated = before != text.npos && (text[before] == ',' || text[before] == ';');
  return {item.file, isSeparated ? static_cast<uint32_t>(before) : item.begin, item.end};
}

/// Sets the values of a point in a schedule. Items that the schedule does not have yet are put
/// first.
static void setValues(std::string &text, const Tree &tree, NodeId node, const EntryTuning &tuning,
                      const TunePoint &point) {
  std::vector<bool> isSet(tuning.axes().size());
  std::vector<std::pair<Span, std::string>> edits;
  ScheduleDeclView view(tree, node);
  for (NodeId item : view.items())
    if (std::optional<size_t> axis = axisOf(tree, item, tuning)) {
      isSet[*axis] = true;
      std::string now = tuning.itemText(*axis, point);
      if (now.empty())
        edits.emplace_back(withSeparator(text, tree.span(item)), "");
      else if (now != tree.text(item))
        edits.emplace_back(tree.span(item), now);
    }
  Span span = tree.span(node);
  // They are inserted behind the brace that opens the items, which follows the whole header.
  NodeId last = view.target() != kNoNode ? view.target() : view.callee();
  uint32_t open = static_cast<uint32_t>(text.find('{', tree.span(last).end)) + 1;
  std::string added;
  for (size_t i = 0; i < isSet.size(); ++i)
    if (std::string item = tuning.itemText(i, point); !isSet[i] && !item.empty())
      added += " " + item + ",";
  // The last one keeps its comma only where another item follows on the same line.
  size_t next = text.find_first_not_of(" \t", open);
  if (!added.empty() && next != text.npos && (text[next] == '\n' || text[next] == '}'))
    added.pop_back();
  edits.emplace_back(Span{span.file, open, open}, added);
  // Edits are applied from the end to the start, so that earlier positions stay valid.
  std::sort(edits.begin(), edits.end(),
            [](const auto &a, const auto &b) { return a.first.begin > b.first.begin; });
  for (const auto &[place, value] : edits)
    text.replace(place.begin, place.end - place.begin, value);
}

std::string scheduleItems(const CheckedProgram &program, const EntryTuning &tuning,
                          const TunePoint &point) {
  std::string text = tuning.text(point);
  const ScheduleDecl *today = tuning.schedule();
  ScheduleNode from = today ? nodeOf(program, *today) : ScheduleNode();
  if (from.node != kNoNode)
    for (NodeId item : ScheduleDeclView(*from.tree, from.node).items())
      if (!axisOf(*from.tree, item, tuning))
        text += (text.empty() ? "" : ", ") + std::string(from.tree->text(item));
  return text;
}

std::string withSchedule(const CheckedProgram &program, const SourceManager &sources,
                         const CallableDecl &decl, const std::string &machine,
                         const EntryTuning &tuning, const TunePoint &point) {
  const CheckedModule &root = *program.modules.front();
  const SourceFile &file = sources.file(root.file);
  std::string text(file.text());
  const ScheduleDecl *own = nullptr, *today = tuning.schedule();
  for (const ScheduleDecl *each : root.schedules)
    // A schedule with a condition holds for some lengths only: today's, or others.
    if (each->target == &decl && each->machine == machine &&
        (each == today || (!own && !each->when)))
      own = each;
  if (own) {
    setValues(text, *root.tree, nodeOf(program, *own).node, tuning, point);
  } else {
    std::string chosen = scheduleItems(program, tuning, point);
    // Without a schedule for this machine a new one is added behind the declaration.
    std::string schedule = "schedule " + decl.name + " on " + machine + " { " + chosen + " }\n";
    size_t end = text.find('\n', root.tree->span(decl.syntax).end);
    if (end == text.npos) {
      text += '\n';
      end = text.size() - 1;
    }
    text.insert(end + 1, "\n" + schedule);
  }
  return inStyleOf(file, std::move(text));
}

std::optional<std::string> withSchedules(const CheckedProgram &program,
                                         const SourceManager &sources, const CallableDecl &decl,
                                         const std::string &machine, const EntryTuning &tuning,
                                         const std::vector<ScheduleText> &schedules,
                                         std::string &why) {
  const CheckedModule &root = *program.modules.front();
  const SourceFile &file = sources.file(root.file);
  std::string text(file.text()), added;
  size_t end = text.find('\n', root.tree->span(decl.syntax).end);
  if (end == text.npos) {
    end = text.size();
    text += '\n';
  }
  for (const ScheduleText &each : schedules)
    added += "\nschedule " + decl.name + " on " + machine +
             (each.when.empty() ? "" : " when " + each.when) + " { " + each.items + " }\n";
  std::vector<std::pair<Span, std::string>> edits;
  auto at = static_cast<uint32_t>(end + 1);
  edits.emplace_back(Span{root.file, at, at}, added);
  for (const ScheduleDecl *each : root.schedules) {
    if (each->target != &decl || each->machine != machine)
      continue;
    ScheduleNode node = nodeOf(program, *each);
    for (NodeId item : ScheduleDeclView(*node.tree, node.node).items()) {
      std::string itemText(node.tree->text(item));
      bool isKept =
          axisOf(*node.tree, item, tuning) ||
          std::any_of(schedules.begin(), schedules.end(), [&](const ScheduleText &schedule) {
            return schedule.items.find(itemText) != std::string::npos;
          });
      if (!isKept) {
        why = "the file has a schedule with `" + itemText +
              "`, which the search does not set: copy it into the new schedules, or remove it";
        return std::nullopt;
      }
    }
    Span span = node.tree->span(node.node);
    // The line break goes with it.
    if (span.end < text.size() && text[span.end] == '\n')
      ++span.end;
    edits.emplace_back(span, "");
  }
  // Edits go from the end to the start, so that places in front of them stay valid.
  std::sort(edits.begin(), edits.end(),
            [](const auto &a, const auto &b) { return a.first.begin > b.first.begin; });
  for (const auto &[place, value] : edits)
    text.replace(place.begin, place.end - place.begin, value);
  return inStyleOf(file, std::move(text));
}

} // namespace ptl
