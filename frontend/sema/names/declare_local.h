// Declaring the locals and labels of a declaration, and leaving the scopes that they are in.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Makes a local and binds its name in the innermost scope. Reports names that may not be shadowed.
/// Gives `int` scalars that never change (all kinds but `Var`, `Output`, `inout`) a symbol and
/// `dim`; a `Let` whose value is a dimension gets its `dim` from the caller instead (pass it).
Local *declareLocal(Context &ctx, LocalKind kind, std::string_view name, Span span,
                    const Type *type, NodeId syntax = kNoNode, Dim dim = {}, bool isInout = false);
/// A name schedules may use: a `let`, a `task`, a loop.
void declareLabel(Context &ctx, std::string_view name, LabelKind kind, Span span,
                  bool isParallel = false);

/// Opens a scope for its own lifetime; warns of unused locals at its end.
class ScopeGuard {
public:
  explicit ScopeGuard(Context &ctx);
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard &) = delete;

private:
  Context &ctx_;
};

/// Leaves the innermost scope, with warnings of unused locals.
void leaveScope(Context &ctx);

/// "parameter", "`let`" … for messages.
std::string_view localKindName(LocalKind kind);

} // namespace ptl
