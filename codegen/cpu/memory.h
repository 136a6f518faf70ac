// Memory accesses of the CPU target: pointers, element strides, and vectors of storage elements.
#pragma once

#include "codegen/cpu/elem_cast.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace ptl::cpu {

mlir::Type pointerType(mlir::MLIRContext *context);

/// `base + index` elements of storage type `element`; `index` is an index or i64 value.
mlir::Value elementPointer(const Emit &e, mlir::Value base, mlir::Type element, mlir::Value index);
mlir::Value bytePointer(const Emit &e, mlir::Value base, mlir::Value bytes);

/// Loads `lanes` consecutive elements (0: one scalar) of a storage type. Alignment to a single
/// element is assumed, no more. With `mask`, inactive lanes read as zero and access no memory.
mlir::Value loadRaw(const Emit &e, mlir::Value pointer, mlir::Type element, int64_t lanes,
                    mlir::Value mask = {});
void storeRaw(const Emit &e, mlir::Value pointer, mlir::Value value, mlir::Value mask = {});

/// A vector<lanes x i1> in which lane l is active if l < count.
mlir::Value laneMask(const Emit &e, mlir::Value count, int64_t lanes);
/// The vector 0, 1, … of an integer type or `index`.
mlir::Value laneNumbers(const Emit &e, int64_t lanes, mlir::Type scalar);

/// `gatherRaw` loads base[indices[l]] (a vector of index values), and `scatterRaw` stores there.
mlir::Value gatherRaw(const Emit &e, mlir::Value base, mlir::Type element, mlir::Value indices,
                      mlir::Value mask = {});
/// Whether a gather takes more time than a load for each lane: there are gathers of 32 and 64 bits only.
bool loadsByLanes(const Emit &e, mlir::Type element);
/// Loads pointer[l * distance] for `lanes` lanes.
mlir::Value loadEvenly(const Emit &e, mlir::Value pointer, mlir::Type element, int64_t lanes,
                       mlir::Value distance);
void scatterRaw(const Emit &e, mlir::Value base, mlir::Value value, mlir::Value indices,
                mlir::Value mask = {});

/// Allocates `count` elements on the stack, in the entry block of the present function.
mlir::Value stackBuffer(const Emit &e, mlir::Type element, int64_t count);

// --- calls of the runtime (runtime/abi/kernel_abi.h) ---------------------------------------------

mlir::Value emitScratch(const Emit &e, mlir::Value context, mlir::Value bytes);
mlir::Value emitScratchMark(const Emit &e, mlir::Value context);
void emitScratchRelease(const Emit &e, mlir::Value context, mlir::Value mark);

} // namespace ptl::cpu
