#include "ir/ops/op_table.h"

#include <algorithm>
#include <array>

namespace ptl {
namespace {

/// A name or alias with its records.
struct OpName {
  std::string_view name;
  std::span<const OpRecord *const> records;
};

#include "ir/ops/op_table.inc"

} // namespace

std::span<const OpRecord> allOps() { return opRecords; }

const OpRecord &opRecord(OpId id) { return opRecords[static_cast<size_t>(id)]; }

std::span<const OpRecord *const> findOps(std::string_view name) {
  // The generator sorts the names.
  const OpName *found =
      std::lower_bound(std::begin(opNames), std::end(opNames), name,
                       [](const OpName &a, std::string_view b) { return a.name < b; });
  if (found == std::end(opNames) || found->name != name)
    return {};
  return found->records;
}

bool acceptsCall(const OpRecord &op, size_t positional, std::span<const std::string_view> named) {
  size_t next = 0; // positional arguments used so far
  size_t used = 0; // named arguments used so far
  for (const OpParam &param : op.params) {
    bool isNamed = std::find(named.begin(), named.end(), param.name) != named.end();
    bool isPositional = !param.keywordOnly && next < positional;
    if (isPositional)
      next = param.variadic ? positional : next + 1;
    used += isNamed;
    if (isNamed ? isPositional : !isPositional && !param.optional)
      return false;
  }
  return next == positional && used == named.size();
}

const OpRecord *findOp(std::string_view name, size_t positional,
                       std::span<const std::string_view> named) {
  for (const OpRecord *op : findOps(name))
    if (acceptsCall(*op, positional, named))
      return op;
  return nullptr;
}

std::string_view opTargetName(OpTarget target) {
  constexpr std::array<std::string_view, kOpTargetCount> names = {"cpu", "reference", "a2", "a3",
                                                                  "a5"};
  return names[static_cast<size_t>(target)];
}

std::string_view supportName(SupportKind kind) {
  constexpr std::array<std::string_view, 3> names = {"native", "emulated", "none"};
  return names[static_cast<size_t>(kind)];
}

std::string_view opClassName(OpClass opClass) {
  constexpr std::array<std::string_view, 15> names = {
      "elementwise", "comparison", "select", "reduction", "scan",
      "product",     "shape",      "gather", "scatter",   "sort",
      "conversion",  "creation",   "random", "load",      "effect"};
  return names[static_cast<size_t>(opClass)];
}

} // namespace ptl
