// A helper for tests: compiles tile-level IR, as text, and runs it on arrays through the real
// runtime.
#pragma once

#include "codegen/cpu/lower.h"
#include "codegen/cpu/lower_module.h"
#include "codegen/cpu/test_jit.h"

#include "ir/dialect/ptl_dialect.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "runtime/abi/kernel_abi.h"
#include "runtime/called_symbols.h"
#include "runtime/context.h"
#include "runtime/schedule/pool.h"

#include <algorithm>
#include <sys/mman.h>

namespace ptl::cpu::testing {

struct Array {
  PtlView view;
  Array(PtlElem elem, void *data, std::vector<int64_t> shape) {
    ptl_view_dense(&view, elem, data, static_cast<int32_t>(shape.size()), shape.data());
  }
};

inline Array array(std::vector<float> &data, std::vector<int64_t> shape) {
  return Array(PTL_F32, data.data(), std::move(shape));
}
inline Array array(std::vector<int32_t> &data, std::vector<int64_t> shape) {
  return Array(PTL_I32, data.data(), std::move(shape));
}

/// Memory whose end is the end of a page, followed by an inaccessible page, so that any access
/// beyond the end traps.
class Guarded {
public:
  explicit Guarded(size_t bytes) : size_((bytes + Page - 1) / Page * Page + Page) {
    base_ = static_cast<char *>(
        mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(base_ + size_ - Page, Page, PROT_NONE);
    data = base_ + size_ - Page - bytes;
  }
  ~Guarded() { munmap(base_, size_); }
  Guarded(const Guarded &) = delete;
  char *data;

private:
  static constexpr size_t Page = 4096;
  size_t size_;
  char *base_;
};

/// The processor of this machine, or the one that PTL_TEST_CPU names.
inline Processor testProcessor() {
  const char *name = std::getenv("PTL_TEST_CPU");
  return name ? Processor::named(name) : Processor::host();
}

/// A function `y = op(operands)` on N elements of a type, as text. Operands of one name are one
/// parameter.
inline std::string functionOf(const std::string &name, const std::string &op,
                              const std::vector<std::string> &operands, const std::string &elem,
                              const std::string &result, const std::string &attributes) {
  auto arrayOf = [](const std::string &of) { return "!ptl.array<" + of + "[N], gm>"; };
  std::string in = arrayOf(elem), out = arrayOf(result), parameters, names, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (std::find(operands.begin(), operands.begin() + i, operands[i]) == operands.begin() + i)
      parameters += "%" + operands[i] + ": " + in + " {ptl.name = \"" + operands[i] + "\"}, ";
    names += (i ? ", %" : "%") + operands[i];
    types += (i ? ", " : "") + in;
  }
  return "func.func @" + name + "(" + parameters + "%y: !ptl.ref<" + result +
         "[N], gm>, %N: index) attributes {ptl.kind = \"fn\"} {\n"
         "  %c0 = arith.constant 0 : index\n"
         "  %r = \"ptl." +
         op + "\"(" + names + ") " + attributes + " : (" + types + ") -> " + out +
         "\n  ptl.store %r, %y[%c0][%N] drop [] : " + out + ", !ptl.ref<" + result +
         "[N], gm>\n  return\n}\n";
}

/// Lowers tile-level IR given as text to blocks; if the text is not a module, returns null and
/// fails the test.
inline mlir::OwningOpRef<mlir::ModuleOp> blocksOf(const std::string &text) {
  auto &context = testContext();
  context.getOrLoadDialect<ptl::ir::PtlDialect>();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (module)
    return lowerToBlocks(*module, testProcessor());
  ADD_FAILURE() << "the text is no module: " << text;
  return {};
}

class Program {
public:
  explicit Program(const std::string &text, int optimisation = 2) {
    auto &context = testContext();
    context.getOrLoadDialect<ptl::ir::PtlDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module || failed(mlir::verify(*module))) {
      ADD_FAILURE() << "the text is no valid module";
      return;
    }
    if (std::getenv("PTL_TEST_DUMP"))
      if (auto blocks = lowerToBlocks(*module, testProcessor()))
        blocks->dump();
    auto code = compileInProcess(*module, testProcessor(), rt::calledSymbols(), optimisation);
    if (!code) {
      ADD_FAILURE() << llvm::toString(code.takeError());
      return;
    }
    code_ = std::make_unique<JitCode>(std::move(*code));
    select("f");
  }
  void select(const std::string &name) {
    if (code_)
      entry_ = reinterpret_cast<PtlEntryFn>(code_->lookup(name));
  }

  int32_t operator()(std::vector<Array> arrays, std::vector<int64_t> dims = {},
                     std::vector<PtlScalar> scalars = {}) {
    if (!entry_)
      return -1;
    std::vector<const PtlArray *> pointers;
    for (Array &a : arrays) {
      // The views were copied; their arrays point into the originals.
      a.view.array.extents = a.view.extents;
      a.view.array.strides = a.view.strides;
      pointers.push_back(&a.view.array);
    }
    PtlContext context(ptl::rt::ThreadPool::shared());
    if (streamedFrom >= 0)
      context.streamedFrom = streamedFrom;
    int32_t status = entry_(&context, pointers.data(), dims.data(), scalars.data());
    message = context.failure.message;
    return status;
  }

  std::string message;
  int64_t streamedFrom =
      -1; ///< bytes from which on stores go past the caches; -1: as the runtime says

private:
  std::unique_ptr<JitCode> code_;
  PtlEntryFn entry_ = nullptr;
};

} // namespace ptl::cpu::testing
