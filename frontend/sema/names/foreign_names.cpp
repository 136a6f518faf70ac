#include "frontend/sema/names/foreign_names.h"

#include <algorithm>
#include <iterator>

namespace ptl {

namespace {

constexpr ForeignName kCalls[] = {
#define FOREIGN_CALL(NAME, OURS, HOW) {NAME, OURS, HOW},
#include "frontend/sema/names/foreign_names.def"
};
constexpr ForeignName kTypes[] = {
#define FOREIGN_TYPE(NAME, OURS, HOW) {NAME, OURS, HOW},
#include "frontend/sema/names/foreign_names.def"
};
constexpr ForeignName kValues[] = {
#define FOREIGN_VALUE(NAME, OURS, HOW) {NAME, OURS, HOW},
#include "frontend/sema/names/foreign_names.def"
};
constexpr ForeignName kArguments[] = {
#define FOREIGN_ARGUMENT(NAME, OURS) {NAME, OURS, ""},
#include "frontend/sema/names/foreign_names.def"
};
constexpr ForeignName kFields[] = {
#define FOREIGN_FIELD(NAME, HOW) {NAME, "", HOW},
#include "frontend/sema/names/foreign_names.def"
};
constexpr std::string_view kModules[] = {
#define FOREIGN_MODULE(NAME) NAME,
#include "frontend/sema/names/foreign_names.def"
};

template <size_t N> const ForeignName *findIn(const ForeignName (&rows)[N], std::string_view name) {
  auto found = std::find_if(std::begin(rows), std::end(rows),
                            [&](const ForeignName &row) { return row.name == name; });
  return found == std::end(rows) ? nullptr : found;
}

} // namespace

const ForeignName *foreignCall(std::string_view name) { return findIn(kCalls, name); }
const ForeignName *foreignType(std::string_view name) { return findIn(kTypes, name); }
const ForeignName *foreignValue(std::string_view name) { return findIn(kValues, name); }
const ForeignName *foreignArgument(std::string_view name) { return findIn(kArguments, name); }
const ForeignName *foreignField(std::string_view name) { return findIn(kFields, name); }

bool isForeignModule(std::string_view name) {
  return std::find(std::begin(kModules), std::end(kModules), name) != std::end(kModules);
}

} // namespace ptl
