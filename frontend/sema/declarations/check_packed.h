// Arrays of four-bit elements in global memory, of which a byte holds two.
#pragma once

#include "frontend/sema/context.h"

namespace ptl {

struct IndexExpr;

/// Checks that the parameters and results of a kernel or program with such elements fill whole bytes: what never can is an
/// error, and what the lengths decide becomes a requirement of the declaration.
void checkPackedArrays(Context &ctx);

/// Whether an expression names such an array: a parameter or result of a kernel or program.
bool isPackedArray(const Context &ctx, const Expr *expr);

/// What is done with the elements of an index.
enum class ElementUse : uint8_t { Read, Write, Region };

/// Notes in the item of the last axis whether it consists of whole bytes. Returns false after reporting that a kernel loads,
/// or anything stores, what may not.
bool checkBytes(Context &ctx, IndexExpr &index, ElementUse use);

/// Whether what several iterations update is made of whole elements; reports that it is not.
bool checkAtomicElements(Context &ctx, const Local &target, Span span);

} // namespace ptl
