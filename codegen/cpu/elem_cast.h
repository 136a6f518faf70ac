// Element types on the CPU: how each is kept in memory and in registers, and all conversions
// between them. Logical types are those of the `ptl` dialect: i1, iN, uiN, index, f8E4M3FN, f8E5M2,
// f16, bf16, f32, f64.
//
// | logical            | memory | register      |
// | bool (i1)          | i8 0/1 | i1            |
// | iN, uiN            | iN     | iN (signless) |
// | index              | i64    | index         |
// | f8*, bf16          | i8/i16 | f32           |
// | f16                | f16    | f32           |
// | f32, f64           | same   | same          |
//
// Registers of the small floats may hold more precision than their type between operations;
// `roundTo` is what explicit conversions do, `toStorage` rounds anyway.
#pragma once

#include "codegen/cpu/emit.h"

#include <optional>

namespace ptl::cpu {

mlir::Type registerType(mlir::Type logical);
mlir::Type storageType(mlir::Type logical);
int64_t storageBytes(mlir::Type logical);
bool isUnsigned(mlir::Type logical);
bool isFloatElem(mlir::Type logical);

/// Between memory and register form, lane by lane.
mlir::Value fromStorage(const Emit &e, mlir::Value stored, mlir::Type logical);
mlir::Value toStorage(const Emit &e, mlir::Value value, mlir::Type logical);

/// The register value rounded to the values of its logical type: to nearest even, and beyond the largest `f8` to that, where infinity
/// stays infinity.
mlir::Value roundTo(const Emit &e, mlir::Value value, mlir::Type logical);

/// A conversion to `f8` makes the largest number of infinity, too; other types keep it.
mlir::Value saturateInfinity(const Emit &e, mlir::Value value, mlir::Type to);

/// How floats are rounded to integers, and numbers to floats of lower precision.
enum class Rounding : uint8_t { Even, Zero, Down, Up, Away };
std::optional<Rounding> parseRounding(llvm::StringRef name);

/// Converts a register value of logical type `from` to one of `to`. To integers and to floats that
/// cannot hold the value it uses `rounding`. Float to integer saturates, and gives 0 for NaN; integer
/// narrowing wraps unless `saturate`; to bool is "not zero".
mlir::Value convertElem(const Emit &e, mlir::Value value, mlir::Type from, mlir::Type to,
                        Rounding rounding = Rounding::Even, bool saturate = false);

} // namespace ptl::cpu
