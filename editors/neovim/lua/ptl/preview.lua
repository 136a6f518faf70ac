-- Previews: buffers named `ptl-ir:/…`, filled by the server, made anew as the source is edited, and
-- linked with it line by line.
local ptl = require('ptl')
local M = {}

local highlights = vim.api.nvim_create_namespace('ptl_linked')
local notes = vim.api.nvim_create_namespace('ptl_note')
local filetypes = { mlir = 'mlir', llvm = 'llvm', asm = 'asm', ['ptl-tree'] = 'ptltree' }
local known_stages = nil
--- Of each preview's buffer: what the server answered, the client, the request under way.
local previews = {}
--- A preview whose text an edit leaves alone still has other places; it is asked for after so long.
local settle_time = 250

local function uri_of(buf)
  return vim.api.nvim_buf_get_name(buf):match('ptl%-ir:/.*$')
end

local function buffer_of(uri)
  for buf in pairs(previews) do
    if vim.api.nvim_buf_is_valid(buf) and uri_of(buf) == uri then
      return buf
    end
  end
end

local function client_of(buf)
  local preview = previews[buf]
  return preview and preview.client or ptl.clients(buf)[1]
end

-- ---- The text -----------------------------------------------------------------------------------

--- Why there is no text.
local function reasons(result)
  local lines = { '// there is nothing to show yet' }
  for _, each in ipairs(result.diagnostics or {}) do
    for line in ((each.code or '') .. ': ' .. each.message):gmatch('[^\n]+') do
      table.insert(lines, '// ' .. line)
    end
  end
  if result.error then
    table.insert(lines, '// ' .. (type(result.error) == 'string' and result.error or vim.inspect(result.error)))
  end
  return lines
end

--- Fold level of each line, as `foldexpr` answers it.
local function fold_levels(folds)
  local levels, starts = {}, {}
  for _, fold in ipairs(folds or {}) do
    for line = fold.start + 1, fold['end'] + 1 do
      levels[line] = (levels[line] or 0) + 1
    end
    starts[fold.start + 1] = true
  end
  for line in pairs(starts) do
    levels[line] = '>' .. levels[line]
  end
  return levels
end

function M.foldexpr(line)
  local preview = previews[vim.api.nvim_get_current_buf()]
  return preview and preview.levels[line] or 0
end

local function show_note(buf, result)
  vim.api.nvim_buf_clear_namespace(buf, notes, 0, -1)
  local words = {}
  if result.stale then
    table.insert(words, 'stale: the source does not compile now')
  end
  if result.note and result.note ~= '' then
    table.insert(words, result.note)
  end
  vim.b[buf].ptl_title = table.concat({ result.entry or 'PTL', result.stage, result.stale and 'stale' or nil }, ' · ')
  vim.b[buf].ptl_stale = result.stale or false
  vim.b[buf].ptl_note = result.note or ''
  if #words > 0 then
    vim.api.nvim_buf_set_extmark(buf, notes, 0, 0, { virt_text = { { table.concat(words, ' · '), 'Comment' } } })
  end
end

--- Replaces the lines between what two texts have in common at both ends, so that cursors stay.
local function set_lines(buf, lines)
  local old = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local first, last = 0, 0
  local most = math.min(#old, #lines)
  while first < most and old[first + 1] == lines[first + 1] do
    first = first + 1
  end
  while last < most - first and old[#old - last] == lines[#lines - last] do
    last = last + 1
  end
  if first + last == #old and #old == #lines then
    return
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, first, #old - last, false, vim.list_slice(lines, first + 1, #lines - last))
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

local function show(buf, result)
  local preview = previews[buf]
  local is_first = not preview.result
  preview.result = result
  preview.levels = fold_levels(result.folds)
  local has_text = result.text ~= ''
  set_lines(buf, has_text and vim.split((result.text:gsub('\n$', '')), '\n') or reasons(result))
  show_note(buf, result)
  if is_first then
    vim.api.nvim_buf_call(buf, function()
      vim.cmd('normal! gg')
    end)
  end
  if has_text and vim.bo[buf].filetype == '' then
    vim.bo[buf].filetype = filetypes[result.languageId] or result.languageId
  end
end

--- Brings a preview up to date; at most one request for each is under way.
function M.refresh(buf)
  local preview = previews[buf]
  if not preview then
    return
  end
  if preview.running then
    preview.again = true
    return
  end
  preview.running, preview.again = true, false
  local function done(err, result)
    preview.running = false
    if not vim.api.nvim_buf_is_loaded(buf) or previews[buf] ~= preview then
      return
    end
    if err then
      show(buf, { text = '', error = err.message })
    elseif type(result) == 'table' then
      show(buf, result)
    end
    if preview.again then
      M.refresh(buf)
    end
  end
  local client, params = preview.client, { uri = uri_of(buf) }
  local handler = vim.schedule_wrap(done)
  if vim.fn.has('nvim-0.11') == 1 then
    client:request('ptl/virtualDocument', params, handler)
  else
    client.request('ptl/virtualDocument', params, handler)
  end
end

function M.refresh_uri(uri)
  local buf = buffer_of(uri)
  if buf then
    M.refresh(buf)
  end
end

-- ---- Buffers ------------------------------------------------------------------------------------

local function set_up(buf)
  vim.bo[buf].buftype = 'nofile'
  vim.bo[buf].swapfile = false
  vim.bo[buf].modifiable = false
  -- A preview that nobody sees is not made; shown again, it is read again.
  vim.bo[buf].bufhidden = 'unload'
  local function map(keys, action)
    vim.keymap.set('n', keys, action, { buffer = buf, silent = true })
  end
  map('<CR>', M.jump)
  map('gd', M.jump)
  map('K', M.hover)
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = buf,
    callback = function()
      M.highlight_sources(buf)
    end,
  })
  vim.api.nvim_create_autocmd('BufWinEnter', {
    buffer = buf,
    callback = function()
      vim.cmd([[setlocal nowrap foldmethod=expr foldlevel=99 foldexpr=v:lua.require'ptl.preview'.foldexpr(v:lnum)]])
      vim.cmd([[setlocal statusline=%{get(b:,'ptl_title','PTL')}%=%l,%c\ %P]])
    end,
  })
  vim.api.nvim_create_autocmd('BufUnload', {
    buffer = buf,
    callback = function()
      local preview = previews[buf]
      previews[buf] = nil
      if preview and vim.lsp.get_client_by_id(preview.client.id) then
        ptl.notify(preview.client, 'ptl/virtualDocumentClosed', { uri = uri_of(buf) })
      end
    end,
  })
end

--- Fills the buffer of a preview: called when one is read.
function M.read(buf)
  local client = ptl.clients()[1]
  if not client then
    ptl.warn('no server runs: open the source first')
    return
  end
  local is_new = not previews[buf]
  previews[buf] = { client = client, levels = {} }
  if is_new then
    set_up(buf)
    ptl.notify(client, 'ptl/virtualDocumentOpened', { uri = uri_of(buf) })
  end
  M.refresh(buf)
end

local function show_buffer(uri)
  local buf = buffer_of(uri) or vim.fn.bufadd(uri)
  vim.bo[buf].buflisted = true
  local window = vim.fn.bufwinid(buf)
  if window ~= -1 then
    M.refresh(buf)
    return buf
  end
  local source = vim.api.nvim_get_current_win()
  vim.cmd('keepalt rightbelow vertical sbuffer ' .. buf)
  vim.api.nvim_set_current_win(source)
  return buf
end

-- ---- Commands -----------------------------------------------------------------------------------

--- Names of the stages, for completion; empty until the server was asked.
function M.stage_ids()
  if not known_stages then
    local client = ptl.clients()[1]
    local answer = client and vim.lsp.buf_request_sync(0, 'ptl/stages', vim.empty_dict(), 1000)
    for _, each in pairs(answer or {}) do
      known_stages = each.result or known_stages
    end
  end
  return vim.tbl_map(function(stage)
    return stage.id
  end, known_stages or {})
end

--- Opens a preview beside the source: `stage`, and `entry` of `uri`, else what is under the cursor.
function M.open(options, done)
  local buf = options.uri and vim.uri_to_bufnr(options.uri) or vim.api.nvim_get_current_buf()
  local client = client_of(buf)
  local params = {
    textDocument = { uri = vim.uri_from_bufnr(buf) },
    stage = options.stage or vim.g.ptl_stage or 'tile',
    entry = options.entry,
  }
  if not options.entry and client then
    params.position = vim.lsp.util.make_position_params(0, client.offset_encoding).position
  end
  ptl.request(client, 'ptl/preview', params, function(result)
    if type(result) ~= 'table' then
      ptl.warn('there is no kernel, program or fn here')
      return
    end
    local opened = show_buffer(result.uri)
    if done then
      done(opened)
    end
  end, buf)
end

function M.choose()
  local buf = vim.api.nvim_get_current_buf()
  ptl.request(client_of(buf), 'ptl/stages', vim.empty_dict(), function(stages)
    known_stages = stages
    vim.ui.select(stages, {
      prompt = 'Preview',
      format_item = function(stage)
        return stage.title .. ': ' .. stage.summary
      end,
    }, function(stage)
      if stage then
        M.open({ stage = stage.id })
      end
    end)
  end, buf)
end

--- Two stages of what is under the cursor in a new tab page, with their differences.
function M.diff(first, second)
  if not second then
    ptl.warn('give two stages')
    return
  end
  M.open({ stage = first }, function(left)
    M.open({ stage = second }, function(right)
      vim.cmd('tab sbuffer ' .. left)
      vim.cmd('diffthis')
      vim.cmd('rightbelow vertical sbuffer ' .. right)
      vim.cmd('diffthis')
    end)
  end)
end

function M.hover()
  local buf = vim.api.nvim_get_current_buf()
  local client = client_of(buf)
  local cursor = vim.api.nvim_win_get_cursor(0)
  local params = { uri = uri_of(buf), position = { line = cursor[1] - 1, character = cursor[2] } }
  ptl.request(client, 'ptl/previewHover', params, function(result)
    if type(result) ~= 'table' then
      return
    end
    local lines = vim.lsp.util.convert_input_to_markdown_lines(result.contents)
    vim.lsp.util.open_floating_preview(lines, 'markdown', { focus_id = 'ptl' })
  end)
end

-- ---- Links both ways ----------------------------------------------------------------------------

--- Sources of line `line` (from 0) of a preview, innermost first.
local function sources_of(preview, line)
  for _, each in ipairs(preview.result and preview.result.map or {}) do
    if each.line == line then
      return each.sources
    end
  end
  return {}
end

local function holds(range, line, character)
  local from, to = range.start, range['end']
  return (from.line < line or (from.line == line and from.character <= character))
    and (to.line > line or (to.line == line and to.character >= character))
end

local function size_of(range)
  return (range['end'].line - range.start.line) * 1e6 + range['end'].character - range.start.character
end

--- Lines (from 0) of a preview that the smallest range around a position became.
local function lines_of(preview, uri, position)
  local best, lines = math.huge, {}
  for _, each in ipairs(preview.result and preview.result.map or {}) do
    local source = each.sources[1]
    if source and source.uri == uri and holds(source.range, position.line, position.character) then
      local size = size_of(source.range)
      if size < best then
        best, lines = size, {}
      end
      if size == best then
        table.insert(lines, each.line)
      end
    end
  end
  return lines
end

local function position_here(client)
  return vim.lsp.util.make_position_params(0, client.offset_encoding).position
end

local function jump_to_source(buf)
  local preview = previews[buf]
  local source = sources_of(preview, vim.api.nvim_win_get_cursor(0)[1] - 1)[1]
  if not source then
    ptl.warn('this line came from no place of the source')
    return
  end
  local window = vim.fn.bufwinid(vim.uri_to_bufnr(source.uri))
  if window ~= -1 then
    vim.api.nvim_set_current_win(window)
  end
  local encoding = preview.client.offset_encoding
  if vim.lsp.util.show_document then
    vim.lsp.util.show_document(source, encoding, { focus = true, reuse_win = true })
  else
    vim.lsp.util.jump_to_location(source, encoding)
  end
end

local function jump_to_preview(buf)
  local uri = vim.uri_from_bufnr(buf)
  for other, preview in pairs(previews) do
    local window = vim.fn.bufwinid(other)
    local lines = window ~= -1 and lines_of(preview, uri, position_here(preview.client)) or {}
    if #lines > 0 then
      vim.api.nvim_set_current_win(window)
      vim.api.nvim_win_set_cursor(window, { lines[1] + 1, 0 })
      return
    end
  end
  ptl.warn('no preview in sight has a line of this')
end

--- From a line of a preview to its source, from the source to the first line of a preview.
function M.jump()
  local buf = vim.api.nvim_get_current_buf()
  if previews[buf] then
    jump_to_source(buf)
  else
    jump_to_preview(buf)
  end
end

local function clear_highlights()
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) then
      vim.api.nvim_buf_clear_namespace(buf, highlights, 0, -1)
    end
  end
end

--- Lights up the source of the cursor's line in a preview.
function M.highlight_sources(buf)
  local preview = previews[buf]
  if not preview then
    return
  end
  clear_highlights()
  local source = sources_of(preview, vim.api.nvim_win_get_cursor(0)[1] - 1)[1]
  local target = source and vim.uri_to_bufnr(source.uri)
  if target and vim.api.nvim_buf_is_loaded(target) then
    local first, last = source.range.start.line, source.range['end'].line
    for line = first, math.min(last, vim.api.nvim_buf_line_count(target) - 1) do
      local start = line == first and source.range.start.character or 0
      local stop = line == last and source.range['end'].character or -1
      vim.api.nvim_buf_add_highlight(target, highlights, 'Visual', line, start, stop)
    end
  end
end

--- Lights up what the cursor's place in the source became.
local function highlight_previews(buf)
  clear_highlights()
  local uri = vim.uri_from_bufnr(buf)
  for other, preview in pairs(previews) do
    if vim.api.nvim_buf_is_loaded(other) then
      local lines = lines_of(preview, uri, position_here(preview.client))
      for _, line in ipairs(lines) do
        vim.api.nvim_buf_add_highlight(other, highlights, 'Visual', line, 0, -1)
      end
      local window = vim.fn.bufwinid(other)
      if #lines > 0 and window ~= -1 then
        local line = math.min(lines[1] + 1, vim.api.nvim_buf_line_count(other))
        vim.api.nvim_win_set_cursor(window, { line, 0 })
      end
    end
  end
end

--- Lets the previews follow a source's cursor and edits.
function M.follow(buf)
  if vim.b[buf].ptl_followed then
    return
  end
  vim.b[buf].ptl_followed = true
  vim.api.nvim_create_autocmd('CursorMoved', {
    buffer = buf,
    callback = function()
      if next(previews) then
        highlight_previews(buf)
      end
    end,
  })
  local edits = 0
  vim.api.nvim_create_autocmd({ 'TextChanged', 'TextChangedI' }, {
    buffer = buf,
    callback = function()
      edits = edits + 1
      local present = edits
      vim.defer_fn(function()
        if present == edits then
          for other in pairs(previews) do
            M.refresh(other)
          end
        end
      end, settle_time)
    end,
  })
end

return M
