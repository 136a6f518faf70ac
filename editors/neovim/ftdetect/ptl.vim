autocmd BufRead,BufNewFile *.ptl set filetype=ptl
