; Scopes
[
  (source_file)
  (function_declaration)
  (kernel_declaration)
  (program_declaration)
  (test_declaration)
  (bench_declaration)
  (property_declaration)
  (struct_declaration)
  (type_declaration)
  (for_statement)
  (parallel_statement)
  (block)
] @local.scope

; Definitions
(function_declaration name: (identifier) @local.definition.function
  (#set! definition.function.scope "parent"))
(kernel_declaration name: (identifier) @local.definition.function
  (#set! definition.function.scope "parent"))
(program_declaration name: (identifier) @local.definition.function
  (#set! definition.function.scope "parent"))
(struct_declaration name: (identifier) @local.definition.type
  (#set! definition.type.scope "parent"))
(type_declaration name: (identifier) @local.definition.type
  (#set! definition.type.scope "parent"))
(import_declaration name: (identifier) @local.definition.import)
(import_declaration path: (path (identifier) @local.definition.import .))
(const_declaration name: (identifier) @local.definition.constant)
(dimension_parameter name: (identifier) @local.definition.parameter)
(type_parameter name: (identifier) @local.definition.type)
(sampled_dimension name: (identifier) @local.definition.parameter)
(parameter name: (identifier) @local.definition.parameter)
(result name: (identifier) @local.definition.parameter)
(tune_parameter name: (identifier) @local.definition.parameter)
(let_statement pattern: (identifier) @local.definition.var)
(var_statement pattern: (identifier) @local.definition.var)
(loop_binding pattern: (identifier) @local.definition.var)
(tuple_pattern (identifier) @local.definition.var)
(field_declaration name: (identifier) @local.definition.field)
(buffer_statement name: (identifier) @local.definition.var)
(event_statement name: (identifier) @local.definition.var)
(pipe_statement name: (identifier) @local.definition.var)

; References
(identifier) @local.reference
