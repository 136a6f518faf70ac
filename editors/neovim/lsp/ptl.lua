-- Read by `vim.lsp.enable('ptl')` (Neovim 0.11 and later).
return require('ptl').config()
