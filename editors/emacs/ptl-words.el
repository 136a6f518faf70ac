;;; ptl-words.el --- Words of PTL  -*- lexical-binding: t; -*-

;; Written by editors/words.py from the compiler's tables.

;;; Code:

(defconst ptl-words-keywords
  '("and" "assert" "atomic" "bench" "break" "buffer" "const" "continue" "else" "event"
    "extern" "fn" "for" "if" "import" "kernel" "let" "manual" "new" "not" "on" "or"
    "parallel" "pipe" "program" "property" "pub" "return" "schedule" "static" "struct"
    "task" "test" "type" "var" "where" "while")
  "Words of PTL: keywords.")

(defconst ptl-words-contextual
  '("acc" "after" "as" "at" "by" "checkpoint" "chunks" "cores" "every" "from" "fuse" "how"
    "id" "in" "inout" "keep" "l0" "mesh" "order" "over" "partial" "pipeline" "place"
    "split" "step" "strides" "tile" "tune" "unroll" "when")
  "Words of PTL: contextual.")

(defconst ptl-words-literals
  '("false" "inf" "nan" "true")
  "Words of PTL: literals.")

(defconst ptl-words-types
  '("bf16" "bool" "f16" "f32" "f4e2m1" "f64" "f8e4m3" "f8e5m2" "f8e8m0" "i16" "i32" "i4"
    "i64" "i8" "int" "u16" "u32" "u64" "u8")
  "Words of PTL: types.")

(defconst ptl-words-builtins
  '("abs" "acos" "acosh" "all" "any" "argmax" "argmin" "argsort" "asin" "asinh" "atan"
    "atan2" "atanh" "bitcast" "broadcast" "cdiv" "ceil" "clamp" "concat" "copysign" "cos"
    "cosh" "cummax" "cummin" "cumprod" "cumsum" "deinterleave" "dequantize" "einsum" "erf"
    "erfc" "exp" "exp2" "expect" "expect_close" "expect_equal" "expm1" "fetch_add"
    "fetch_max" "fetch_min" "floor" "fma" "full" "gather" "index" "interleave" "isfinite"
    "isinf" "isnan" "load" "log" "log10" "log1p" "log2" "max" "maxnan" "mean" "min"
    "minnan" "one_hot" "ones" "pad" "philox" "print" "prod" "quantize" "random"
    "reciprocal" "reduce" "reshape" "round" "rsqrt" "scaled_dot" "scan" "scatter" "select"
    "sigmoid" "sign" "sin" "sinh" "sort" "sorted" "sqrt" "sum" "tan" "tanh" "topk"
    "transpose" "tril" "triu" "trunc" "unique" "zeros")
  "Words of PTL: builtins.")

(provide 'ptl-words)
;;; ptl-words.el ends here
