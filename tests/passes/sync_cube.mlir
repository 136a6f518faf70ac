// ARGS: --pto-derive-sync --canonicalize --cse %s
// A matrix product on a cube core: tiles of a row and a column in turn through mat, parts of them in turn through left and right.
!mat = !pto.tile_buf<mat, 128x128xf16, blayout=col_major, slayout=row_major>
!left = !pto.tile_buf<left, 128x64xf16, blayout=col_major, slayout=row_major>
!right = !pto.tile_buf<right, 64x128xf16, slayout=col_major>
!acc = !pto.tile_buf<acc, 128x128xf32, blayout=col_major, slayout=row_major, fractal=1024>
!mats = !pto.multi_tile_buf<!mat, count = 2>
!lefts = !pto.multi_tile_buf<!left, count = 2>
!rights = !pto.multi_tile_buf<!right, count = 2>
!v = !pto.tensor_view<?x?xf16>
!p = !pto.partition_tensor_view<128x128xf16>
!cv = !pto.tensor_view<?x?xf32>
!cp = !pto.partition_tensor_view<128x128xf32>
module attributes {"pto.target_arch" = "a3", ptl.machine = "a3"} {
  func.func @matmul(%a: !pto.ptr<f16> {ptl.name = "a"}, %b: !pto.ptr<f16> {ptl.name = "b"}, %c: !pto.ptr<f32> {ptl.name = "c"}, %m: index, %n: index, %k: index) attributes {pto.kernel_kind = #pto.kernel_kind<cube>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %a0 = arith.constant 0 : i64
    %a1 = arith.constant 65536 : i64
    %av = pto.make_tensor_view %a, shape = [%m, %k], strides = [%k, %c1] : !v
    %bv = pto.make_tensor_view %b, shape = [%k, %n], strides = [%n, %c1] : !v
    %cv = pto.make_tensor_view %c, shape = [%m, %n], strides = [%n, %c1] : !cv
    %as = pto.alloc_multi_tile addr = %a0 : !mats loc("a"("k.ptl":3:9))
    %bs = pto.alloc_multi_tile addr = %a1 : !mats loc("b"("k.ptl":4:9))
    %ls = pto.alloc_multi_tile addr = %a0 : !lefts loc("l"("k.ptl":6:9))
    %rs = pto.alloc_multi_tile addr = %a0 : !rights loc("r"("k.ptl":7:9))
    %acc = pto.alloc_tile addr = %a0 : !acc loc("acc"("k.ptl":2:9))
    scf.for %j = %c0 to %n step %c128 {
      scf.for %kk = %c0 to %k step %c128 {
        %round = arith.divui %kk, %c128 : index
        %slot = arith.remui %round, %c2 : index
        %at = pto.multi_tile_get %as[%slot] : !mats -> !mat loc("a"("k.ptl":3:9))
        %bt = pto.multi_tile_get %bs[%slot] : !mats -> !mat loc("b"("k.ptl":4:9))
        %ap = pto.partition_view %av, offsets = [%c0, %kk], sizes = [%c128, %c128] : !v -> !p
        %bp = pto.partition_view %bv, offsets = [%kk, %j], sizes = [%c128, %c128] : !v -> !p
        pto.tload ins(%ap : !p) outs(%at : !mat) loc("k.ptl":3:13)
        pto.tload ins(%bp : !p) outs(%bt : !mat) loc("k.ptl":4:13)
        scf.for %s = %c0 to %c2 step %c1 {
          %l = pto.multi_tile_get %ls[%s] : !lefts -> !left loc("l"("k.ptl":6:9))
          %r = pto.multi_tile_get %rs[%s] : !rights -> !right loc("r"("k.ptl":7:9))
          %off = arith.muli %s, %c64 : index
          pto.textract ins(%at, %c0, %off : !mat, index, index) outs(%l : !left) loc("k.ptl":6:13)
          pto.textract ins(%bt, %off, %c0 : !mat, index, index) outs(%r : !right) loc("k.ptl":7:13)
          pto.tmatmul.acc ins(%acc, %l, %r : !acc, !left, !right) outs(%acc : !acc) loc("k.ptl":8:9)
        }
      }
      %cp = pto.partition_view %cv, offsets = [%c0, %j], sizes = [%c128, %c128] : !cv -> !cp
      pto.tstore ins(%acc : !acc) outs(%cp : !cp) loc("k.ptl":10:5)
    }
    return
  }
}
