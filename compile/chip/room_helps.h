// Suggestions for a chip's memory that is too small: values of tunables, and other numbers in the
// source. Each is tried, and those that help are suggested.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/compile_context.h"
#include "ir/build/build_ir.h"
#include "passes/analysis/buffer_overflow.h"

namespace ptl {

/// Returns the same program. If some statement is executed in parts, the program
/// (`ChipProgram::avoid`), its ledger and its statements name a number with which none is, if one
/// was found. The search is made only with `CompilerOptions::reportsParts`. `binding`: the values
/// that the entry was built with, here and below.
ChipProgram withWhatAvoidsParts(const CompileContext &context, const ir::EntryBinding &binding,
                                ChipProgram program);

/// Warns of statements that are executed in parts, once for each kernel, at the one with most
/// parts, because they have one cause. Tiles of whole arrays are exempt: the compiler chose them,
/// and the author cannot. Does nothing unless `CompilerOptions::reportsParts`.
void warnOfParts(const CompileContext &context, const ChipProgram &program);

/// Reports that a memory is too small, with what the author can do. Returns `found`, with what was
/// tried without success added.
Overflow refuse(const CompileContext &context, const ir::EntryBinding &binding, Overflow found);

} // namespace ptl
