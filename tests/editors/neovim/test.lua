-- What someone does in Neovim with a `.ptl` file; each step is a line in the file `results`.
local results = {}
local function finish()
  vim.fn.writefile(results, 'results')
  vim.cmd('qall!')
end

local function record(ok, what, found)
  table.insert(results, (ok and 'ok      ' or 'FAILED  ') .. what .. (ok and '' or ': ' .. vim.inspect(found)))
end

local function wait(condition)
  return vim.wait(10000, condition, 10)
end

--- Waits until `probe()` holds; what it found last is shown otherwise.
local function expect(what, probe)
  local ok, found
  wait(function()
    ok, found = probe()
    return ok
  end)
  record(ok, what, found)
end

--- A floating window that `open` makes shows `pattern`; it may have to be asked again.
local function expect_popup(what, open, pattern)
  local seen = ''
  expect(what, function()
    open()
    vim.wait(300, function()
      for _, window in ipairs(vim.api.nvim_list_wins()) do
        if vim.api.nvim_win_get_config(window).relative ~= '' then
          seen = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
          vim.api.nvim_win_close(window, true)
          return true
        end
      end
    end, 10)
    return seen:find(pattern) ~= nil, seen
  end)
end

local source = vim.api.nvim_get_current_buf()
local function text_of(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

--- Puts the cursor at the first character of `word` in the first line that has `line`; both plain.
local function place(line, word)
  for number, text in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    if text:find(line, 1, true) then
      vim.api.nvim_win_set_cursor(0, { number, text:find(word, 1, true) - 1 })
      return
    end
  end
  error('no line has ' .. line)
end

local function messages()
  return vim.tbl_map(function(each)
    return each.message
  end, vim.diagnostic.get(source))
end

local function request(method, more)
  local params = vim.tbl_extend('force', vim.lsp.util.make_position_params(0, 'utf-16'), more or {})
  local answers = vim.lsp.buf_request_sync(source, method, params, 5000) or {}
  for _, answer in pairs(answers) do
    return answer.result, answer.err or answer.error
  end
end

local function preview_buffer()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.api.nvim_buf_get_name(buf):find('ptl-ir:/', 1, true) then
      return buf
    end
  end
end

local function run()
  record(vim.bo.filetype == 'ptl', 'the file type is ptl', vim.bo.filetype)
  if vim.treesitter.start then
    local parsers = vim.api.nvim_get_runtime_file('parser/ptl.so', true)
    record(vim.treesitter.highlighter.active[source] ~= nil, 'the parser colours', parsers)
  else
    place('let rows', 'let')
    local group = vim.fn.synIDattr(vim.fn.synID(vim.fn.line('.'), vim.fn.col('.'), 1), 'name')
    record(group == 'ptlKeywords', 'the syntax file colours', group)
  end
  record(vim.bo.commentstring == '// %s', 'comments begin with //', vim.bo.commentstring)

  expect('an error is shown', function()
    return table.concat(messages(), '\n'):find('contracted extents differ') ~= nil, messages()
  end)

  -- Its fix: the first action at the error, applied as Neovim does.
  place('return q @ k', '@')
  local range = vim.lsp.util.make_range_params(0, 'utf-16')
  range.context = { diagnostics = {} }
  for _, each in ipairs(vim.diagnostic.get(source)) do
    local original = each.user_data and each.user_data.lsp
    table.insert(range.context.diagnostics, {
      range = {
        start = { line = each.lnum, character = each.col },
        ['end'] = { line = each.end_lnum, character = each.end_col },
      },
      message = each.message,
      code = original and original.code or each.code,
    })
  end
  local actions = request('textDocument/codeAction', range) or {}
  local fix
  for _, action in ipairs(actions) do
    fix = fix or (action.kind == 'quickfix' and action)
  end
  if fix and not fix.edit then
    fix = vim.tbl_values(vim.lsp.buf_request_sync(source, 'codeAction/resolve', fix, 5000))[1].result
  end
  if fix and fix.edit then
    vim.lsp.util.apply_workspace_edit(fix.edit, 'utf-16')
  end
  record(text_of(source):find('q @ k.T', 1, true) ~= nil, 'a code action repairs it', actions)
  if not text_of(source):find('q @ k.T', 1, true) then
    place('return q @ k', 'k')
    vim.cmd('normal! aX.T')
    vim.cmd('normal! 0')
    vim.api.nvim_set_current_line('    return q @ k.T')
  end
  expect('the error goes with the edit', function()
    return #messages() == 0, messages()
  end)

  -- Hover: the shape of a tile.
  place('let rows', 'rows')
  expect_popup('hover shows the shape of a tile', vim.lsp.buf.hover, 'f32%[r, C%]')

  -- Definition: in this file, and in another.
  place('y[r] = part', 'part')
  vim.lsp.buf.definition()
  expect('definition jumps', function()
    local line = vim.api.nvim_get_current_line()
    return line:find('let part', 1, true) ~= nil, line
  end)
  place('= softmax(rows)', 'softmax')
  vim.lsp.buf.definition()
  expect('definition jumps into another file', function()
    local name = vim.api.nvim_buf_get_name(0)
    return name:find('shapes.ptl', 1, true) ~= nil and vim.fn.line('.') == 2, { name, vim.fn.line('.') }
  end)
  vim.cmd('buffer ' .. source)

  place('let part', 'part')
  local renamed = request('textDocument/rename', { newName = 'piece' })
  if renamed then
    vim.lsp.util.apply_workspace_edit(renamed, 'utf-16')
  end
  record(text_of(source):find('y[r] = piece + piece', 1, true) ~= nil, 'rename changes all uses', renamed)

  local edits, err = request('textDocument/formatting', { options = { tabSize = 4, insertSpaces = true } })
  if edits then
    vim.lsp.util.apply_text_edits(edits, source, 'utf-16')
  end
  record(text_of(source):find('kernel twice', 1, true) ~= nil, 'formatting', err or edits)

  place('y[r] = piece', 'piece')
  local completions = request('textDocument/completion', { context = { triggerKind = 1 } }) or {}
  local labels = vim.tbl_map(function(item)
    return item.label
  end, completions.items or completions)
  record(vim.tbl_contains(labels, 'piece'), 'completion offers what is in scope', labels)

  -- Lenses, and a test run by its lens.
  local lenses = request('textDocument/codeLens') or {}
  local lens
  for _, each in ipairs(lenses) do
    local command = each.command
    if not command then
      command = vim.tbl_values(vim.lsp.buf_request_sync(source, 'codeLens/resolve', each, 5000))[1].result.command
    end
    lens = lens or (command.command == 'ptl.runTest' and command)
  end
  record(lens, 'a lens offers to run a test', lenses)
  if lens then
    vim.lsp.commands['ptl.runTest'](lens, { bufnr = source })
    local terminal = vim.api.nvim_get_current_buf()
    expect('the lens runs the test', function()
      return text_of(terminal):find('1 passed') ~= nil or text_of(terminal):find('ok') ~= nil, text_of(terminal)
    end)
    vim.cmd('bdelete! ' .. terminal)
    vim.cmd('buffer ' .. source)
  end

  -- A preview that follows.
  local stages = require('ptl.preview').stage_ids()
  record(vim.tbl_contains(stages, 'tile'), 'the stages are known', stages)
  place('y[r] = piece', 'piece')
  vim.cmd('PtlPreview tile')
  local shown = ''
  expect('a preview opens with IR', function()
    local buf = preview_buffer()
    shown = buf and text_of(buf) or ''
    return shown:find('ptl.add', 1, true) ~= nil or shown:find('arith.addf', 1, true) ~= nil, shown
  end)
  local preview = preview_buffer()
  if not preview then
    return
  end
  record(vim.bo[preview].filetype == 'mlir', 'its file type is mlir', vim.bo[preview].filetype)
  record(vim.api.nvim_get_current_buf() == source, 'the source keeps the cursor', vim.api.nvim_buf_get_name(0))
  vim.api.nvim_set_current_line('        y[r] = piece * piece * 7.5')
  expect('the preview follows an edit', function()
    shown = text_of(preview)
    return shown:find('7.5', 1, true) ~= nil, shown
  end)

  -- Both ways between the two.
  place('y[r] = piece', 'piece * 7.5')
  local source_line = vim.fn.line('.')
  expect('a place of the source has lines in the preview', function()
    vim.cmd('silent PtlJump')
    return vim.api.nvim_get_current_buf() == preview, vim.api.nvim_buf_get_name(0)
  end)
  if vim.api.nvim_get_current_buf() == preview then
    expect_popup('hover in the preview shows the source', require('ptl.preview').hover, 'piece')
    vim.cmd('PtlJump')
    expect('a line of the preview has its source', function()
      local at = { vim.api.nvim_get_current_buf(), vim.fn.line('.') }
      return at[1] == source and at[2] == source_line, at
    end)
  end

  -- IR that the compiler wrote into a file leads to the source, too.
  vim.cmd('silent write')
  local options = { '--entry', 'twice', '-g', '--emit=ir:tile', '-o', 'steps.mlir' }
  vim.fn.system(vim.list_extend({ vim.g.ptl_compiler, 'build', 'steps.ptl' }, options))
  vim.cmd('edit steps.mlir')
  local dumped = vim.api.nvim_get_current_buf()
  expect('the server reads IR in a file', function()
    return #require('ptl').clients(dumped) > 0, vim.bo.filetype
  end)
  if vim.fn.search('7.5') > 0 then
    expect_popup('hover in it', vim.lsp.buf.hover, '%S')
  end
  record(vim.fn.search('ptl.store') > 0, 'it is tile IR', text_of(dumped))
  vim.lsp.buf.definition()
  expect('its lines have a source', function()
    return vim.api.nvim_get_current_buf() == source, vim.api.nvim_buf_get_name(0)
  end)
  vim.cmd('buffer ' .. source)

  -- An error leaves the last text, marked.
  vim.api.nvim_buf_set_lines(source, source_line - 1, source_line, false, { '        y[r] = piece * ' })
  expect('a preview of broken source is stale', function()
    return vim.b[preview].ptl_stale == true and #text_of(preview) > 100, { vim.b[preview].ptl_stale, text_of(preview) }
  end)
end

--- The adapter for neotest, whose part is played here: it finds blocks, runs them with the compiler, and reads what came of it.
local function neotest()
  local adapter = require('neotest-ptl')
  local path = vim.fn.getcwd() .. '/checks.ptl'
  vim.fn.writefile({
    'kernel twice[N](x: f32[N]) -> (y: f32[N])',
    '{',
    '    parallel r in tiles(N, 64) { y[r] = x[r] + x[r] }',
    '}',
    'test "a \\"good\\" one" {',
    '    expect_equal(twice(ones(f32[70])), 2.0)',
    '}',
    'property "short"[N: 1..300] {',
    '    for i in 0..N { assert(i < 77) }',
    '}',
    '// test "none" {',
    'test "in a line" { expect(true) }',
  }, path)
  package.loaded['neotest.lib'] = { positions = { parse_tree = function(list) return list end } }
  local found = {}
  for _, each in ipairs(adapter.discover_positions(path)) do
    table.insert(found, ('%s %s %d-%d'):format(each.type, each.name, each.range[1], each.range[3]))
  end
  record(vim.deep_equal(found, { 'file checks.ptl 0-12', 'test a "good" one 4-6', 'test short 7-9', 'test in a line 11-11' }),
    'neotest: blocks are found', found)
  record(adapter.is_test_file(path) and not adapter.is_test_file(vim.fn.getcwd() .. '/results'), 'neotest: files with tests are known')

  local function run_position(position, strategy)
    local tree = { data = function() return position end }
    local spec = adapter.build_spec({ tree = tree, strategy = strategy })
    local output = vim.fn.system(spec.command)
    return adapter.results(spec, { code = vim.v.shell_error, output = 'output' }, tree), spec, output
  end
  local all, _, output = run_position({ type = 'file', path = path, id = path, name = 'checks.ptl' })
  local short = all[path .. '::short'] or {}
  record((all[path .. '::a "good" one'] or {}).status == 'passed' and (all[path .. '::in a line'] or {}).status == 'passed',
    'neotest: what passed on all executors has passed', { all, output })
  record(short.status == 'failed' and #short.errors == 2 and short.errors[1].line == 8
    and short.errors[1].message:find('`i` is 77 %(%w+%), with N = 78$') ~= nil, 'neotest: a failure has its line and the shrunk case', { short, output })
  local one, spec = run_position({ type = 'test', path = path, id = path .. '::short', name = 'short' }, 'dap')
  record(vim.tbl_count(one) == 1 and spec.strategy.test == 'short' and spec.strategy.program == path, 'neotest: one block alone, and for a debugger', one)
  local none = run_position({ type = 'file', path = path .. '.none', id = 'none', name = 'none' })
  record(none.none and none.none.status == 'failed', 'neotest: what cannot be run has failed', none)
  record(adapter.build_spec({ tree = { data = function() return { type = 'dir' } end } }) == nil, 'neotest: folders are left to it')
end

local ok, problem = xpcall(run, debug.traceback)
if ok then
  ok, problem = xpcall(neotest, debug.traceback)
end
if not ok then
  record(false, 'the test ran to its end', problem)
end
finish()
