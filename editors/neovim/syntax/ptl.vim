" Colours where no tree-sitter parser is installed.
if exists('b:current_syntax')
  finish
endif

runtime! syntax/ptl-words.vim

syntax match ptlCall /\<[A-Za-z_]\w*\ze\s*(/ contains=ptlBuiltins,ptlTypes,ptlKeywords
syntax match ptlMember /\.\@1<=[A-Za-z_]\w*/
syntax match ptlPlace /@\s*[a-z]\w*\>/
syntax match ptlNumber /\<\d[0-9_]*\(KiB\|MiB\|GiB\|TiB\)\?\>/
syntax match ptlNumber /\<0[xX][0-9a-fA-F_]\+\>/
syntax match ptlNumber /\<0[bB][01_]\+\>/
syntax match ptlNumber /\<\d[0-9_]*\(\.\d[0-9_]*\)\?\([eE][+-]\?\d\+\)\?\>/
syntax region ptlString start=/"/ skip=/\\./ end=/"\|$/ contains=ptlEscape
syntax match ptlEscape /\\\(u{[0-9A-Fa-f]\+}\|.\)/ contained
syntax match ptlComment +//.*$+ contains=@Spell
syntax match ptlDocComment +///.*$+ contains=@Spell
syntax region ptlComment start=+/\*+ end=+\*/+ contains=ptlComment,@Spell

highlight default link ptlKeywords Keyword
highlight default link ptlContextual Statement
highlight default link ptlLiterals Boolean
highlight default link ptlTypes Type
highlight default link ptlBuiltins Special
highlight default link ptlCall Function
highlight default link ptlPlace StorageClass
highlight default link ptlNumber Number
highlight default link ptlString String
highlight default link ptlEscape SpecialChar
highlight default link ptlComment Comment
highlight default link ptlDocComment SpecialComment

let b:current_syntax = 'ptl'
