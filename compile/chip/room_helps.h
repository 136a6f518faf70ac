// What helps where a memory of a chip is too small: values of tunables, and other numbers in the
// source. Each is tried, and those that help are suggested.
#pragma once

#include "compile/chip/chip_program.h"
#include "compile/compile_context.h"
#include "ir/build/build_ir.h"
#include "passes/analysis/buffer_overflow.h"

namespace ptl {

/// The same program; where something of it is done in parts, it says with which other number
/// nothing is (`ChipProgram::avoid`, and in the ledger and the statements), if one was found. Looks
/// for none unless `CompilerOptions::reportsParts`. `binding`: what the entry was built with, here and
/// below.
ChipProgram withWhatAvoidsParts(const CompileContext &context, const ir::EntryBinding &binding,
                                ChipProgram program);

/// Warns of statements that are done in parts, once for each kernel, by the one with most parts:
/// they have one cause. Tiles of whole arrays are the compiler's own, and nobody can choose them.
/// Does nothing unless `CompilerOptions::reportsParts`.
void warnOfParts(const CompileContext &context, const ChipProgram &program);

/// Reports that a memory is too small, with what the author can do. Gives `found` back with what
/// was tried in vain.
Overflow refuse(const CompileContext &context, const ir::EntryBinding &binding, Overflow found);

} // namespace ptl
