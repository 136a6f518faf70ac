// Ranges and lengths: those of open loops by their names, others by their ends.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// The open range whose part `position`, `length` is; with a null position any range that has parts
/// of this length. Null: there is none.
const OpenRange *rangeOf(const BodyCode &code, mlir::Value position, mlir::Value length);

/// `i.start`, `i.end`, `i.len`, where the value is that of an open range.
std::optional<Expression> rangePart(const BodyCode &code, mlir::Value value);

/// `a..b`, or `a:b` in an index, with a step where it is not 1; a null step is 1.
Expression rangeText(BodyCode &code, mlir::Value offset, mlir::Value length, mlir::Value step,
                     const char *separator);

/// A length as a dimension of a type: that of an open range is its name.
Expression lengthText(BodyCode &code, mlir::Value length);

/// An extent as its type says it.
Expression extentText(const ir::Extent &extent);

/// A type. `lengths` are those of the extents that have no number, as far as they are given; others
/// are written by their symbols.
std::string typeText(BodyCode &code, mlir::Type type, mlir::ValueRange lengths = {});

} // namespace ptl::source
