; The captures of Neovim; `indents.scm` of other editors differ.
[
  (block)
  (field_list)
  (schedule_body)
  (parameters)
  (generic_parameters)
  (arguments)
  (list_expression)
  (tuple_expression)
  (parenthesized_expression)
  (index_expression)
] @indent.begin

[
  "}"
  ")"
  "]"
] @indent.branch

(block "}" @indent.end)
(field_list "}" @indent.end)
(schedule_body "}" @indent.end)

[
  (line_comment)
  (doc_comment)
  (block_comment)
] @indent.ignore

(ERROR) @indent.auto
