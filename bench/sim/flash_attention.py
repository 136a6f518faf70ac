"""Attention at the block level in the structure of the published kernel: `flash_attention.py AHEAD LAG > flash_attention.pto`.

128 queries of a head of 128 for each point of the grid, 256 keys at a time in halves. The cube core makes the scores AHEAD tiles
before it needs the weights of a tile; each vector core has half of the queries and adds a tile's product LAG tiles later. Both are 4 in
the published kernel (QK_PRELOAD).
"""

import sys

AHEAD = int(sys.argv[1]) if len(sys.argv) > 1 else 4
LAG = int(sys.argv[2]) if len(sys.argv) > 2 else 4
lines, indent, number = [], 1, 0

MAT = "!pto.tile_buf<mat, 128x128xf16, blayout=col_major, slayout=row_major>"
MATT = "!pto.tile_buf<mat, 128x128xf16, slayout=col_major>"
LEFT = "!pto.tile_buf<left, 128x128xf16, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 128x128xf16, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 128x128xf32, blayout=col_major, slayout=row_major, fractal=1024>"
S, P, O = "!pto.tile_buf<vec, 64x128xf32>", "!pto.tile_buf<vec, 64x128xf16>", "!pto.tile_buf<vec, 64x128xf32>"
ROW, COL = "!pto.tile_buf<vec, 1x64xf32>", "!pto.tile_buf<vec, 64x1xf32, blayout=col_major>"
BOX, BOXT = "!pto.partition_tensor_view<128x128xf16>", "!pto.partition_tensor_view<128x128xf16>"


def emit(text):
    lines.append("  " * indent + text)


def let(text):
    global number
    number += 1
    emit(f"%v{number} = {text}")
    return f"%v{number}"


def index(value):
    return let(f"arith.constant {value} : index")


def op(name, a, b):
    return let(f"arith.{name} {a}, {b} : index")


def flag(kind, source, target, event):
    emit(f"pto.{kind}_flag_dyn[<PIPE_{source}>, <PIPE_{target}>, {event}]" if event.startswith("%") else
         f"pto.{kind}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]")


def tile(kind, address):
    constant = let(f"arith.constant {address} : i64")
    return let(f"pto.alloc_tile addr = {constant} : {kind}")


def slots(kind, address, count):
    constant = let(f"arith.constant {address} : i64")
    multi = f"!pto.multi_tile_buf<{kind}, count = {count}>"
    whole = let(f"pto.alloc_multi_tile addr = {constant} : {multi}")
    return lambda i: let(f"pto.multi_tile_get {whole}[{i}] : {multi} -> {kind}")


def do(name, ins, outs):
    values = ", ".join(value for value, _ in ins)
    types = ", ".join(kind for _, kind in ins)
    emit(f"pto.{name} ins({values} : {types}) outs({outs[0]} : {outs[1]})")


class Block:
    def __init__(self, head):
        self.head = head

    def __enter__(self):
        global indent
        emit(self.head + " {")
        indent += 1

    def __exit__(self, *_):
        global indent
        indent -= 1
        emit("}")


ARGUMENTS = ("%q: !pto.ptr<f16>, %k: !pto.ptr<f16>, %v: !pto.ptr<f16>, %o: !pto.ptr<f32>, %w: !pto.ptr<f32> "
             "{ptl.role = \"workspace\", ptl.bytes = 2097152 : i64}, %S: index {ptl.name = \"S\"}, %T: index {ptl.name = \"T\"}")


def queues(cube):
    """Scores, weights, products; slots of 64, 32 and 64 KiB."""
    zero = let("arith.constant 0 : i32")
    scores = zero if cube else let('pto.reserve_buffer {name = "s", size = 98304, location = <vec>, auto = false, base = 0} -> i32')
    weights = (let('pto.reserve_buffer {name = "p", size = 131072, location = <mat>, auto = false, base = 163840} -> i32')
               if cube else zero)
    products = zero if cube else let('pto.reserve_buffer {name = "o", size = 32768, location = <vec>, auto = false, base = 98304} -> i32')
    result = []
    for mask, size, local, base, flags in ((1, 65536, 3, scores, 0), (2, 32768, 4, weights, 2), (1, 65536, 1, products, 4)):
        result.append(let(f"pto.initialize_l2g2l_pipe {{dir_mask = {mask}, slot_size = {size}, slot_num = 8, "
                          f"local_slot_num = {local}, flag_base = {flags}}} (%w : !pto.ptr<f32>, {base} : i32) -> !pto.pipe"))
    return result


def grid():
    block = let("pto.get_block_idx -> i64")
    count = let("pto.get_block_num -> i64")
    points = op("ceildivsi", "%S", index(128))
    return (let(f"arith.index_cast {block} : i64 to index"), points, let(f"arith.index_cast {count} : i64 to index"))


def cube():
    zero, one, two, four, width = (index(n) for n in (0, 1, 2, 4, 128))
    first, points, count = grid()
    tiles = op("divui", "%T", index(256))
    ahead = index(AHEAD)
    rounds = op("addi", tiles, ahead)
    scores, weights, products = queues(True)
    strides = f"strides = [{width}, {one}]"
    views = [let(f"pto.make_tensor_view %{name}, shape = [{rows}, {width}], {strides} : !pto.tensor_view<?x128xf16>")
             for name, rows in (("q", "%S"), ("v", "%T"))]
    turned = let(f"pto.make_tensor_view %k, shape = [{width}, %T], strides = [{one}, {width}] : !pto.tensor_view<128x?xf16>")
    q = tile(MAT, 0)
    keys, values = slots(MATT, 32768, 4), slots(MAT, 32768, 4)
    left, right, acc = slots(LEFT, 0, 2), slots(RIGHT, 0, 2), slots(ACC, 0, 2)
    for event in range(4):
        flag("set", "MTE1", "MTE2", str(event))
    for event in (4, 5, 6, 7):
        flag("set", "MTE1", "MTE2", str(event))
    for event in range(2):
        flag("set", "M", "MTE1", str(event))
        flag("set", "FIX", "M", str(event))

    def step(x, load, source, last=None, a=None, starts=True, ends=True):
        """One product of 128 x 128 x 128: its right operand from memory, its left one from `source`."""
        slot, l0 = op("remui", x, four), op("remui", x, two)
        flag("wait", "MTE1", "MTE2", slot)
        operand, kind = load(x)
        flag("set", "MTE2", "MTE1", slot)
        flag("wait", "MTE2", "MTE1", slot)
        flag("wait", "M", "MTE1", l0)
        to_left, to_right = left(l0), right(l0)
        do("textract", [(source, MAT), (zero, "index"), (zero, "index")], (to_left, LEFT))
        do("textract", [(operand, kind), (zero, "index"), (zero, "index")], (to_right, RIGHT))
        flag("set", "MTE1", "MTE2", slot)
        flag("set", "MTE1", "M", l0)
        parity = op("remui", a, two)
        if starts:
            flag("wait", "FIX", "M", parity)
        flag("wait", "MTE1", "M", l0)
        out = acc(parity)
        if starts:
            do("tmatmul", [(to_left, LEFT), (to_right, RIGHT)], (out, ACC))
        else:
            do("tmatmul.acc", [(out, ACC), (to_left, LEFT), (to_right, RIGHT)], (out, ACC))
        flag("set", "M", "MTE1", l0)
        if ends:
            flag("set", "M", "FIX", parity)
            flag("wait", "M", "FIX", parity)
            emit(f"pto.tpush({out}, {last} : {ACC}, !pto.pipe) {{split = 1}}")
            flag("set", "FIX", "M", parity)

    with Block(f"scf.for %p = {first} to {points} step {count}"):
        row = op("muli", "%p", width)
        flag("wait", "MTE1", "MTE2", "4")
        box = let(f"pto.partition_view {views[0]}, offsets = [{row}, {zero}], sizes = [{width}, {width}] : "
                  f"!pto.tensor_view<?x128xf16> -> {BOX}")
        do("tload", [(box, BOX)], (q, MAT))
        flag("set", "MTE2", "MTE1", "4")
        flag("wait", "MTE2", "MTE1", "4")
        with Block(f"scf.for %j = {zero} to {rounds} step {one}"):
            back = op("subi", "%j", ahead)
            done = op("maxsi", back, zero)
            j2, done2 = op("muli", "%j", two), op("muli", done, two)
            with Block(f"scf.if {let(f'arith.cmpi slt, %j, {tiles} : index')}"):
                for half in range(2):
                    h = index(half)
                    x = op("addi", op("addi", j2, done2), h)
                    a = op("addi", op("addi", j2, done), h)
                    column = op("muli", op("addi", j2, h), width)

                    def load_keys(x):
                        box = let(f"pto.partition_view {turned}, offsets = [{zero}, {column}], sizes = [{width}, {width}] : "
                                  f"!pto.tensor_view<128x?xf16> -> {BOXT}")
                        to = keys(x)
                        do("tload", [(box, BOXT)], (to, MATT))
                        return to, MATT

                    step(x, load_keys, q, scores, a)
            with Block(f"scf.if {let(f'arith.cmpi sge, %j, {ahead} : index')}"):
                made = op("muli", op("minsi", op("addi", "%j", one), tiles), two)
                b2 = op("muli", back, two)
                a = op("addi", made, back)
                for half in range(2):
                    h = index(half)
                    y = op("addi", b2, h)
                    x = op("addi", made, y)
                    column = op("muli", y, width)
                    event = op("addi", op("remui", y, two), index(6))
                    flag("wait", "MTE1", "MTE2", event)
                    part = let(f"pto.declare_tile -> {MAT}")
                    emit(f"pto.tpop({part}, {weights} : {MAT}, !pto.pipe) {{split = 1}}")
                    emit(f"pto.tfree({weights} : !pto.pipe) {{split = 1}}")
                    flag("set", "MTE2", "MTE1", event)
                    flag("wait", "MTE2", "MTE1", event)

                    def load_values(x):
                        box = let(f"pto.partition_view {views[1]}, offsets = [{column}, {zero}], sizes = [{width}, {width}] : "
                                  f"!pto.tensor_view<?x128xf16> -> {BOX}")
                        to = values(x)
                        do("tload", [(box, BOX)], (to, MAT))
                        return to, MAT

                    step(x, load_values, part, products, a, starts=half == 0, ends=half == 1)
                    flag("set", "MTE1", "MTE2", event)
        flag("set", "MTE1", "MTE2", "4")
    for event in range(8):
        flag("wait", "MTE1", "MTE2", str(event))
    for event in range(2):
        flag("wait", "M", "MTE1", str(event))
        flag("wait", "FIX", "M", str(event))


def vector():
    zero, one, two, three, width, height = (index(n) for n in (0, 1, 2, 3, 128, 64))
    scale = let("arith.constant 0.0883883461 : f32")
    nothing = let("arith.constant 0.0 : f32")
    lowest = let("arith.constant 0xFF800000 : f32")
    first, points, count = grid()
    tiles = op("divui", "%T", index(256))
    lag = index(LAG)
    rounds = op("addi", tiles, lag)
    scores, weights, products = queues(False)
    half64 = let("pto.get_subblock_idx -> i64")
    half = op("muli", let(f"arith.index_cast {half64} : i64 to index"), height)
    out = let(f"pto.make_tensor_view %o, shape = [%S, {width}], strides = [{width}, {one}] : !pto.tensor_view<?x128xf32>")
    acc = tile(O, 131072)
    m, m2, l, s0, s1 = (tile(ROW, 163840 + 256 * i) for i in range(5))
    scratch = acc  # of reductions; only its size matters here
    factors = slots(ROW, 165376, LAG + 1)
    weight = slots(P, 0, 3)

    def column(row):
        return let(f"pto.treshape {row} : {ROW} -> {COL}")

    def v(name, ins, outs):
        do(name, ins, outs)
        emit("pto.barrier <PIPE_V>")

    for event in range(3):
        flag("set", "MTE3", "MTE2", str(event))
    flag("set", "V", "MTE2", "4")
    flag("set", "MTE3", "V", "6")
    with Block(f"scf.for %p = {first} to {points} step {count}"):
        flag("wait", "MTE3", "V", "6")
        v("texpands", [(nothing, "f32")], (acc, O))
        v("texpands", [(nothing, "f32")], (l, ROW))
        v("texpands", [(lowest, "f32")], (m, ROW))
        with Block(f"scf.for %j = {zero} to {rounds} step {one}"):
            j2 = op("muli", "%j", two)
            with Block(f"scf.if {let(f'arith.cmpi slt, %j, {tiles} : index')}"):
                parts, events = [], []
                for h in range(2):
                    event = op("remui", op("addi", j2, index(h)), three)
                    flag("wait", "MTE3", "MTE2", event)
                    part = let(f"pto.declare_tile -> {S}")
                    emit(f"pto.tpop({part}, {scores} : {S}, !pto.pipe) {{split = 1}}")
                    emit(f"pto.tfree({scores} : !pto.pipe) {{split = 1}}")
                    flag("set", "MTE2", "V", event)
                    parts.append(part)
                    events.append(event)
                for part, event, largest in zip(parts, events, (s0, s1)):
                    flag("wait", "MTE2", "V", event)
                    v("tmuls", [(part, S), (scale, "f32")], (part, S))
                    v("trowmax", [(part, S), (scratch, O)], (column(largest), COL))
                v("tmax", [(s0, ROW), (s1, ROW)], (m2, ROW))
                v("tmax", [(m, ROW), (m2, ROW)], (m2, ROW))
                factor = factors("%j")
                v("tsub", [(m, ROW), (m2, ROW)], (factor, ROW))
                v("texp", [(factor, ROW)], (factor, ROW))
                v("tmul", [(l, ROW), (factor, ROW)], (l, ROW))
                v("tmov", [(m2, ROW)], (m, ROW))
                for h, (part, event, total) in enumerate(zip(parts, events, (s0, s1))):
                    v("trowexpandsub", [(part, S), (column(m), COL)], (part, S))
                    v("texp", [(part, S)], (part, S))
                    v("trowsum", [(part, S), (scratch, O)], (column(total), COL))
                    v("tadd", [(l, ROW), (total, ROW)], (l, ROW))
                    small = weight(op("addi", j2, index(h)))
                    v("tcvt", [(part, S)], (small, P))
                    flag("set", "V", "MTE3", event)
                    flag("wait", "V", "MTE3", event)
                    emit(f"pto.tpush({small}, {weights} : {P}, !pto.pipe) {{split = 1}}")
                    flag("set", "MTE3", "MTE2", event)
            with Block(f"scf.if {let(f'arith.cmpi sge, %j, {lag} : index')}"):
                before = op("subi", "%j", lag)
                flag("wait", "V", "MTE2", "4")
                part = let(f"pto.declare_tile -> {O}")
                emit(f"pto.tpop({part}, {products} : {O}, !pto.pipe) {{split = 1}}")
                emit(f"pto.tfree({products} : !pto.pipe) {{split = 1}}")
                flag("set", "MTE2", "V", "4")
                factor = factors(before)
                v("trowexpandmul", [(acc, O), (column(factor), COL)], (acc, O))
                flag("wait", "MTE2", "V", "4")
                v("tadd", [(acc, O), (part, O)], (acc, O))
                flag("set", "V", "MTE2", "4")
        v("trowexpanddiv", [(acc, O), (column(l), COL)], (acc, O))
        flag("set", "V", "MTE3", "6")
        flag("wait", "V", "MTE3", "6")
        row = op("addi", op("muli", "%p", width), half)
        box = let(f"pto.partition_view {out}, offsets = [{row}, {zero}], sizes = [{height}, {width}] : "
                  "!pto.tensor_view<?x128xf32> -> !pto.partition_tensor_view<64x128xf32>")
        do("tstore", [(acc, O)], (box, "!pto.partition_tensor_view<64x128xf32>"))
        flag("set", "MTE3", "V", "6")
    for event in range(3):
        flag("wait", "MTE3", "MTE2", str(event))
    flag("wait", "V", "MTE2", "4")
    flag("wait", "MTE3", "V", "6")


def main():
    print('module attributes {"pto.target_arch" = "a3"} {')
    for name, kind, body in (("aic", "cube", cube), ("aiv", "vector", vector)):
        lines.clear()
        body()
        print(f"func.func @flash_attention_{name}({ARGUMENTS}) attributes {{ptl.kernel = \"flash_attention\", "
              f"pto.entry, pto.kernel_kind = #pto.kernel_kind<{kind}>}} {{")
        print("\n".join(lines))
        print("  return\n}")
    print("}")


main()
