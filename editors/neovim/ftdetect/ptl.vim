autocmd BufRead,BufNewFile *.ptl set filetype=ptl
autocmd BufRead,BufNewFile *.mlir setfiletype mlir
