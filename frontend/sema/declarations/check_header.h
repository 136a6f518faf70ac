// The parts of a callable's header, in the order in which they are checked. Nodes may be absent.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

void checkGenerics(Context &ctx, NodeId node, std::vector<TypeParam *> &typeParams,
                   std::vector<DimParam> &dims);
void checkTunables(Context &ctx, NodeId node);
void checkParams(Context &ctx, NodeId node);
void checkResults(Context &ctx, NodeId node);
void checkClause(Context &ctx, NodeId node);

/// Reports unknown names among `chip`, `host` …, `aic`, `aiv`, `a3`.
void checkLevelName(Context &ctx, NodeId node);
void checkCoreName(Context &ctx, NodeId node);
void checkTargetName(Context &ctx, NodeId node);

/// `fn`, `kernel` … as spelled in the language.
std::string_view declKindName(DeclKind kind);

} // namespace ptl
