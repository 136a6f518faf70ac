// Look-up of names at the current place: locals, declarations of the file, and imports. Values,
// callables and types are separate name spaces.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Looks up a value name: local, `const` or module. Marks it as used. Does not report; all members
/// are null if the name is unknown.
ValueRef lookupValue(Context &ctx, std::string_view name);
/// Looks up a callable name: `fn`, `kernel`, `program`, or a `struct` as constructor. Callers look
/// up built-ins after it.
CalleeRef lookupCallable(Context &ctx, std::string_view name);
/// Looks up a type name: `struct` or alias. Does not report.
TypeRef lookupType(Context &ctx, std::string_view name);

/// Looks up `nn.silu`: a callable, value or type of a module. Reports unknown and private names.
CalleeRef lookupCallableIn(Context &ctx, const CheckedModule &module, std::string_view name,
                           Span span);
ValueRef lookupValueIn(Context &ctx, const CheckedModule &module, std::string_view name, Span span);
TypeRef lookupTypeIn(Context &ctx, const CheckedModule &module, std::string_view name, Span span);
/// Reports a name that a module does not declare, or does not export.
void reportNotInModule(Context &ctx, const CheckedModule &module, std::string_view name, Span span);
/// Whether a module declares a name, and whether it exports it.
bool moduleHas(Context &ctx, const CheckedModule &module, std::string_view name);
bool moduleExports(Context &ctx, const CheckedModule &module, std::string_view name);

} // namespace ptl
