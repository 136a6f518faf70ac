; Where several patterns match, the last one decides.

(identifier) @variable

; Names of values
(dimension_parameter name: (identifier) @constant)
(sampled_dimension name: (identifier) @constant)
(tune_parameter name: (identifier) @constant)
(const_declaration name: (identifier) @constant)
(schedule_assignment name: (identifier) @constant)
(parameter name: (identifier) @variable.parameter)
(result name: (identifier) @variable.parameter)
(named_argument name: (identifier) @variable.parameter)
(member_expression name: (identifier) @variable.member)
(field_declaration name: (identifier) @variable.member)
(dot_name "." @constant name: (identifier) @constant)

; Functions
(function_declaration name: (identifier) @function)
(kernel_declaration name: (identifier) @function)
(program_declaration name: (identifier) @function)
(schedule_declaration name: (path (identifier) @function .))
(call_expression function: (identifier) @function.call)
(call_expression function: (member_expression name: (identifier) @function.method.call))
(call_expression function: (element_type) @type.builtin)
((call_expression function: (identifier) @function.builtin)
  (#any-of? @function.builtin
  ; generated
  "abs" "acos" "acosh" "all" "any" "argmax" "argmin" "argsort" "asin" "asinh" "assert" "atan"
  "atan2" "atanh" "bitcast" "broadcast" "cdiv" "ceil" "clamp" "concat" "copysign" "cos" "cosh"
  "cummax" "cummin" "cumprod" "cumsum" "deinterleave" "dequantize" "einsum" "erf" "erfc" "exp"
  "exp2" "expect" "expect_close" "expect_equal" "expm1" "fetch_add" "fetch_max" "fetch_min" "floor"
  "fma" "full" "gather" "index" "interleave" "isfinite" "isinf" "isnan" "load" "log" "log10" "log1p"
  "log2" "max" "maxnan" "mean" "min" "minnan" "one_hot" "ones" "pad" "philox" "print" "prod"
  "quantize" "random" "reciprocal" "reduce" "reshape" "round" "rsqrt" "scaled_dot" "scan" "scatter"
  "select" "sigmoid" "sign" "sin" "sinh" "sort" "sorted" "sqrt" "sum" "tan" "tanh" "topk"
  "transpose" "tril" "triu" "trunc" "unique" "zeros"
  ; end
  ))
"print" @function.builtin

; Types
(element_type) @type.builtin
(inferred_type) @type.builtin
(accumulator_type "acc" @type.builtin)
(named_type (path (identifier) @type .))
(type_declaration name: (identifier) @type)
(struct_declaration name: (identifier) @type)
(type_parameter name: (identifier) @type kind: (identifier) @type.builtin)
(place ["@" (layout)] @attribute name: (identifier) @attribute)
(cut_placement level: (identifier) @attribute)
(partial_placement level: (identifier) @attribute)
(part_placement level: (identifier) @attribute)
(mesh level: (identifier) @attribute)
(mesh_axis name: (identifier) @attribute)

; Modules
(import_declaration path: (path (identifier) @module))
(import_declaration path: (string) @string.special.path)
(import_declaration name: (identifier) @variable)
(named_type (path . (identifier) @module . "."))
(schedule_declaration name: (path . (identifier) @module . "."))

; Cores, levels, pipes and targets
(on_clause core: (identifier) @attribute)
(on_clause target: (identifier) @attribute)
(at_clause level: (identifier) @attribute)
(at_clause role: (identifier) @attribute)
(on_statement core: (identifier) @attribute)
(on_statement split: (identifier) @attribute)
(schedule_declaration target: (identifier) @attribute)
(extern_source target: (identifier) @attribute)
(event_statement from: (path (identifier) @attribute))
(event_statement to: (path (identifier) @attribute))

; Labels
(for_statement label: (identifier) @label)
(parallel_statement label: (identifier) @label)
(schedule_block label: (identifier) @label)
(fuse_item label: (identifier) @label)
(order_item label: (identifier) @label)
(split_item label: (identifier) @label)
(pipeline_item label: (identifier) @label)
(unroll_item label: (identifier) @label)
(task_statement name: (identifier) @label)

; Literals
(integer) @number
(size) @number
(float) @number.float
(boolean) @boolean
(string) @string
(escape_sequence) @string.escape
(rest) @constant.builtin
(new_axis) @constant.builtin

; Comments
(line_comment) @comment
(block_comment) @comment
(doc_comment) @comment.documentation

; Words
["import" "from"] @keyword.import
["fn" "kernel" "program"] @keyword.function
["type" "struct"] @keyword.type
["pub" "manual" "extern" "static" "inout" "atomic"] @keyword.modifier
[
  "schedule" "test" "bench" "property" "const" "let" "var" "where" "tune" "on" "at" "as" "task"
  "pipe" "buffer" "event" "assert" "when" "by" "after" "split" "over" "strides" "depth" "id"
  "tile" "fuse" "order" "l0" "place" "cores" "pipeline" "unroll" "step" "partial"
  "mesh" "checkpoint" "every" "keep"
] @keyword
["for" "parallel" "while" "in"] @keyword.repeat
[(break_statement) (continue_statement)] @keyword.repeat
["if" "else"] @keyword.conditional
"return" @keyword.return
["and" "or" "not"] @keyword.operator
(atomic_statement ["max" "min"] @keyword.operator)

; Signs
[
  "=" "+=" "-=" "*=" "/=" "%=" "@=" "&=" "|=" "^=" "<<=" ">>="
  "+" "-" "*" "**" "/" "%" "&" "|" "^" "~" "<<" ">>"
  "==" "!=" "<" "<=" ">" ">=" ".." "->"
] @operator
(binary_expression operator: "@" @operator)
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":" "."] @punctuation.delimiter
