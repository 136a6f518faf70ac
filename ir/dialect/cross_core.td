// Operations of the block level on events between the cube core and the vector cores of a group.
#ifndef PTL_IR_DIALECT_CROSS_CORE
#define PTL_IR_DIALECT_CROSS_CORE

include "ir/dialect/pto_types.td"

// The k-th wait of a core for an event comes after the k-th signal of every core of the other kind: a signal of the cube core reaches
// all vector cores, and the cube core waits for all of them. An event counts signals that nobody has waited for yet, up to `countMax` of
// the machine's `crossCore`. Events have one set of ids, whatever their pipes, which queues (`flag_base`) use too.
// `orders`: arrays of global memory that the event is there for. A signal counts as an access of its pipe to each of them, and so does a
// wait: whoever puts a function's instructions in order keeps those that touch the arrays before the one and behind the other.
class Pto_CrossCoreOp<string mnemonic, string sum> : Op<Pto_Dialect, mnemonic> {
  let summary = sum;
  let arguments = (ins Pto_PipeAttr:$pipe, Index:$event_id, Variadic<Pto_PtrType>:$orders);
  let assemblyFormat = "$pipe `,` $event_id (`orders` `(` $orders^ `:` type($orders) `)`)? attr-dict";
}
def Pto_SyncSetOp : Pto_CrossCoreOp<"sync.set", "signals an event to the other cores of the group when the pipe has done all before">;
// On machines whose cores hand over tiles through global memory the scalar unit stops as well, and with it what it would issue next.
def Pto_SyncWaitOp : Pto_CrossCoreOp<"sync.wait", "the pipe waits until the other cores have signalled an event">;

#endif
