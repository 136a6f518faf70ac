-- The server: how it is started, what it tells beyond the protocol, and the commands of its lenses.
-- Written for Neovim 0.7 and later.
local M = {}

local is_0_11 = vim.fn.has('nvim-0.11') == 1

local function warn(message)
  vim.notify('ptl: ' .. message, vim.log.levels.WARN)
end
M.warn = warn

--- The folder that the server works in: the repository, else the folder of the file.
local function root_of(buf)
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ':p:h')
  local git = vim.fn.finddir('.git', vim.fn.escape(folder, ', ') .. ';')
  return git ~= '' and vim.fn.fnamemodify(git, ':p:h:h') or folder
end

local function refresh_lenses(client, buf)
  local provides = (client.server_capabilities or client.resolved_capabilities or {}).codeLensProvider
  if not provides or vim.b[buf].ptl_lenses then
    return
  end
  vim.b[buf].ptl_lenses = true
  if vim.lsp.codelens.enable then
    vim.lsp.codelens.enable(true, { bufnr = buf })
    return
  end
  local function refresh()
    if is_0_11 then
      vim.lsp.codelens.refresh({ bufnr = buf })
    elseif vim.api.nvim_get_current_buf() == buf then
      vim.lsp.codelens.refresh()
    end
  end
  vim.api.nvim_create_autocmd({ 'BufEnter', 'InsertLeave', 'BufWritePost' }, { buffer = buf, callback = refresh })
  vim.schedule(refresh)
end

function M.on_attach(client, buf)
  refresh_lenses(client, buf)
  require('ptl.preview').follow(buf)
end

--- The server reads its own files, and IR that was written by the compiler (`ptlc build --emit=ir:…`).
function M.is_ours(buf)
  if vim.bo[buf].filetype == 'ptl' then
    return true
  end
  local head = table.concat(vim.api.nvim_buf_get_lines(buf, 0, 100, false), '\n')
  return vim.bo[buf].buftype == '' and head:find('%f[%w]ptl%.') ~= nil
end

--- What `vim.lsp.start` and `vim.lsp.config` take. `vim.g.ptl_server` is the server's program, or a
--- list with its arguments; `vim.g.ptl_settings` are the settings, without the outer `ptl`.
function M.config()
  local server = vim.g.ptl_server or 'ptl-lsp'
  local settings = vim.g.ptl_settings or vim.empty_dict()
  return {
    name = 'ptl',
    cmd = type(server) == 'table' and server or { server },
    filetypes = { 'ptl', 'mlir' },
    -- Called by 0.11 and later; nothing starts without a root.
    root_dir = function(buf, on_root)
      if M.is_ours(buf) then
        on_root(root_of(buf))
      end
    end,
    settings = { ptl = settings },
    init_options = { ptl = settings },
    on_attach = M.on_attach,
  }
end

--- Attaches a server to the buffer; one serves all buffers below the same root.
function M.start(buf)
  local config = M.config()
  config.root_dir = root_of(buf)
  if vim.fn.executable(config.cmd[1]) == 0 then
    warn(config.cmd[1] .. ' is not on PATH; set g:ptl_server')
    return
  end
  if vim.lsp.start then
    return vim.lsp.start(config, { bufnr = buf })
  end
  config.filetypes = nil
  for _, client in ipairs(M.clients()) do
    if client.config.root_dir == config.root_dir then
      vim.lsp.buf_attach_client(buf, client.id)
      return client.id
    end
  end
  config.workspace_folders = { { uri = vim.uri_from_fname(config.root_dir), name = config.root_dir } }
  local id = vim.lsp.start_client(config)
  if id then
    vim.lsp.buf_attach_client(buf, id)
  end
  return id
end

--- The running servers; of a buffer, those that are attached to it.
function M.clients(buf)
  local all = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  local own = {}
  for _, client in pairs(all) do
    if client.name == 'ptl' and (not buf or vim.lsp.buf_is_attached(buf, client.id)) then
      table.insert(own, client)
    end
  end
  return own
end

--- `done(result)`; errors are shown and end it. Answers false if there is no server.
function M.request(client, method, params, done, buf)
  if not client then
    warn('the server does not run here')
    return false
  end
  local function handler(err, result)
    if err then
      warn(err.message or tostring(err))
    else
      done(result)
    end
  end
  if is_0_11 then
    return client:request(method, params, handler, buf)
  end
  return client.request(method, params, handler, buf)
end

function M.notify(client, method, params)
  if is_0_11 then
    return client:notify(method, params)
  end
  return client.notify(method, params)
end

function M.status()
  M.request(M.clients()[1], 'ptl/status', vim.empty_dict(), function(result)
    print(vim.inspect(result))
  end)
end

--- Runs the compiler on a file in a terminal below.
local function run(subcommand)
  return function(command)
    local uri, name = command.arguments[1], command.arguments[2]
    vim.cmd('silent! update')
    vim.cmd('botright 12new')
    vim.fn.termopen({ vim.g.ptl_compiler or 'ptlc', subcommand, vim.uri_to_fname(uri), '--filter', name })
  end
end

--- Handlers of what is not in the protocol; once.
function M.register()
  if not vim.lsp.commands['ptl.runTest'] then
    vim.lsp.commands['ptl.runTest'] = run('test')
    vim.lsp.commands['ptl.runBench'] = run('bench')
    vim.lsp.commands['ptl.showPreview'] = function(command)
      local uri, entry, stage = unpack(command.arguments)
      require('ptl.preview').open({ uri = uri, entry = entry, stage = stage })
    end
    -- A terminal shows no pictures.
    vim.lsp.commands['ptl.showMemory'] = function(command)
      local uri, entry, target = unpack(command.arguments)
      require('ptl.preview').open({ uri = uri, entry = entry, stage = 'memory@' .. target })
    end
    -- A page for the browser.
    vim.lsp.commands['ptl.showTimeline'] = function(command, context)
      local uri, entry, target = unpack(command.arguments)
      local params = { textDocument = { uri = uri }, entry = entry, target = target, form = 'page' }
      local client = vim.lsp.get_client_by_id(context.client_id)
      client.request('ptl/timeline', params, function(problem, result)
        if problem then
          return warn(problem.message)
        end
        local path = vim.fn.tempname() .. '.html'
        vim.fn.writefile(vim.split(result.page, '\n', { plain = true }), path)
        if vim.ui.open then
          vim.ui.open(path)
        else
          vim.notify('the timeline is in ' .. path)
        end
      end, context.bufnr)
    end
  end
  vim.lsp.handlers['ptl/virtualDocumentChanged'] = function(_, result)
    require('ptl.preview').refresh_uri(result.uri)
  end
  vim.lsp.handlers['ptl/serverStatus'] = function(_, result)
    if result.health ~= 'ok' and result.message then
      warn(result.message)
    end
  end
end

return M
