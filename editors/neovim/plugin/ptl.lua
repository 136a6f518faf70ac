-- Commands, and the buffers of previews. The server starts with the first `.ptl` file.
if vim.g.loaded_ptl then
  return
end
vim.g.loaded_ptl = true

local ptl = require('ptl')
ptl.register()

local command = vim.api.nvim_create_user_command
local function stages()
  return require('ptl.preview').stage_ids()
end

command('PtlPreview', function(arguments)
  require('ptl.preview').open({ stage = arguments.fargs[1], entry = arguments.fargs[2] })
end, { nargs = '*', complete = stages, desc = 'PTL: what the compiler makes of what is under the cursor' })
command('PtlStages', function()
  require('ptl.preview').choose()
end, { desc = 'PTL: choose a stage to preview' })
command('PtlDiff', function(arguments)
  require('ptl.preview').diff(arguments.fargs[1], arguments.fargs[2])
end, { nargs = '+', complete = stages, desc = 'PTL: two stages side by side, with their differences' })
command('PtlJump', function()
  require('ptl.preview').jump()
end, { desc = 'PTL: from a line of a preview to its source, or back' })
command('PtlStatus', function()
  ptl.status()
end, { desc = 'PTL: the state of the server' })

local group = vim.api.nvim_create_augroup('ptl', {})
vim.api.nvim_create_autocmd('BufReadCmd', {
  group = group,
  -- Before 0.8 a name with a `-` in its scheme is taken for that of a file here.
  pattern = { 'ptl-ir:/*', '*/ptl-ir:/*' },
  callback = function(event)
    require('ptl.preview').read(event.buf)
  end,
})

if vim.g.ptl_autostart == false then
  return
end
if vim.lsp.enable then
  vim.lsp.enable('ptl')
  return
end
vim.api.nvim_create_autocmd('FileType', {
  group = group,
  pattern = { 'ptl', 'mlir' },
  callback = function(event)
    if ptl.is_ours(event.buf) then
      ptl.start(event.buf)
    end
  end,
})
