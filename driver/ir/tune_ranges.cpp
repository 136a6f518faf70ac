#include "driver/ir/tune_ranges.h"
#include "compile/tune/write_schedule.h"

#include "compile/tune/tune_report.h"
#include "driver/ir/command_options.h"
#include "frontend/base/printed.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <sstream>

namespace ptl {

/// What a choice may lose against the best one for a value of the length, so that both share a schedule.
static constexpr double kMostLoss = 0.03;

std::optional<TunedLength> tunedLength(const CallableDecl &decl, const Wanted &wanted) {
  std::optional<TunedLength> found;
  for (const auto &[name, text] : wanted) {
    if (text.find(',') == text.npos)
      continue;
    bool isLength = std::any_of(decl.dims.begin(), decl.dims.end(),
                                [&](const DimParam &dim) { return dim.name == name; });
    if (found || !isLength)
      return std::nullopt;
    found = TunedLength{name, {}};
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) {
      int64_t value = std::atoll(word.c_str());
      if (value <= 0 || std::to_string(value) != word)
        return std::nullopt;
      found->values.push_back(value);
    }
    std::sort(found->values.begin(), found->values.end());
    found->values.erase(std::unique(found->values.begin(), found->values.end()),
                        found->values.end());
  }
  return found;
}

namespace {

/// One value of the length.
struct TunedValue {
  int64_t value = 0;
  std::unique_ptr<EntryTuning> tuning;
  TuneResult result;
  std::string ended;

  const TuneTry &best() const { return result.tries[*result.best]; }
};

/// Neighbouring values that share a choice: that which is best for one of them.
struct SizeRange {
  size_t first = 0, last = 0, chosen = 0;
  std::vector<double> us; ///< for each of its values
};

class Ranges {
public:
  explicit Ranges(const RangeCommand &command) : command_(command) {}
  void run();

private:
  Wanted wantedAt(int64_t value) const;
  bool tune(int64_t value);
  std::optional<SizeRange> rangeWith(size_t first, size_t last, size_t chosen);
  std::optional<SizeRange> rangeOf(size_t first, size_t last);
  std::string header(size_t range) const;
  ScheduleText schedule(size_t range) const;
  std::vector<ScheduleText> schedules() const;
  void printText() const;
  void printJson() const;
  void write();

  const RangeCommand &command_;
  std::vector<TunedValue> values_;
  std::vector<SizeRange> ranges_; ///< ascending
};

} // namespace

Wanted Ranges::wantedAt(int64_t value) const {
  Wanted wanted = wantedBy(command_.decl, wantedOf(command_.session.options()));
  wanted[command_.length.name] = std::to_string(value);
  return wanted;
}

bool Ranges::tune(int64_t value) {
  std::optional<TuneQuestion> question = command_.question(wantedAt(value));
  if (!question)
    return false;
  TunedValue &tuned = values_.emplace_back();
  tuned.value = value;
  tuned.tuning = std::make_unique<EntryTuning>(std::move(*question));
  if (tuned.tuning->problem().empty() && tuned.tuning->isChoice())
    tuned.result = command_.search(*tuned.tuning, tuned.ended);
  if (tuned.result.best)
    return true;
  std::string why = !tuned.tuning->problem().empty() ? tuned.tuning->problem()
                    : !tuned.tuning->isChoice()      ? "it has nothing that a schedule could choose"
                    : !tuned.tuning->unknown().empty() ? tuned.tuning->unknown()
                                                       : tuned.result.tries.front().outcome.reason;
  command_.session.sink().report(DiagId::BadRunArgument, command_.decl.nameSpan,
                                 {command_.decl.name, "with " + command_.length.name + " = " +
                                                          std::to_string(value) + ": " + why});
  return false;
}

/// Nothing where the choice is not good enough for one of the values.
std::optional<SizeRange> Ranges::rangeWith(size_t first, size_t last, size_t chosen) {
  SizeRange range{first, last, chosen, {}};
  const TunedValue &own = values_[chosen];
  for (size_t i = first; i <= last; ++i) {
    TunedValue &each = values_[i];
    bool isSameSpace = each.tuning->axes().size() == own.tuning->axes().size();
    for (size_t axis = 0; isSameSpace && axis < each.tuning->axes().size(); ++axis)
      isSameSpace = each.tuning->axes()[axis].values == own.tuning->axes()[axis].values;
    if (!isSameSpace)
      return std::nullopt;
    std::optional<double> us = each.tuning->evaluate(own.best().point).us;
    if (!us || *us > *each.best().outcome.us * (1 + kMostLoss))
      return std::nullopt;
    range.us.push_back(*us);
  }
  return range;
}

std::optional<SizeRange> Ranges::rangeOf(size_t first, size_t last) {
  std::optional<SizeRange> least;
  auto sum = [](const SizeRange &range) {
    double total = 0;
    for (double us : range.us)
      total += us;
    return total;
  };
  for (size_t chosen = first; chosen <= last; ++chosen)
    if (std::optional<SizeRange> range = rangeWith(first, last, chosen);
        range && (!least || sum(*range) < sum(*least)))
      least = std::move(range);
  return least;
}

/// `M >= 1024`; empty for the smallest values, and all below them.
std::string Ranges::header(size_t range) const {
  return range == 0
             ? ""
             : command_.length.name + " >= " + std::to_string(values_[ranges_[range].first].value);
}

ScheduleText Ranges::schedule(size_t range) const {
  const TunedValue &chosen = values_[ranges_[range].chosen];
  return {header(range), scheduleItems(command_.program, *chosen.tuning, chosen.best().point)};
}

std::vector<ScheduleText> Ranges::schedules() const {
  std::vector<ScheduleText> texts;
  // The first schedule whose condition holds applies, so the largest lengths come first.
  for (size_t i = ranges_.size(); i-- > 0;)
    texts.push_back(schedule(i));
  return texts;
}

static std::string declared(const std::string &entry, const std::string &machine,
                            const ScheduleText &schedule) {
  return "schedule " + entry + " on " + machine +
         (schedule.when.empty() ? "" : " when " + schedule.when) + " { " + schedule.items + " }";
}

void Ranges::printText() const {
  std::string text = command_.decl.name + " on " + command_.machine + "\n";
  for (const SizeRange &range : ranges_)
    for (size_t i = range.first; i <= range.last; ++i) {
      const TunedValue &each = values_[i], &chosen = values_[range.chosen];
      std::optional<double> today = each.result.tries.front().outcome.us;
      text += printed("  %s = %-8lld %12.2f us  ", command_.length.name.c_str(),
                      static_cast<long long>(each.value), range.us[i - range.first]) +
              chosen.tuning->text(chosen.best().point) +
              (today ? printed("  (today %.2f us)", *today) : "  (cannot be compiled today)");
      text += each.ended.empty() ? "\n" : "  <-- ended by: " + each.ended + "\n";
    }
  for (const ScheduleText &each : schedules())
    text += declared(command_.decl.name, command_.machine, each) + "\n";
  std::fputs(text.c_str(), stdout);
}

void Ranges::printJson() const {
  nlohmann::json ranges = nlohmann::json::array(), searches = nlohmann::json::array();
  for (size_t number = 0; number < ranges_.size(); ++number) {
    const SizeRange &range = ranges_[number];
    nlohmann::json sizes = nlohmann::json::array();
    for (size_t i = range.first; i <= range.last; ++i) {
      nlohmann::json size = {{"value", values_[i].value},
                             {"us", std::round(range.us[i - range.first] * 1000) / 1000}};
      if (std::optional<double> today = values_[i].result.tries.front().outcome.us)
        size["default_us"] = std::round(*today * 1000) / 1000;
      sizes.push_back(std::move(size));
    }
    ranges.push_back(
        {{"when", header(number)},
         {"schedule", declared(command_.decl.name, command_.machine, schedule(number))},
         {"sizes", std::move(sizes)}});
  }
  for (const TunedValue &each : values_) {
    TuneReport report{*each.tuning, each.result, command_.decl.name, command_.machine};
    report.ended = each.ended;
    searches.push_back(nlohmann::json::parse(tuneDocument(report)));
  }
  nlohmann::json document = {{"entry", command_.decl.name},
                             {"target", command_.machine},
                             {"by", command_.length.name},
                             {"ranges", std::move(ranges)},
                             {"searches", std::move(searches)}};
  std::puts(document.dump(2).c_str());
}

void Ranges::write() {
  Session &session = command_.session;
  const std::string &path = session.options().positional().front();
  std::string before(session.sources().file(command_.program.modules.front()->file).text());
  std::string why;
  std::optional<std::string> after =
      withSchedules(command_.program, session.sources(), command_.decl, command_.machine,
                    *values_.front().tuning, schedules(), why);
  if (after && !session.write(path, *after))
    return;
  if (after) {
    bool isGiven = true;
    for (const SizeRange &range : ranges_)
      for (size_t i = range.first; i <= range.last; ++i)
        isGiven =
            isGiven && command_.gives(wantedAt(values_[i].value), range.us[i - range.first], why);
    if (isGiven) {
      std::fprintf(stderr, "the schedules were written to %s\n", path.c_str());
      return;
    }
    // A file that does not do what was promised is put back.
    session.write(path, before);
    why = "with the schedules in the file the kernel would not take the times that were found: " +
          why;
  }
  session.sink()
      .report(DiagId::BadRunArgument, command_.decl.nameSpan, {command_.decl.name, why})
      .help("the file is unchanged");
}

void Ranges::run() {
  for (int64_t value : command_.length.values)
    if (!tune(value))
      return;
  for (size_t first = 0; first < values_.size();) {
    std::optional<SizeRange> range = rangeOf(first, first);
    for (size_t last = first + 1; range && last < values_.size(); ++last) {
      std::optional<SizeRange> longer = rangeOf(first, last);
      if (!longer)
        break;
      range = std::move(longer);
    }
    first = range->last + 1;
    ranges_.push_back(std::move(*range));
  }
  if (command_.session.options().has(OptionId::Json))
    printJson();
  else
    printText();
  if (command_.session.options().has(OptionId::WriteSchedule))
    write();
}

void tuneRanges(const RangeCommand &command) { Ranges(command).run(); }

} // namespace ptl
