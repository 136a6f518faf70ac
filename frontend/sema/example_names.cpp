#include "frontend/sema/example_names.h"

#include <algorithm>

namespace ptl {

bool holdsInteger(const Local &local) {
  return local.type && local.type->isScalar() && !local.type->elem.param &&
         isInteger(local.type->elem.kind);
}

std::vector<std::string> exampleNames(const CallableDecl &decl) {
  std::vector<std::string> names;
  for (const Local *local : decl.locals)
    if (local->kind == LocalKind::Let && holdsInteger(*local) && !local->name.empty())
      names.push_back(local->name);
  return names;
}

bool isExampleName(const CallableDecl &decl, std::string_view name) {
  std::vector<std::string> names = exampleNames(decl);
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace ptl
