;;; ptl-mode.el --- Major mode for PTL, the Parallel Tile Language  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "27.1"))
;; Keywords: languages

;;; Commentary:

;; Colours, indentation, comments, an index of declarations, and commands that run the compiler.
;; With Eglot (built in from Emacs 29 on, else the package `eglot') the language server `ptl-lsp'
;; adds the rest; see ptl-eglot.el.

;;; Code:

(require 'compile)
(require 'ptl-words)

(defgroup ptl nil
  "The Parallel Tile Language."
  :group 'languages)

(defcustom ptl-indent-offset 4
  "Columns that a bracket indents by."
  :type 'integer
  :safe #'integerp)

(defcustom ptl-compiler "ptlc"
  "Program of the compiler."
  :type 'string)

(defcustom ptl-server '("ptl-lsp")
  "Program and arguments of the language server."
  :type '(repeat string))

(defvar ptl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "_" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?/ ". 124b" table)
    (modify-syntax-entry ?* ". 23n" table)
    (modify-syntax-entry ?\n "> b" table)
    (dolist (sign '(?+ ?- ?% ?& ?| ?^ ?~ ?< ?> ?= ?@ ?!))
      (modify-syntax-entry sign "." table))
    table)
  "Syntax table of `ptl-mode'.")

(defconst ptl-mode--name "[A-Za-z_][A-Za-z0-9_]*")

(defvar ptl-mode-font-lock-keywords
  `((,(concat "\\_<\\(?:fn\\|kernel\\|program\\|schedule\\)\\s-+\\(" ptl-mode--name "\\)")
     1 font-lock-function-name-face)
    (,(concat "\\_<\\(?:struct\\|type\\)\\s-+\\(" ptl-mode--name "\\)") 1 font-lock-type-face)
    (,(concat "\\_<\\(?:let\\|var\\|const\\)\\s-+\\(" ptl-mode--name "\\)") 1 font-lock-variable-name-face)
    (,(regexp-opt ptl-words-keywords 'symbols) . font-lock-keyword-face)
    ;; A word by position: something other than an operator or a bracket follows.
    (,(concat (regexp-opt ptl-words-contextual 'symbols) "\\s-+[A-Za-z0-9_@{]") 1 font-lock-keyword-face)
    (,(regexp-opt ptl-words-literals 'symbols) . font-lock-constant-face)
    (,(regexp-opt ptl-words-types 'symbols) . font-lock-type-face)
    (,(concat (regexp-opt ptl-words-builtins 'symbols) "\\s-*(") 1 font-lock-builtin-face)
    ("@\\s-*\\([a-z][a-z0-9]*\\)\\_>" 1 font-lock-preprocessor-face)
    ("\\_<[0-9][0-9_]*\\(?:KiB\\|MiB\\|GiB\\|TiB\\)\\_>" . font-lock-constant-face))
  "Faces of `ptl-mode'.")

(defvar ptl-mode-imenu-expression
  (let ((pub "^\\s-*\\(?:pub\\s-+\\)?\\(?:manual\\s-+\\|extern\\s-+\\)*")
        (name (concat "\\s-+\\(" ptl-mode--name "\\)")))
    `(("Kernels" ,(concat pub "kernel" name) 1)
      ("Programs" ,(concat pub "program" name) 1)
      ("Functions" ,(concat pub "fn" name) 1)
      ("Types" ,(concat pub "\\(?:struct\\|type\\)" name) 1)
      ("Tests" "^\\s-*\\(?:test\\|property\\|bench\\)\\s-+\"\\([^\"]+\\)\"" 1)))
  "Index of `ptl-mode'.")

(defun ptl-mode--indentation ()
  "Column of the line at point.
It is that of the line that opens the innermost bracket, and one step more."
  (save-excursion
    (back-to-indentation)
    (let ((open (nth 1 (syntax-ppss (line-beginning-position))))
          (closes (looking-at-p "[])}]")))
      (if (not open)
          0
        (goto-char open)
        (+ (current-indentation) (if closes 0 ptl-indent-offset))))))

(defun ptl-indent-line ()
  "Indent the line at point."
  (interactive)
  (unless (nth 8 (save-excursion (syntax-ppss (line-beginning-position))))
    (let ((behind (- (current-column) (current-indentation))))
      (indent-line-to (ptl-mode--indentation))
      (when (> behind 0)
        (move-to-column (+ (current-indentation) behind))))))

(defun ptl-mode--run (command kinds)
  "Run COMMAND of the compiler on one of KINDS at point, else on the file."
  (save-buffer)
  (let ((name (save-excursion
                (end-of-line)
                (and (re-search-backward (concat "^\\(?:" kinds "\\)\\s-+\"\\([^\"]+\\)\"") nil t)
                     (match-string-no-properties 1)))))
    (compile (mapconcat #'shell-quote-argument
                        `(,ptl-compiler ,command ,(buffer-file-name) ,@(and name (list "--filter" name)))
                        " "))))

;;;###autoload
(defun ptl-run-test ()
  "Run the test or property at point, or all of the file."
  (interactive)
  (ptl-mode--run "test" "test\\|property"))

;;;###autoload
(defun ptl-run-bench ()
  "Run the benchmark at point, or all of the file."
  (interactive)
  (ptl-mode--run "bench" "bench"))

(defvar ptl-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "C-c C-t") #'ptl-run-test)
    (define-key map (kbd "C-c C-b") #'ptl-run-bench)
    (define-key map (kbd "C-c C-p") #'ptl-preview)
    (define-key map (kbd "C-c C-j") #'ptl-preview-jump)
    map)
  "Keys of `ptl-mode'.")

;;;###autoload
(define-derived-mode ptl-mode prog-mode "PTL"
  "Mode for PTL, the Parallel Tile Language."
  (setq-local comment-start "// ")
  (setq-local comment-end "")
  (setq-local comment-start-skip "\\(?://+\\|/\\*+\\)\\s-*")
  (setq-local indent-line-function #'ptl-indent-line)
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width ptl-indent-offset)
  (setq-local electric-indent-chars (append "})]\n" electric-indent-chars))
  (setq-local font-lock-defaults '(ptl-mode-font-lock-keywords))
  (setq-local imenu-generic-expression ptl-mode-imenu-expression))

;; What the compiler prints can be followed from any compilation.
(add-to-list 'compilation-error-regexp-alist-alist
             '(ptl "^ *--> \\([^:\n]+\\):\\([0-9]+\\):\\([0-9]+\\)" 1 2 3))
(add-to-list 'compilation-error-regexp-alist 'ptl)

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.ptl\\'" . ptl-mode))

(defvar eglot-server-programs)
(autoload 'ptl-eglot-contact "ptl-eglot")
(autoload 'ptl-preview "ptl-eglot" nil t)
(autoload 'ptl-preview-jump "ptl-eglot" nil t)

;;;###autoload
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(ptl-mode . ptl-eglot-contact)))

(provide 'ptl-mode)
;;; ptl-mode.el ends here
