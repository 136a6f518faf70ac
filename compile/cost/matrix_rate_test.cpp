#include "compile/cost/matrix_rate.h"

#include <gtest/gtest.h>

namespace ptl {
namespace {

// The loop for a processor that has the instruction, as its assembler takes it.
std::string assemblyOf(MatrixProduct product, const char *name) {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = matrixLoop(context, product);
  auto machine = llvm::cantFail(cpu::makeTargetMachine(cpu::Processor::named(name)));
  cpu::optimise(*module, *machine, 0);
  return llvm::cantFail(cpu::emitOutput(*module, *machine, cpu::OutputKind::Assembly));
}

size_t countOf(const std::string &text, const std::string &word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    ++count;
  return count;
}

TEST(MatrixRate, theLoopMultipliesFourRegisters) {
  for (auto [product, name, instruction] :
       {std::tuple(MatrixProduct::Bytes, "sapphirerapids", "tdpbssd"),
        std::tuple(MatrixProduct::Bf16, "sapphirerapids", "tdpbf16ps"),
        std::tuple(MatrixProduct::F16, "graniterapids", "tdpfp16ps")}) {
    std::string text = assemblyOf(product, name);
    EXPECT_EQ(countOf(text, instruction), 4u) << text;
    EXPECT_EQ(countOf(text, "ldtilecfg"), 1u);
    EXPECT_EQ(countOf(text, "tilezero"), 8u);
    EXPECT_EQ(countOf(text, "tilerelease"), 1u);
  }
}

TEST(MatrixRate, aProcessorWithoutTheInstructionHasNone) {
  cpu::Processor processor = cpu::Processor::named("x86-64-v4");
  for (MatrixProduct product : {MatrixProduct::Bytes, MatrixProduct::Bf16, MatrixProduct::F16})
    EXPECT_EQ(matrixRate(processor, product), 0);
}

} // namespace
} // namespace ptl
