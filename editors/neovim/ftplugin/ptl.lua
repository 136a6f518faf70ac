if vim.b.did_ftplugin then
  return
end
vim.b.did_ftplugin = 1

vim.bo.commentstring = '// %s'
vim.bo.comments = 's1:/*,mb:*,ex:*/,:///,://'
vim.bo.formatoptions = vim.bo.formatoptions:gsub('t', '') .. 'croql'
vim.bo.suffixesadd = '.ptl'
vim.bo.expandtab = true
vim.bo.shiftwidth = 4
vim.bo.softtabstop = 4
vim.bo.smartindent = true
vim.b.undo_ftplugin = 'setl cms< com< fo< sua< et< sw< sts< si<'

-- The parser is `parser/ptl.so` in a folder on the runtimepath. Without it, syntax/ptl.vim colours.
if vim.treesitter.start and pcall(vim.treesitter.start, 0, 'ptl') and vim.treesitter.foldexpr then
  vim.cmd('setlocal foldmethod=expr foldexpr=v:lua.vim.treesitter.foldexpr() foldlevel=99')
end
