#include "ir/dialect/source_name.h"

#include "ir/dialect/attributes.h"
#include "ir/dialect/instruction_op.h"
#include "ir/dialect/pto_dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

static std::string locationName(Location location) {
  if (auto named = dyn_cast<NameLoc>(location))
    return named.getName().str();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (std::string name = locationName(part); !name.empty())
        return name;
  return {};
}

/// `i`, `j`, `k` by the depth of the loop.
static std::string loopName(scf::ForOp loop) {
  unsigned depth = 0;
  for (auto outer = loop->getParentOfType<scf::ForOp>(); outer;
       outer = outer->getParentOfType<scf::ForOp>())
    ++depth;
  static constexpr const char *names[] = {"i", "j", "k", "l", "m"};
  return names[std::min<size_t>(depth, std::size(names) - 1)];
}

static std::string argumentName(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto function = dyn_cast<func::FuncOp>(parent);
      function && argument.getOwner()->isEntryBlock())
    if (auto name = attrs::name.of(function, argument.getArgNumber()))
      return name.str();
  if (std::string name = locationName(argument.getLoc()); !name.empty())
    return name;
  if (auto loop = dyn_cast<scf::ForOp>(parent); loop && argument == loop.getInductionVar())
    return loopName(loop);
  return {};
}

std::string sourceName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argumentName(argument);
  Operation *op = value.getDefiningOp();
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<GetBlockIdxOp>([](auto) { return "block"; })
      .Case<GetBlockNumOp>([](auto) { return "blocks"; })
      .Case<GetSubBlockIdxOp>([](auto) { return "core"; })
      .Case<GetSubBlockNumOp>([](auto) { return "cores"; })
      .Case<arith::IndexCastOp>([](arith::IndexCastOp cast) {
        std::string name = locationName(cast.getLoc()),
                    from = name.empty() ? sourceName(cast.getIn()) : "";
        return !name.empty()  ? name
               : from.empty() ? from
                              : from + "_" + (cast.getType().isIndex() ? "index" : "int");
      })
      .Case<InitializeL2G2LPipeOp, InitializeL2LPipeOp>([](auto made) {
        std::string name = locationName(made->getLoc());
        return name.empty() ? "queue" : name + "_queue";
      })
      .Case<ReserveBufferOp, ImportReservedBufferOp>(
          [](auto made) { return made.getName().str() + "_slots"; })
      .Case<MakeTensorViewOp>([](auto made) { return sourceName(rootOf(made)) + "_view"; })
      .Case<PartitionViewOp>([](auto made) { return sourceName(rootOf(made)) + "_part"; })
      .Default([](Operation *made) { return locationName(made->getLoc()); });
}

} // namespace ptl::pto
