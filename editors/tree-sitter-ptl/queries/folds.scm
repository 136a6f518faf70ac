[
  (block)
  (field_list)
  (schedule_body)
  (parameters)
  (results)
  (generic_parameters)
  (arguments)
  (list_expression)
  (tuple_expression)
  (block_comment)
] @fold

(doc_comment)+ @fold
(import_declaration)+ @fold
