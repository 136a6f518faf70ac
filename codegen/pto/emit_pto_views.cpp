#include "codegen/pto/emit_pto_views.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace ptl::pto {

bool emitView(PtoCode &code, Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case<MakeTensorViewOp>([&](MakeTensorViewOp view) {
        std::string layout;
        if (auto attribute = view.getLayoutAttr()) {
          ViewLayout viewLayout = attribute.getValue();
          if (viewLayout == ViewLayout::mx_a_nd || viewLayout == ViewLayout::mx_b_dn)
            code.missing(op, "PTOAS multiplies blocks, but none of the layouts of its views (`nd`, "
                             "`dn`, `nz`) takes scales from rows of memory to where products read "
                             "them; `--emit=cpp` writes the kernel for the PTO-ISA library, which "
                             "has such layouts");
          layout = " {layout = #pto.layout<" + stringifyViewLayout(viewLayout).str() + ">}";
        }
        code.line(op, code.result(op) + "pto.make_tensor_view " + code.name(view.getPointer()) +
                          ", shape = [" + code.names(view.getShape()) + "], strides = [" +
                          code.names(view.getStrides()) + "]" + layout + " : " +
                          code.typeText(view.getType()));
        return true;
      })
      .Case<PartitionViewOp>([&](PartitionViewOp part) {
        code.line(op, code.result(op) + "pto.partition_view " + code.name(part.getSource()) +
                          ", offsets = [" + code.names(part.getOffsets()) + "], sizes = [" +
                          code.names(part.getSizes()) + "] : " + code.typeOf(part.getSource()) +
                          " -> " + code.typeText(part.getType()));
        return true;
      })
      .Case<AddPtrOp>([&](AddPtrOp add) {
        code.line(op, code.result(op) + "pto.addptr " + code.names(op->getOperands()) + " : " +
                          code.typeOf(add.getPointer()) + " -> " + code.typeOf(add.getResult()));
        return true;
      })
      .Case<LoadScalarOp>([&](LoadScalarOp load) {
        code.line(op, code.result(op) + code.spelled(op) + " " + code.name(load.getPointer()) +
                          "[" + code.name(load.getOffset()) + "] : " +
                          code.typeOf(load.getPointer()) + " -> " + code.typeOf(load.getValue()));
        return true;
      })
      .Case<StoreScalarOp>([&](StoreScalarOp store) {
        code.line(op, code.spelled(op) + " " + code.name(store.getValue()) + ", " +
                          code.name(store.getPointer()) + "[" + code.name(store.getOffset()) +
                          "] : " + code.typeOf(store.getPointer()) + ", " +
                          code.typeOf(store.getValue()));
        return true;
      })
      .Case<TrapOp>([&](TrapOp trap) {
        code.body().add("// " + trap.getStatus().str() + ": " + commentText(trap.getMessage()),
                        placeOf(op));
        code.line(op, "pto.trap");
        return true;
      })
      .Case<GetBlockIdxOp, GetBlockNumOp, GetSubBlockIdxOp, GetSubBlockNumOp>([&](auto) {
        code.line(op, code.result(op) + op->getName().getStringRef().str());
        return true;
      })
      .Default([](Operation *) { return false; });
}

} // namespace ptl::pto
