(struct_declaration name: (identifier) @name) @definition.class
(type_declaration name: (identifier) @name) @definition.type
(source_file (const_declaration name: (identifier) @name) @definition.constant)
(test_declaration name: (string) @name) @definition.test
(bench_declaration name: (string) @name) @definition.test
(property_declaration name: (string) @name) @definition.test

(call_expression function: (identifier) @name) @reference.call
(call_expression function: (member_expression name: (identifier) @name)) @reference.call
(schedule_declaration name: (path (identifier) @name .)) @reference.call
(named_type (path (identifier) @name .)) @reference.type

(
  (doc_comment)* @doc
  .
  [
    (function_declaration name: (identifier) @name)
    (kernel_declaration name: (identifier) @name)
    (program_declaration name: (identifier) @name)
  ] @definition.function
  (#strip! @doc "^///\\s*")
  (#select-adjacent! @doc @definition.function)
)
