// Unknown names: the messages about them, and the suggested fixes.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Reports an unknown name, with the nearest known spelling as a fix.
void reportUnknownValue(Context &ctx, std::string_view name, Span span);
/// The name in a dimension; in a signature the fix declares it.
void reportUnknownDim(Context &ctx, std::string_view name, Span span);
void reportUnknownCallable(Context &ctx, std::string_view name, Span span);
void reportUnknownType(Context &ctx, std::string_view name, Span span);
/// Reports that a module of the library is not imported, for `nn.silu` where `nn` is unknown;
/// likewise for `np.exp`, a module of another library. False if there is no such module.
bool reportUnknownModule(Context &ctx, std::string_view module, std::string_view member, Span span,
                         Span whole);
/// Finds the name that is nearest by edit distance; most candidates are rejected quickly by their
/// set of characters.
class NearestName {
public:
  explicit NearestName(std::string_view name);
  void offer(std::string_view candidate);
  /// Empty if none is near. Of several at the same distance the alphabetically first, regardless of
  /// the order in which they were offered.
  const std::string &best() const { return best_; }

private:
  std::string_view name_;
  uint64_t characters_; ///< the set of characters of the name
  size_t bestDistance_;
  std::string best_;
};
/// The candidate that is nearest by edit distance; empty if none is near.
std::string nearestName(std::string_view name, const std::vector<std::string> &candidates);
/// Adds the nearest candidate as a fix that replaces `span`; false if none is near. `prefix`
/// precedes the name in the source, like the dot before the value of an enumeration.
bool suggestNearest(DiagnosticBuilder &builder, Span span, std::string_view name,
                    const std::vector<std::string> &candidates, std::string_view prefix = "");

} // namespace ptl
