// The grammar of PTL. It accepts what the compiler's parser accepts; `tests/tree_sitter` compares the two.
//
// All tokens but `;` come from `src/scanner.c`, which knows where line ends matter. `src/tokens.def` names them:
// `t('plus')` is a row of that table, `w('let')` a reserved word.
const fs = require('fs')
const path = require('path')

const read = (file) => fs.readFileSync(path.join(__dirname, 'src', file), 'utf8')
const rows = [...read('tokens.def').matchAll(/^(NAMED|HIDDEN|PUNCT|INFIX|SOFT|INFIX_WORD|SECOND)\((\w+)(?:, "([^"]*)")?/gm)]
  .map(([, kind, name, spelling]) => ({symbol: kind === 'NAMED' ? name : spelling ? `_token_${name}` : `_${name}`, name, spelling}))
const words = [...read('words.def').matchAll(/^RESERVED\((\w+)\)/gm)].map(([, word]) => word)
const spellings = Object.fromEntries(rows.filter((row) => row.spelling).map((row) => [row.name, row.spelling]))

const sym = (name) => ({type: 'SYMBOL', name})
const t = (name) => {
  if (!spellings[name]) throw new Error(`tokens.def has no ${name}`)
  return alias(sym(`_token_${name}`), spellings[name])
}
const w = (word) => {
  if (!words.includes(word)) throw new Error(`${word} is not reserved`)
  return alias(sym(`_word_${word}`), word)
}
const comma = t('comma')

// Elements between brackets; a comma may follow the last one.
const elements = (item) => optional(seq(item, repeat(seq(comma, item)), optional(comma)))
// Elements without brackets around them.
const list = (item, separator = comma) => seq(item, repeat(seq(separator, item)))
const openList = (item) => seq(list(item), optional(alias(sym('_last_comma'), ',')))
// Some of the parts, at least one, each at most once, in any order.
const anyOrder = (parts) =>
  choice(...parts.map((part, i) => {
    const others = parts.filter((_, k) => k !== i)
    return others.length ? seq(part, optional(anyOrder(others))) : part
  }))
// `{ … }` of items that end with their line or a separator.
const braces = (item, ...separators) =>
  seq(t('left_brace'), repeat(choice(...separators, item)), t('right_brace'))
const binary = (left, operators, right) =>
  seq(field('left', left), field('operator', choice(...operators)), field('right', right))

const PREC = {or: 1, and: 2, not: -1, comparison: 3, bitOr: 4, bitXor: 5, bitAnd: 6, shift: 7, sum: 8, product: 9, unary: 10, power: 11}

module.exports = grammar({
  name: 'ptl',

  externals: () => [...rows.map((row) => sym(row.symbol)), ...words.map((word) => sym(`_word_${word}`))],
  extras: ($) => [/\s/, $.line_comment, $.doc_comment, $.block_comment],
  supertypes: ($) => [$.declaration, $.statement, $.pattern, $.schedule_item],

  rules: {
    source_file: ($) => repeat(choice(';', seq($.declaration, $._end))),

    // ---- Declarations -------------------------------------------------------------------------------------
    declaration: ($) => choice(
      $.import_declaration, $.function_declaration, $.kernel_declaration, $.program_declaration,
      $.schedule_declaration, $.test_declaration, $.bench_declaration, $.property_declaration,
      alias($._public_const, $.const_declaration), $.type_declaration, $.struct_declaration),

    _pubs: () => repeat1(w('pub')),
    _manual_modifiers: ($) => seq(optional($._pubs), w('manual'), repeat(choice(w('pub'), w('manual')))),
    _extern_modifiers: ($) => seq(
      optional(choice($._pubs, $._manual_modifiers)),
      w('extern'), repeat(choice(w('pub'), w('manual'), w('extern')))),

    import_declaration: ($) => seq(
      w('import'),
      field('path', choice($.string, $.path)),
      optional(seq(t('import_colon'), openList(field('name', $.identifier))))),

    function_declaration: ($) => seq(optional($._pubs), w('fn'), $._signature, field('body', $.block)),
    program_declaration: ($) => seq(optional($._pubs), w('program'), $._signature, field('body', $.block)),
    kernel_declaration: ($) => choice(
      seq(optional(choice($._pubs, $._manual_modifiers)), w('kernel'), $._signature, field('body', $.block)),
      seq($._extern_modifiers, w('kernel'), $._signature)),

    _signature: ($) => seq(
      field('name', $.identifier),
      optional(field('generics', $.generic_parameters)),
      field('parameters', $.parameters),
      optional(field('results', $.results)),
      optional(choice($.on_clause, $.at_clause)),
      optional($.where_clause),
      optional($.tune_clause),
      optional($.extern_sources)),

    generic_parameters: ($) => seq(
      t('left_bracket'),
      elements(choice($.dimension_parameter, $.type_parameter, $.sampled_dimension)),
      t('right_bracket')),
    dimension_parameter: ($) => seq(optional(w('static')), field('name', $.identifier)),
    type_parameter: ($) => prec(1, seq(
      optional(w('static')), field('name', $.identifier), t('colon'), field('kind', $.identifier))),
    sampled_dimension: ($) => seq(
      optional(w('static')), field('name', $.identifier), t('colon'), field('domain', $._expression)),

    parameters: ($) => seq(t('left_paren'), elements($.parameter), t('right_paren')),
    parameter: ($) => seq(
      field('name', $.identifier), t('colon'),
      optional(t('inout_parameter')),
      field('type', $._type),
      optional(seq(t('equal'), field('default', $._expression)))),

    results: ($) => seq(t('arrow'), choice(
      seq(t('left_paren'), elements($.result), t('right_paren')),
      field('type', $._plain_type))),
    result: ($) => seq(
      optional(seq(field('name', $.identifier), t('colon'))),
      field('type', $._type),
      optional(seq(t('equal'), field('default', $._expression)))),

    on_clause: ($) => seq(
      w('on'), field('core', $.identifier), optional(seq(w('for'), openList(field('target', $.identifier))))),
    at_clause: ($) => seq(
      t('at_clause'), field('level', $.identifier), optional(seq(t('as'), field('role', $.identifier))),
      optional($.mesh)),
    mesh: ($) => seq(t('mesh'), field('level', $.identifier), t('as'), openList($.mesh_axis)),
    mesh_axis: ($) => seq(field('name', $.identifier), optional(seq(t('colon'), field('count', $._value)))),
    where_clause: ($) => seq(w('where'), openList($._expression)),
    tune_clause: ($) => seq(t('tune'), openList($.tune_parameter)),
    tune_parameter: ($) => seq(
      field('name', $.identifier),
      optional(seq(t('colon'), field('domain', choice($._tune_type, $._expression)))),
      t('equal'), field('default', $._expression)),
    extern_sources: ($) => seq(t('from'), openList($.extern_source)),
    extern_source: ($) => seq(field('target', $.identifier), field('symbol', $.string)),

    test_declaration: ($) => seq(w('test'), field('name', $.string), field('body', $.block)),
    bench_declaration: ($) => seq(w('bench'), field('name', $.string), field('body', $.block)),
    property_declaration: ($) => seq(
      w('property'), field('name', $.string),
      optional(field('generics', $.generic_parameters)),
      optional($.where_clause),
      field('body', $.block)),

    const_declaration: ($) => $._const,
    _public_const: ($) => seq(optional($._pubs), $._const),
    _const: ($) => seq(
      w('const'), field('name', $.identifier),
      optional(seq(t('colon'), field('type', $._type))),
      t('equal'), field('value', $._expression)),
    type_declaration: ($) => seq(
      optional($._pubs), w('type'), field('name', $.identifier),
      optional(field('generics', $.generic_parameters)),
      t('equal'), field('type', $._type)),
    struct_declaration: ($) => seq(
      optional($._pubs), w('struct'), field('name', $.identifier),
      optional(field('generics', $.generic_parameters)),
      field('body', $.field_list)),
    field_list: ($) => braces(seq($.field_declaration, choice($._end, comma)), ';', comma),
    field_declaration: ($) => seq(field('name', $.identifier), t('colon'), field('type', $._type)),

    // ---- Schedules ----------------------------------------------------------------------------------------
    schedule_declaration: ($) => seq(
      w('schedule'), field('name', $.path),
      optional(seq(w('on'), field('target', $.identifier))),
      optional(seq(t('when'), field('condition', $._expression))),
      field('body', $.schedule_body)),
    schedule_body: ($) => braces(seq($.schedule_item, choice($._end, comma)), ';', comma),
    schedule_item: ($) => choice(
      $.schedule_assignment, $.schedule_block, $.tile_item, $.fuse_item, $.order_item, $.l0_item,
      $.place_item, $.split_item, $.cores_item, $.pipeline_item, $.unroll_item),
    schedule_assignment: ($) => seq(field('name', $.identifier), t('equal'), field('value', $._expression)),
    schedule_block: ($) => seq(field('label', $.identifier), field('body', $.schedule_body)),
    tile_item: ($) => seq(t('item_tile'), list($.tile_axis, alias($._tile_comma, ','))),
    tile_axis: ($) => seq(field('axis', $.identifier), t('by'), field('size', $._value)),
    fuse_item: ($) => seq(t('item_fuse'), list(field('label', $.identifier), alias($._label_comma, ','))),
    order_item: ($) => seq(t('item_order'), list(field('label', $.identifier), alias($._label_comma, ','))),
    l0_item: ($) => seq(t('item_l0'), list($._value, alias($._l0_comma, ','))),
    place_item: ($) => seq(t('item_place'), alias($._item_place_name, $.place)),
    _item_place_name: ($) => seq(t('place_at'), $._place_name),
    split_item: ($) => seq(t('item_split'), t('after'), field('label', $.identifier)),
    // `cores 20`, and in the block of a movement `chunks 8` and `how ring`.
    cores_item: ($) => seq(t('item_cores'), field('count', $._value)),
    pipeline_item: ($) => seq(t('item_pipeline'), field('label', $.identifier), field('depth', $._value)),
    unroll_item: ($) => seq(
      t('item_unroll'), field('label', $.identifier), optional(seq($._item_count, field('count', $._value)))),

    // ---- Types --------------------------------------------------------------------------------------------
    _type: ($) => choice($.tuple_type, $._plain_type),
    tuple_type: ($) => seq(t('left_paren'), elements($._type), t('right_paren')),
    _plain_type: ($) => seq(choice($._base_type, $.array_type), $._close),
    _base_type: ($) => choice($.element_type, $.inferred_type, $.accumulator_type, $.named_type),
    inferred_type: () => t('inferred'),
    accumulator_type: ($) => seq(
      t('acc'), t('left_paren'), list($._type), optional(comma), t('right_paren')),
    named_type: ($) => $.path,
    array_type: ($) => seq(field('base', $._base_type), $._type_suffixes),
    // The domain of a tunable is a type if it begins with an element type.
    _tune_type: ($) => seq(
      choice(alias($._tune_element, $.element_type), alias($._tune_array_type, $.array_type)),
      $._close),
    _tune_array_type: ($) => seq(field('base', alias($._tune_element, $.element_type)), $._type_suffixes),
    _type_suffixes: ($) => {
      const suffixes = anyOrder([
        field('place', $.place),
        seq(t('strides'), field('strides', alias($._strides, $.shape))),
        field('distribution', $.distribution)])
      return choice(seq(field('shape', $.shape), optional(suffixes)), suffixes)
    },
    shape: ($) => seq(t('index_bracket'), elements(choice($.rest, $._expression)), t('right_bracket')),
    _strides: ($) => seq(t('left_bracket'), elements(choice($.rest, $._expression)), t('right_bracket')),
    rest: () => t('rest'),
    place: ($) => seq(t('at'), $._place_name),
    _place_name: ($) => seq(field('name', $.identifier), optional(field('layout', $.layout))),
    layout: () => choice(t('layout_nd'), t('layout_dn'), t('layout_nz')),
    distribution: ($) => repeat1(choice(
      seq(t('over'), list($.cut_placement, seq($._cut_mark, comma))),
      seq($._placed_mark, choice($.partial_placement, $.part_placement)))),
    cut_placement: ($) => seq(list(field('level', $.identifier)), t('by'), field('axis', $._value)),
    partial_placement: ($) => seq(
      t('partial'), t('left_paren'), field('fold', choice(t('plus'), t('atomic_max'), t('atomic_min'))), t('right_paren'),
      t('partial_over'), list(field('level', $.identifier), seq($._partial_mark, comma))),
    part_placement: ($) => seq(t('part_at'), field('level', $.identifier), field('part', $.integer)),

    // ---- Statements ---------------------------------------------------------------------------------------
    block: ($) => braces(seq($.statement, $._end), ';'),
    statement: ($) => choice(
      $.let_statement, $.var_statement, $.const_declaration, $.for_statement, $.parallel_statement,
      $.while_statement, $.if_statement, $.break_statement, $.continue_statement, $.return_statement,
      $.assert_statement, $.print_statement, $.atomic_statement, $.task_statement, $.pipe_statement,
      $.on_statement, $.buffer_statement, $.event_statement, $.block, $.assignment, $.expression_statement),

    let_statement: ($) => seq(
      w('let'), field('pattern', $.pattern),
      optional(seq(t('colon'), field('type', $._type))),
      t('equal'), field('value', $._expression)),
    var_statement: ($) => seq(w('var'), field('pattern', $.pattern), choice(
      seq(t('colon'), field('type', $._type), optional(seq(t('equal'), field('value', $._expression)))),
      seq(t('equal'), field('value', $._expression)))),
    pattern: ($) => choice($.identifier, $.tuple_pattern),
    tuple_pattern: ($) => seq(t('left_paren'), elements($.pattern), t('right_paren')),

    for_statement: ($) => seq(optional(w('static')), w('for'), $._loop),
    parallel_statement: ($) => seq(w('parallel'), $._loop),
    _loop: ($) => seq(
      openList($.loop_binding),
      optional(anyOrder([
        seq(t('as'), field('label', $.identifier)),
        seq(t('pipeline'), field('pipeline', $._value)),
        $.unroll,
        $.checkpoint])),
      field('body', $.block)),
    loop_binding: ($) => seq(field('pattern', $.pattern), t('in'), field('domain', $._expression)),
    unroll: ($) => seq(t('unroll'), optional(seq($._unroll_count, field('count', $._value)))),
    checkpoint: ($) => seq(
      t('checkpoint'), field('folder', $.string), t('every'), field('every', $._value),
      optional(seq(t('keep'), field('keep', $._value)))),
    while_statement: ($) => seq(w('while'), field('condition', $._expression), field('body', $.block)),

    if_statement: ($) => seq(optional(w('static')), t('if_statement'), $._if),
    if_expression: ($) => seq(w('if'), $._if),
    _if: ($) => seq(
      field('condition', $._expression), field('then', $.block),
      optional(seq(w('else'), field('else', choice($.block, $.if_expression))))),

    break_statement: () => w('break'),
    continue_statement: () => w('continue'),
    return_statement: ($) => seq(w('return'), optional(seq($._return_value, field('value', $._expression)))),
    assert_statement: ($) => seq(
      w('assert'), t('left_paren'), field('condition', $._expression),
      optional(seq(comma, field('message', $._expression))), optional(comma), t('right_paren')),
    print_statement: ($) => seq(t('print'), t('left_paren'), elements($._expression), t('right_paren')),
    atomic_statement: ($) => seq(
      w('atomic'), field('target', $._postfix), $._close,
      field('operator', choice(t('atomic_plus'), seq(choice(t('atomic_max'), t('atomic_min')), t('equal')))),
      field('value', $._expression)),
    assignment: ($) => seq(
      field('target', $._expression),
      field('operator', choice(...rows.map((row) => row.name).filter((name) => /^assign/.test(name)).map(t))),
      field('value', $._expression)),
    expression_statement: ($) => $._expression,

    task_statement: ($) => seq(w('task'), field('name', $.identifier), field('body', $.block)),
    on_statement: ($) => seq(
      w('on'), field('core', $.identifier),
      optional(choice(seq(t('split'), field('split', $.identifier)), $._part)),
      field('body', $.block)),
    _part: ($) => field('part', choice($.integer, alias($._stages, $.loop_binding))),
    _stages: ($) => seq(field('pattern', $.identifier), t('in'), field('domain', $._expression)),
    pipe_statement: ($) => seq(
      w('pipe'), field('name', $.identifier), optional($._count), t('colon'), field('type', $._type),
      optional(seq(t('depth'), field('depth', $._value)))),
    buffer_statement: ($) => seq(
      w('buffer'), field('name', $.identifier), optional($._count), t('colon'), field('type', $._type),
      optional(seq(t('buffer_at'), field('address', $._value)))),
    event_statement: ($) => seq(
      w('event'), field('name', $.identifier), optional($._count), t('colon'),
      field('from', $.path), t('arrow'), field('to', $.path),
      optional(seq(t('event_id'), field('number', $._value)))),
    _count: ($) => seq(t('left_bracket'), field('count', $._expression), t('right_bracket')),

    // ---- Expressions --------------------------------------------------------------------------------------
    _expression: ($) => choice($.range_expression, $._value),
    _value: ($) => seq($._operand, $._close),
    range_expression: ($) => seq(
      field('start', $._value), t('range'), field('end', $._value),
      optional(seq(t('step'), field('step', $._value)))),

    // `or`, `and`, `not` and comparisons, which do not chain, have rules of their own.
    _operand: ($) => choice(alias($._logical, $.binary_expression), $._negation),
    _logical: ($) => choice(
      prec.left(PREC.or, binary($._operand, [w('or')], $._operand)),
      prec.left(PREC.and, binary($._operand, [w('and')], $._operand))),
    _negation: ($) => choice(alias($._not, $.unary_expression), $._comparison),
    _not: ($) => seq(field('operator', w('not')), field('operand', $._negation)),
    _comparison: ($) => choice(alias($._compared, $.binary_expression), $._term),
    _compared: ($) => prec(PREC.comparison, binary(
      $._term,
      ['equals', 'differs', 'less', 'less_equal', 'greater', 'greater_equal'].map(t),
      $._term)),
    _term: ($) => choice(
      alias($._binary, $.binary_expression),
      alias($._unary, $.unary_expression),
      $._postfix),
    _binary: ($) => choice(
      ...[
        [PREC.bitOr, ['bit_or']],
        [PREC.bitXor, ['bit_xor']],
        [PREC.bitAnd, ['bit_and']],
        [PREC.shift, ['shift_left', 'shift_right']],
        [PREC.sum, ['plus', 'minus']],
        [PREC.product, ['star', 'slash', 'percent', 'at']],
      ].map(([level, operators]) => prec.left(level, binary($._term, operators.map(t), $._term))),
      prec.right(PREC.power, binary($._postfix, [t('power')], $._term))),
    // `not` behind a tighter operator takes one operand only.
    _unary: ($) => choice(
      prec(PREC.unary, seq(field('operator', choice(t('negate'), t('tilde'))), field('operand', $._term))),
      prec(PREC.not, seq(field('operator', w('not')), field('operand', $._term)))),

    _postfix: ($) => choice(
      $.call_expression, $.index_expression, $.member_expression,
      $.identifier, $.integer, $.float, $.size, $.boolean, $.string, $.element_type,
      alias($._element_array, $.array_type), $.if_expression, $.parenthesized_expression,
      $.tuple_expression, $.list_expression, $.dot_name),
    call_expression: ($) => seq(field('function', $._postfix), field('arguments', $.arguments)),
    arguments: ($) => seq(
      t('call_paren'),
      optional(seq(
        choice(
          seq(list($._positional), repeat(seq(comma, $.named_argument))),
          list($.named_argument)),
        optional(comma))),
      t('right_paren')),
    _positional: ($) => choice($._expression, $.inout_argument),
    inout_argument: ($) => seq(t('inout_argument'), field('value', $._expression)),
    named_argument: ($) => seq(
      field('name', $.identifier), t('colon'), optional(t('inout_argument')), field('value', $._expression)),
    index_expression: ($) => seq(
      field('base', $._postfix), t('index_bracket'),
      elements(choice($.rest, $.new_axis, $.slice, $._expression)), t('right_bracket')),
    new_axis: () => w('new'),
    slice: ($) => seq(
      optional(field('start', $._expression)), t('colon'), optional(field('stop', $._expression)),
      optional(seq(t('colon'), optional(field('step', $._expression))))),
    member_expression: ($) => seq(field('base', $._postfix), t('dot'), field('name', $.identifier)),
    dot_name: ($) => seq(t('first_dot'), field('name', $.identifier)),
    _element_array: ($) => prec(1, seq(field('base', $.element_type), field('shape', $.shape))),
    parenthesized_expression: ($) => seq(t('left_paren'), $._expression, t('right_paren')),
    tuple_expression: ($) => seq(
      t('left_paren'),
      optional(seq($._expression, comma, optional(seq(list($._expression), optional(comma))))),
      t('right_paren')),
    list_expression: ($) => seq(t('left_bracket'), elements($._expression), t('right_bracket')),

    string: ($) => seq(
      alias($._text_open, '"'),
      repeat(choice($.escape_sequence, alias($._text_content, $.string_content))),
      alias($._text_close, '"')),
    path: ($) => seq($.identifier, repeat(seq(t('dot'), $.identifier))),
  },
})
