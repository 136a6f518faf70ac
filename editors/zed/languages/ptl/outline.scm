(function_declaration "fn" @context name: (identifier) @name) @item
(kernel_declaration "kernel" @context name: (identifier) @name) @item
(program_declaration "program" @context name: (identifier) @name) @item
(struct_declaration "struct" @context name: (identifier) @name) @item
(type_declaration "type" @context name: (identifier) @name) @item
(test_declaration "test" @context name: (string) @name) @item
(property_declaration "property" @context name: (string) @name) @item
(bench_declaration "bench" @context name: (string) @name) @item
