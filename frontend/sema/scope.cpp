#include "frontend/sema/scope.h"

#include <algorithm>

namespace ptl {

std::vector<Local *> Scope::pop() {
  size_t start = starts_.back();
  starts_.pop_back();
  std::vector<Local *> locals;
  for (size_t i = start; i < undo_.size(); ++i)
    locals.push_back(undo_[i].bound);
  while (undo_.size() > start) {
    Undo undo = undo_.back();
    undo_.pop_back();
    if (undo.hidden)
      visible_[undo.hidden->name] = undo.hidden;
    else
      visible_.erase(undo.bound->name);
  }
  return locals;
}

Local *Scope::bind(Local *local) {
  auto [slot, isNew] = visible_.try_emplace(local->name, local);
  Local *hidden = isNew ? nullptr : slot->second;
  if (hidden) {
    // The key must view the name of a local that outlives its entry.
    visible_.erase(slot);
    visible_.emplace(local->name, local);
  }
  undo_.push_back({local, hidden});
  return hidden;
}

Local *Scope::find(std::string_view name) const {
  auto found = visible_.find(name);
  return found == visible_.end() ? nullptr : found->second;
}

bool Scope::isInnermost(const Local *local) const {
  size_t start = starts_.empty() ? 0 : starts_.back();
  return std::any_of(undo_.begin() + start, undo_.end(),
                     [&](const Undo &undo) { return undo.bound == local; });
}

void Scope::markUsed(const Local *local) {
  if (used_.size() <= local->index)
    used_.resize(local->index + 16);
  used_[local->index] = true;
}

bool Scope::isUsed(const Local *local) const {
  return local->index < used_.size() && used_[local->index];
}

std::vector<std::string> Scope::names() const {
  std::vector<std::string> names;
  for (const auto &entry : visible_)
    names.emplace_back(entry.first);
  return names;
}

} // namespace ptl
