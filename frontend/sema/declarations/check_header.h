// The parts of a callable's header, which are checked in this order. Nodes may be absent.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

void checkGenerics(Context &ctx, NodeId node, std::vector<TypeParam *> &typeParams,
                   std::vector<DimParam> &dims);
void checkTunables(Context &ctx, NodeId node);
void checkParams(Context &ctx, NodeId node);
void checkResults(Context &ctx, NodeId node);
void checkClause(Context &ctx, NodeId node);

/// `chip`, `host` …, `aic`, `aiv`, `a3`: report unknown ones.
void checkLevelName(Context &ctx, NodeId node);
void checkCoreName(Context &ctx, NodeId node);
void checkTargetName(Context &ctx, NodeId node);

/// `fn`, `kernel` … as the language spells it.
std::string_view declKindName(DeclKind kind);

} // namespace ptl
