// Computes what a grid of a program reads and writes, in the code of the function that submits it.
#pragma once

#include "codegen/cpu/elements.h"
#include "passes/analysis/grid_regions.h"

namespace ptl::cpu {

using ir::AxisBounds;
using ir::RegionBounds;

/// Positions as values of the submitting function.
class EmittedPositions : public ir::PositionArithmetic {
public:
  explicit EmittedPositions(Lowering &lowering) : l_(lowering) {}
  Number constant(int64_t value) override { return l_.index(value); }
  Number outside(mlir::Value value) override { return scalarOf(l_, value); }
  Number add(Number x, Number y) override { return l_.e.add(valueOf(x), valueOf(y)); }
  Number sub(Number x, Number y) override { return l_.e.sub(valueOf(x), valueOf(y)); }
  Number mul(Number x, Number y) override { return l_.e.mul(valueOf(x), valueOf(y)); }
  Number min(Number x, Number y) override {
    return l_.e.b.createOrFold<mlir::arith::MinSIOp>(l_.e.loc, valueOf(x), valueOf(y));
  }
  Number max(Number x, Number y) override {
    return l_.e.b.createOrFold<mlir::arith::MaxSIOp>(l_.e.loc, valueOf(x), valueOf(y));
  }
  static mlir::Value valueOf(Number number) { return mlir::cast<mlir::Value>(number); }

private:
  Lowering &l_;
};

} // namespace ptl::cpu
