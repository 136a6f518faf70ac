#include "frontend/sema/names/lookup.h"

#include "frontend/sema/declarations/check_module.h"
#include "frontend/sema/declarations/on_demand.h"

namespace ptl {

static ModuleScope &scopeOf(Context &ctx, const CheckedModule &module) {
  return *ctx.state.scopes.at(&module);
}

ValueRef lookupValue(Context &ctx, std::string_view name) {
  ValueRef ref;
  if ((ref.local = ctx.scope.find(name))) {
    ctx.scope.markUsed(ref.local);
    return ref;
  }
  if ((ref.constant = findConst(ctx.state, ctx.moduleScope, name)))
    return ref;
  if (const CheckedModule *module = findImportedName(ctx.state, ctx.moduleScope, name))
    if ((ref.constant = findConst(ctx.state, scopeOf(ctx, *module), name)))
      return ref;
  ref.module = findImportedModule(ctx.state, ctx.moduleScope, name);
  return ref;
}

static CalleeRef calleeIn(Context &ctx, ModuleScope &scope, std::string_view name) {
  CalleeRef ref;
  ref.callable = findCallable(ctx.state, scope, name);
  if (!ref.callable)
    ref.structDecl = findStruct(ctx.state, scope, name);
  return ref;
}

static TypeRef typeIn(Context &ctx, ModuleScope &scope, std::string_view name) {
  TypeRef ref;
  ref.structDecl = findStruct(ctx.state, scope, name);
  if (!ref.structDecl)
    ref.alias = findAlias(ctx.state, scope, name);
  return ref;
}

/// What `find` gives for a name in this module or, if that is nothing, in the module that it is imported from.
template <typename Ref>
static Ref hereOrImported(Context &ctx, std::string_view name,
                          Ref (*find)(Context &, ModuleScope &, std::string_view)) {
  Ref ref = find(ctx, ctx.moduleScope, name);
  if (!ref)
    if (const CheckedModule *module = findImportedName(ctx.state, ctx.moduleScope, name))
      ref = find(ctx, scopeOf(ctx, *module), name);
  return ref;
}

CalleeRef lookupCallable(Context &ctx, std::string_view name) {
  return hereOrImported(ctx, name, calleeIn);
}

TypeRef lookupType(Context &ctx, std::string_view name) {
  return hereOrImported(ctx, name, typeIn);
}

bool moduleHas(Context &ctx, const CheckedModule &module, std::string_view name) {
  ModuleScope &scope = scopeOf(ctx, module);
  return calleeIn(ctx, scope, name) || findAlias(ctx.state, scope, name) ||
         findConst(ctx.state, scope, name);
}

bool moduleExports(Context &ctx, const CheckedModule &module, std::string_view name) {
  ModuleScope &scope = scopeOf(ctx, module);
  auto isPub = [](const auto *decl) { return decl && decl->isPub; };
  return isPub(findCallable(ctx.state, scope, name)) || isPub(findStruct(ctx.state, scope, name)) ||
         isPub(findAlias(ctx.state, scope, name)) || isPub(findConst(ctx.state, scope, name));
}

static std::vector<std::string> exportsOf(Context &ctx, const CheckedModule &module) {
  std::vector<std::string> names;
  for (size_t space = 0; space < kDeclSpaces; ++space)
    for (std::string &name :
         declaredNames(ctx.state, scopeOf(ctx, module), static_cast<DeclSpace>(space)))
      if (moduleExports(ctx, module, name))
        names.push_back(std::move(name));
  return names;
}

void reportNotInModule(Context &ctx, const CheckedModule &module, std::string_view name,
                       Span span) {
  bool isDeclared = moduleHas(ctx, module, name);
  reportNotInModule(module.name, name, span, isDeclared,
                    isDeclared ? std::vector<std::string>() : exportsOf(ctx, module), ctx.sink);
}

CalleeRef lookupCallableIn(Context &ctx, const CheckedModule &module, std::string_view name,
                           Span span) {
  CalleeRef ref;
  if (moduleExports(ctx, module, name))
    ref = calleeIn(ctx, scopeOf(ctx, module), name);
  if (!ref)
    reportNotInModule(ctx, module, name, span);
  return ref;
}

ValueRef lookupValueIn(Context &ctx, const CheckedModule &module, std::string_view name,
                       Span span) {
  ValueRef ref;
  if (moduleExports(ctx, module, name))
    ref.constant = findConst(ctx.state, scopeOf(ctx, module), name);
  if (!ref)
    reportNotInModule(ctx, module, name, span);
  return ref;
}

TypeRef lookupTypeIn(Context &ctx, const CheckedModule &module, std::string_view name, Span span) {
  TypeRef ref;
  if (moduleExports(ctx, module, name))
    ref = typeIn(ctx, scopeOf(ctx, module), name);
  if (!ref)
    reportNotInModule(ctx, module, name, span);
  return ref;
}

} // namespace ptl
