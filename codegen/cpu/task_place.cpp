// Names and places of tasks.
#include "codegen/cpu/task_place.h"
#include "codegen/cpu/runtime_values.h"
#include "ir/dialect/attributes.h"

#include "ir/dialect/task_attribute.h"
#include "passes/analysis/source_place.h"

using namespace mlir;

namespace ptl::cpu {

/// The name of an argument that a task writes; else what it does.
static std::string nameOfResult(Operation *op) {
  std::string name;
  op->walk([&](ir::StoreOp store) {
    auto argument = dyn_cast<BlockArgument>(store.getRef());
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
    if (auto text =
            function ? attrs::firstOf(function, argument.getArgNumber(), attrs::name, attrs::output)
                     : StringAttr())
      name = text.str();
  });
  if (name.empty())
    name = isa<ir::ParallelOp>(op) ? "grid" : op->getName().stripDialect().str();
  return name;
}

Value placeOfTask(Lowering &l, Operation *op) {
  const Emit &e = l.e;
  LedgerPlace place = block::placeOf(op->getLoc());
  // The most specific name wins: that of a schedule, that of the source, then that of the result.
  std::string name = ir::taskOf(op).str();
  if (name.empty())
    name = block::nameOf(op->getLoc());
  if (name.empty())
    name = nameOfResult(op);
  MLIRContext *context = e.b.getContext();
  Type pointer = pointerType(context), i32 = e.b.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(context, {pointer, pointer, i32, i32});
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPointToStart(l.target.getBody());
    global = e.b.create<LLVM::GlobalOp>(e.loc, type, true, LLVM::Linkage::Internal,
                                        "ptl_place" + std::to_string(l.places++), Attribute());
    e.b.createBlock(&global.getInitializerRegion());
    Value null = e.b.create<LLVM::ZeroOp>(e.loc, pointer);
    Value fields[] = {textConstant(l, name),
                      place.file.empty() ? null : textConstant(l, place.file), e.i32(place.line),
                      e.i32(place.column)};
    Value all = e.b.create<LLVM::UndefOp>(e.loc, type);
    for (auto [number, field] : llvm::enumerate(fields))
      all = e.b.create<LLVM::InsertValueOp>(e.loc, all, field, static_cast<int64_t>(number));
    e.b.create<LLVM::ReturnOp>(e.loc, all);
  }
  return e.b.create<LLVM::AddressOfOp>(e.loc, global);
}

} // namespace ptl::cpu
