// Operations of the block level on events between the cube core and the vector cores of a group.
#ifndef PTL_IR_DIALECT_CROSS_CORE
#define PTL_IR_DIALECT_CROSS_CORE

include "ir/dialect/pto_types.td"

// The k-th wait of a core for an event is ordered after the k-th signal of every core of the other
// kind: a signal of the cube core reaches all vector cores, and the cube core waits for all of
// them. An event is a counter of signals that have not been waited for, with a maximum of
// `countMax` of the machine's `crossCore`. Events have one set of ids for all pipes, which queues
// (`flag_base`) share.
// `orders`: the arrays of global memory that the event orders. A signal or a wait counts as an
// access of its pipe to each of them: passes that reorder instructions must keep accesses to these
// arrays in front of the signal and behind the wait.
class Pto_CrossCoreOp<string mnemonic, string sum> : Op<Pto_Dialect, mnemonic> {
  let summary = sum;
  let arguments = (ins Pto_PipeAttr:$pipe, Index:$event_id, Variadic<Pto_PtrType>:$orders);
  let assemblyFormat = "$pipe `,` $event_id (`orders` `(` $orders^ `:` type($orders) `)`)? attr-dict";
}
def Pto_SyncSetOp : Pto_CrossCoreOp<"sync.set", "signals an event to the other cores of the group when the pipe has done all before">;
// On machines whose cores exchange tiles through global memory the scalar unit stops as well, and
// therefore issues nothing.
def Pto_SyncWaitOp : Pto_CrossCoreOp<"sync.wait", "the pipe waits until the other cores have signalled an event">;

#endif
