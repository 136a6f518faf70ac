// Declares the locals and labels of a declaration, and leaves their scopes.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

/// Creates a local and binds its name in the innermost scope. Reports names that may not be
/// shadowed. Immutable `int` scalars (all kinds but `Var`, `Output`, `inout`) get a symbol and
/// `dim`; for a `Let` whose value is a dimension, the caller passes that as `dim` instead.
Local *declareLocal(Context &ctx, LocalKind kind, std::string_view name, Span span,
                    const Type *type, NodeId syntax = kNoNode, Dim dim = {}, bool isInout = false);
/// Declares a name that schedules may use: a `let`, a `task`, a loop.
void declareLabel(Context &ctx, std::string_view name, LabelKind kind, Span span,
                  bool isParallel = false);

/// Opens a scope for its own lifetime; at its end, unused locals are reported.
class ScopeGuard {
public:
  explicit ScopeGuard(Context &ctx);
  ~ScopeGuard();
  ScopeGuard(const ScopeGuard &) = delete;

private:
  Context &ctx_;
};

/// Leaves the innermost scope and reports unused locals.
void leaveScope(Context &ctx);

/// "parameter", "`let`" … for messages.
std::string_view localKindName(LocalKind kind);

} // namespace ptl
