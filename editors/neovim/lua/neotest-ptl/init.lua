-- Tests of PTL in neotest: `require('neotest').setup({ adapters = { require('neotest-ptl') } })`. Nothing here waits or calls
-- functions of the editor that its loop refuses, since neotest calls adapters from coroutines.
local M = { name = 'neotest-ptl' }

local function read(path)
  local file = io.open(path, 'rb')
  if not file then
    return nil
  end
  local text = file:read('*a')
  file:close()
  return text
end

local function exists(path)
  return (vim.uv or vim.loop).fs_stat(path) ~= nil
end

local function compiler()
  return vim.g.ptl_compiler or 'ptlc'
end

--- The nearest folder with a repository; else the folder itself.
function M.root(dir)
  local at = dir
  while at and at ~= '' do
    if exists(at .. '/.git') then
      return at
    end
    local up = at:match('^(.+)/[^/]+$')
    at = up
  end
  return dir
end

function M.filter_dir(name)
  return name ~= 'node_modules' and name ~= 'build' and name:sub(1, 1) ~= '.'
end

--- The blocks of a text: `{ name, range }`, rows from zero.
function M.blocks(text)
  local blocks, row = {}, 0
  for line in (text:sub(-1) == '\n' and text or text .. '\n'):gmatch('(.-)\r?\n') do
    local open = blocks[#blocks]
    if open and not open.range[3] and line:sub(1, 1) == '}' then
      open.range[3], open.range[4] = row, 1
    end
    -- A name ends at the first quote that no backslash stands before.
    local kind, rest = line:match('^(%a+)%s+"(.*)$')
    if kind == 'test' or kind == 'property' then
      local name, at = '', 1
      while at <= #rest and rest:sub(at, at) ~= '"' do
        if rest:sub(at, at) == '\\' then
          at = at + 1
        end
        name, at = name .. rest:sub(at, at), at + 1
      end
      if at <= #rest then
        local ends = line:match('}%s*$') and { row, 0, row, #line } or { row, 0 }
        table.insert(blocks, { name = name, range = ends })
      end
    end
    row = row + 1
  end
  for _, block in ipairs(blocks) do
    block.range[3], block.range[4] = block.range[3] or block.range[1], block.range[4] or 0
  end
  return blocks, row
end

function M.is_test_file(path)
  local text = path:sub(-4) == '.ptl' and read(path)
  return text and #M.blocks(text) > 0 or false
end

function M.discover_positions(path)
  local blocks, rows = M.blocks(read(path) or '')
  local name = path:match('([^/]+)$')
  local positions = { { type = 'file', path = path, name = name, range = { 0, 0, rows, 0 } } }
  for _, block in ipairs(blocks) do
    table.insert(positions, { type = 'test', path = path, name = block.name, range = block.range })
  end
  return require('neotest.lib').positions.parse_tree(positions, { nested_tests = false })
end

--- The debug adapter, for nvim-dap: `require('dap').adapters.ptl = require('neotest-ptl').dap_adapter()`.
function M.dap_adapter()
  return { type = 'executable', command = compiler(), args = { 'debug', '--dap' } }
end

--- Folders are run file by file by neotest.
function M.build_spec(args)
  local position = args.tree:data()
  if position.type ~= 'test' and position.type ~= 'file' then
    return nil
  end
  local results = os.tmpname()
  local command = { compiler(), 'test', position.path, '--json', '--color=never' }
  if position.type == 'test' then
    vim.list_extend(command, { '--filter', position.name })
  end
  vim.list_extend(command, args.extra_args or {})
  local spec = {
    -- The results are alone in their file; what people read is the output.
    command = vim.list_extend({ 'sh', '-c', 'results=$1; shift; exec "$@" > "$results"', 'sh', results }, command),
    context = { results = results, path = position.path },
  }
  if args.strategy == 'dap' and position.type == 'test' then
    spec.strategy = { type = 'ptl', request = 'launch', name = position.name, program = position.path, test = position.name }
  end
  return spec
end

local function shape_text(shape)
  local names = {}
  for name in pairs(shape or {}) do
    table.insert(names, name)
  end
  table.sort(names)
  local parts = {}
  for _, name in ipairs(names) do
    table.insert(parts, ('%s = %d'):format(name, shape[name]))
  end
  return #parts > 0 and ', with ' .. table.concat(parts, ', ') or ''
end

--- A place in another file is said in words.
local function error_of(block, failure, path)
  local file, line = failure.at:match('^(.*):(%d+):%d+$')
  local text = ('%s (%s)%s'):format(failure.message, block.executor, shape_text(block.shape))
  if file and file:match('([^/]+)$') == path:match('([^/]+)$') then
    return { message = text, line = tonumber(line) - 1 }
  end
  return { message = text .. ', at ' .. failure.at }
end

--- One result for each block that ran: passed if it passed on every executor.
function M.results(spec, result, tree)
  local text = read(spec.context.results)
  os.remove(spec.context.results)
  local ok, document = pcall(vim.json.decode, text or '')
  local all = {}
  if not ok or type(document) ~= 'table' or not document.blocks then
    local position = tree:data()
    all[position.id] = { status = 'failed', output = result.output, errors = { { message = 'ptlc test said nothing of it' } } }
    return all
  end
  for _, block in ipairs(document.blocks) do
    local id = spec.context.path .. '::' .. block.name
    local known = all[id] or { status = 'passed', output = result.output, errors = {} }
    if not block.passed then
      known.status = 'failed'
      for _, failure in ipairs(block.failures) do
        table.insert(known.errors, error_of(block, failure, spec.context.path))
      end
      known.short = known.short or known.errors[1].message
    end
    all[id] = known
  end
  return all
end

return M
