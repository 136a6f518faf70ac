// The table of our passes. Each is one file of its name in `transform/`.
#ifndef PTL_PASSES
#define PTL_PASSES

include "mlir/Pass/PassBase.td"

def Partition : Pass<"ptl-partition", "::mlir::func::FuncOp"> {
  let summary = "partition tensor-level code into grids of tiles";
  let description = [{
    Groups the tensor operations of a function into kernels and tiles each: elementwise chains, reductions and the
    products they follow run in one `ptl.parallel` over the axes along which the group is independent. What two groups
    share is stored once in global memory. Operations inside grids are left alone: the author has tiled them.

    The tile sizes come from the machine file; `ptl.tile` on an operation (from a `schedule`) overrides them.
  }];
  let options = [
    Option<"productM", "product-m", "int64_t", "96", "rows of a tile of a matrix product">,
    Option<"productN", "product-n", "int64_t", "256", "columns of a tile of a matrix product">,
    Option<"tileBytes", "tile-bytes", "int64_t", "65536", "bytes of a tile of other operations">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif
