// Measures the emitted matrix product against OpenBLAS on one thread.
#include "codegen/cpu/test_product.h"
#include "codegen/cpu/to_llvm.h"

#include <cblas.h>
#include <chrono>
#include <cstdio>
#include <vector>

using namespace ptl::cpu;
using namespace ptl::cpu::testing;
using Clock = std::chrono::steady_clock;

extern "C" void openblas_set_num_threads(int);

template <typename Run> static double bestSeconds(Run run) {
  double best = 1e9;
  for (int i = 0; i < 12; ++i) {
    auto start = Clock::now();
    run();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

int main() {
  mlir::DialectRegistry registry;
  registerCpuDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  openblas_set_num_threads(1);
  mlir::Type f32 = mlir::Float32Type::get(&context);
  auto start = Clock::now();
  CompiledProduct product = compileProduct(context, f32, f32);
  std::printf("compiled in %.1f ms\n",
              1e3 * std::chrono::duration<double>(Clock::now() - start).count());
  TestScratch scratch;
  for (int64_t size : {128, 256, 512, 1024}) {
    std::vector<float> a(size * size, 0.5f), b(size * size, 0.25f), c(size * size);
    double flops = 2.0 * size * size * size;
    double ours = bestSeconds([&] {
      product.entry(&scratch, a.data(), size, 1, b.data(), size, 1, c.data(), size, size, size,
                    size);
    });
    double transposed = bestSeconds([&] {
      product.entry(&scratch, a.data(), size, 1, b.data(), 1, size, c.data(), size, size, size,
                    size);
    });
    double blas = bestSeconds([&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1.0f, a.data(), size,
                  b.data(), size, 1.0f, c.data(), size);
    });
    std::printf("%5lld: %7.1f GFLOP/s, B transposed %7.1f, OpenBLAS %7.1f, ratio %.2f\n",
                static_cast<long long>(size), flops / ours * 1e-9, flops / transposed * 1e-9,
                flops / blas * 1e-9, blas / ours);
  }
  double tile = bestSeconds([&] {
    static std::vector<float> a(128 * 1024, 0.5f), b(64 * 1024, 0.25f), c(128 * 256);
    product.entry(&scratch, a.data(), 1024, 1, b.data(), 1024, 1, c.data(), 256, 128, 256, 64);
  });
  std::printf("tile 128x256x64 of 1024-wide arrays: %.1f GFLOP/s\n",
              2.0 * 128 * 256 * 64 / tile * 1e-9);
}
