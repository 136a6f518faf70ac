// The tile instructions of PTO, in the order of their ids. Their records are read by ptl-tblgen alone.
include "ir/ops/instructions/movement.td"
include "ir/ops/instructions/cube.td"
include "ir/ops/instructions/elementwise.td"
include "ir/ops/instructions/rows_columns.td"
include "ir/ops/instructions/order.td"
