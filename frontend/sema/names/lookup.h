// What a name means where the check is: locals, declarations of the file, what it imports. Values,
// callables and types are separate name spaces.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// A value name: local, `const` or module. Marks it used. Does not report; everything null when
/// unknown.
ValueRef lookupValue(Context &ctx, std::string_view name);
/// A callable name: `fn`, `kernel`, `program`, or `struct` as constructor. Built-ins are looked up
/// after it.
CalleeRef lookupCallable(Context &ctx, std::string_view name);
/// A type name: `struct` or alias. Does not report.
TypeRef lookupType(Context &ctx, std::string_view name);

/// `nn.silu`: member of a module, callable, value or type. Reports private ones and unknown ones.
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
