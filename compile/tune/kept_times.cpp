#include "compile/tune/kept_times.h"

#include <nlohmann/json.hpp>

namespace ptl {

using Json = nlohmann::json;

KeptTimes::KeptTimes(std::shared_ptr<const DiskCache> cache, std::string key)
    : cache_(std::move(cache)), key_(std::move(key)) {
  if (std::optional<std::string> found = cache_ ? cache_->find(key_) : std::nullopt)
    read(*found);
}

KeptTimes::~KeptTimes() {
  if (cache_ && isChanged_)
    cache_->store(key_, text());
}

/// Throws a Json exception if a member has another type.
static TuneOutcome outcomeOf(const Json &json) {
  TuneOutcome outcome;
  if (json.contains("us"))
    outcome.us = json["us"].get<double>();
  outcome.reason = json.value("reason", "");
  for (const auto &[place, bytes] : json.at("memory").items())
    outcome.memory[place] = bytes.get<int64_t>();
  return outcome;
}

static Json toJson(const TuneOutcome &outcome) {
  Json json = {{"memory", outcome.memory}};
  if (outcome.us)
    json["us"] = *outcome.us;
  else
    json["reason"] = outcome.reason;
  return json;
}

/// Text that is no document of this form is ignored, as if nothing had been kept.
void KeptTimes::read(const std::string &text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("outcomes") || !json.contains("whole") ||
      !json.contains("call"))
    return;
  try {
    std::map<std::string, TuneOutcome> outcomes;
    for (const auto &[choice, outcome] : json["outcomes"].items())
      outcomes[choice] = outcomeOf(outcome);
    for (const auto &[choices, us] : json["whole"].items())
      whole_[choices] = us.is_null() ? Whole() : Whole({us.at(0), us.at(1)});
    call_ = json["call"].get<std::string>();
    // Set last, so that an exception leaves no outcome behind.
    outcomes_ = std::move(outcomes);
  } catch (const Json::exception &) {
    whole_.clear();
    call_.clear();
  }
}

std::string KeptTimes::text() const {
  Json outcomes = Json::object();
  for (const auto &[choice, outcome] : outcomes_)
    outcomes[choice] = toJson(outcome);
  Json whole = Json::object();
  for (const auto &[choices, us] : whole_)
    whole[choices] = us ? Json{us->first, us->second} : Json();
  // Reasons may quote the source, which need not be UTF-8.
  return Json{{"outcomes", std::move(outcomes)}, {"whole", std::move(whole)}, {"call", call_}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

const TuneOutcome *KeptTimes::find(const std::string &choice) {
  auto found = outcomes_.find(choice);
  // Without the description of the call the report could not name its sizes.
  if (found == outcomes_.end() || call_.empty())
    return nullptr;
  ++known_;
  return &found->second;
}

void KeptTimes::add(const std::string &choice, TuneOutcome outcome) {
  isChanged_ = true;
  outcomes_[choice] = std::move(outcome);
}

const KeptTimes::Whole *KeptTimes::findWhole(const std::string &choices) const {
  auto found = whole_.find(choices);
  return found == whole_.end() ? nullptr : &found->second;
}

void KeptTimes::addWhole(const std::string &choices, const Whole &us) {
  isChanged_ = true;
  whole_[choices] = us;
}

void KeptTimes::describe(const Cost &cost) {
  Json sizes = Json::array(), elements = Json::array(), decisions = Json::array();
  for (const ExampleSize &size : cost.sizes)
    sizes.push_back({size.name, size.value, size.why});
  for (const AssumedElements &each : cost.elements)
    elements.push_back({each.name, each.text});
  for (const AssumedDecision &each : cost.decisions)
    decisions.push_back({each.place, each.text});
  std::string call = Json{std::move(sizes), std::move(elements), std::move(decisions)}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
  isChanged_ |= call != call_;
  call_ = std::move(call);
}

bool KeptTimes::recall(Cost &cost) const {
  Json json = Json::parse(call_, nullptr, /*allow_exceptions=*/false);
  if (!json.is_array() || json.size() != 3)
    return false;
  try {
    cost.sizes.clear();
    cost.elements.clear();
    cost.decisions.clear();
    for (const Json &each : json[0])
      cost.sizes.push_back({each.at(0), each.at(1), each.at(2)});
    for (const Json &each : json[1])
      cost.elements.push_back({each.at(0), each.at(1)});
    for (const Json &each : json[2])
      cost.decisions.push_back({each.at(0), each.at(1)});
  } catch (const Json::exception &) {
    return false;
  }
  return true;
}

} // namespace ptl
