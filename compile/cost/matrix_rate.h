// Measures the peak rate of matrix registers (AMX).
#pragma once

#include "codegen/cpu/native.h"

#include <memory>

namespace ptl {

/// The operands of a matrix instruction.
enum class MatrixProduct : uint8_t { Bytes, Bf16, F16 };

/// A module with `void multiply()`: products of matrix registers in a loop, with as many
/// accumulators as blocks of products have.
std::unique_ptr<llvm::Module> matrixLoop(llvm::LLVMContext &context, MatrixProduct product);

/// Operations per second of all threads, where a multiply-add counts as two; 0 if the processor
/// lacks the instruction or the system does not let this process use it.
double matrixRate(const cpu::Processor &processor, MatrixProduct product);

} // namespace ptl
