// Measures how fast registers of matrices (AMX) multiply.
#pragma once

#include "codegen/cpu/native.h"

#include <memory>

namespace ptl {

/// What such an instruction multiplies.
enum class MatrixProduct : uint8_t { Bytes, Bf16, F16 };

/// `void multiply()`: products of registers in a loop, as many at a time as blocks of products have.
std::unique_ptr<llvm::Module> matrixLoop(llvm::LLVMContext &context, MatrixProduct product);

/// Multiply-adds per second of all threads, each of which counts twice; 0 where the processor lacks the instruction or the system does
/// not let this process use it.
double matrixRate(const cpu::Processor &processor, MatrixProduct product);

} // namespace ptl
