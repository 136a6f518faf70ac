// Ranges and lengths: those of enclosing loops by their names, others by their ends.
#pragma once

#include "codegen/source/body_code.h"
#include "ir/dialect/ptl_dialect.h"

namespace ptl::source {

/// The range of an enclosing loop whose tile has this `position` and `length`; with a null
/// position, any whose tiles have this length. Null if there is none.
const OpenRange *rangeOf(const BodyCode &code, mlir::Value position, mlir::Value length);

/// `i.start`, `i.end` or `i.len`, if the value is that of an enclosing loop's range.
std::optional<Expression> rangePart(const BodyCode &code, mlir::Value value);

/// `a..b`, or `a:b` in an index, with a step unless that is 1; a null step means 1.
Expression rangeText(BodyCode &code, mlir::Value offset, mlir::Value length, mlir::Value step,
                     const char *separator);

/// A length as a dimension of a type: the length of an enclosing loop's range is printed as the
/// range's name.
Expression lengthText(BodyCode &code, mlir::Value length);

/// An extent as its type prints it.
Expression extentText(const ir::Extent &extent);

/// A type. `lengths` are those of the extents without a number; extents that have none there are
/// printed by their symbols.
std::string typeText(BodyCode &code, mlir::Type type, mlir::ValueRange lengths = {});

} // namespace ptl::source
