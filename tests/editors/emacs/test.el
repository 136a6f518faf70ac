;;; test.el --- What someone does in Emacs with a `.ptl' file  -*- lexical-binding: t; -*-

(require 'ert)
(require 'ptl-mode)
(require 'eglot)

(defmacro ptl-test-until (&rest condition)
  "Wait until CONDITION holds, and answer what it answers; nil after ten seconds."
  `(let ((end (+ (float-time) 10)) found)
     (while (and (not (setq found (progn ,@condition))) (< (float-time) end))
       (accept-process-output nil 0.02))
     found))

(defun ptl-test-place (line word)
  "Go to WORD in the first line that has LINE."
  (goto-char (point-min))
  (search-forward line)
  (beginning-of-line)
  (search-forward word)
  (goto-char (match-beginning 0)))

(defmacro ptl-test-in (file &rest body)
  "Do BODY in the mode, with the server, in FILE."
  (declare (indent 1))
  `(let* ((ptl-server (list (expand-file-name "ptl-lsp" (getenv "PTL_BIN"))))
          (ptl-compiler (expand-file-name "ptlc" (getenv "PTL_BIN")))
          (eglot-sync-connect 10)
          (eglot-autoreconnect nil)
          (project-find-functions nil))
     (with-current-buffer (find-file-noselect ,file)
       (unless (eglot-current-server)
         (apply #'eglot--connect (eglot--guess-contact)))
       (eglot--maybe-activate-editing-mode)
       ,@body)))

(defun ptl-test-send-edits ()
  "Tell the server of edits now, not when Emacs is idle."
  (eglot--signal-textDocument/didChange))

(defun ptl-test-messages ()
  "What Flymake shows."
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(ert-deftest ptl-1-mode ()
  (with-temp-buffer
    (insert "fn f[N](x: f32[N])\n-> f32[N] {\nlet y = exp(\nx\n)\n/* a /* nested */ } */\nreturn y // {\n}\n")
    (ptl-mode)
    (indent-region (point-min) (point-max))
    (should (equal (buffer-string)
                   "fn f[N](x: f32[N])\n-> f32[N] {\n    let y = exp(\n        x\n    )\n    /* a /* nested */ } */\n    return y // {\n}\n"))
    (font-lock-ensure)
    (cl-flet ((face-of (word) (goto-char (point-min)) (search-forward word)
                       (get-text-property (match-beginning 0) 'face)))
      (should (eq (face-of "fn") 'font-lock-keyword-face))
      (should (eq (face-of "f[") 'font-lock-function-name-face))
      (should (eq (face-of "f32") 'font-lock-type-face))
      (should (eq (face-of "exp") 'font-lock-builtin-face))
      (should (eq (face-of "nested") 'font-lock-comment-face)))
    (should (equal (caar (alist-get "Functions" (imenu--make-index-alist t) nil nil #'equal)) "f"))
    (goto-char (point-min))
    (comment-region (point-min) (line-end-position))
    (should (looking-at "// fn f"))))

(ert-deftest ptl-2-diagnostics-and-fix ()
  (ptl-test-in "steps.ptl"
    (should (eq major-mode 'ptl-mode))
    (should (eglot-managed-p))
    (flymake-mode 1)
    (should (ptl-test-until (flymake-start) (cl-some (lambda (text) (string-match-p "contracted extents differ" text))
                                                     (ptl-test-messages))))
    (ptl-test-place "return q @ k" "@")
    (let* ((at (flymake-diagnostics (point)))
           (actions (eglot-code-actions (flymake-diagnostic-beg (car at)) (flymake-diagnostic-end (car at)) "quickfix"))
           (action (seq-first actions)))
      (should action)
      ;; From 1.16 on it wants to know who asks.
      (apply #'eglot--apply-workspace-edit (plist-get action :edit)
             (and (> (car (func-arity #'eglot--apply-workspace-edit)) 1) '(eglot-code-actions))))
    (ptl-test-place "return q @ k" "q")
    (should (looking-at "q @ k.T"))
    (ptl-test-send-edits)
    (should (ptl-test-until (flymake-start) (null (ptl-test-messages))))))

(ert-deftest ptl-3-reading ()
  (ptl-test-in "steps.ptl"
    (ptl-test-place "let rows" "rows")
    (let ((hover (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams))))
      (should (string-match-p "f32\\[r, C\\]" (eglot--hover-info (plist-get hover :contents)))))
    (ptl-test-place "y[r] = part" "part")
    (let ((found (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot))))
      (should (string-match-p "let part" (xref-item-summary (car found)))))
    (ptl-test-place "= softmax(rows)" "softmax")
    (let ((found (xref-backend-definitions 'eglot (xref-backend-identifier-at-point 'eglot))))
      (should (string-match-p "shapes.ptl" (xref-location-group (xref-item-location (car found))))))))

(ert-deftest ptl-4-writing ()
  (ptl-test-in "steps.ptl"
    (ptl-test-place "let part" "part")
    (eglot-rename "piece")
    (should (save-excursion (goto-char (point-min)) (search-forward "y[r] = piece + piece" nil t)))
    (ptl-test-send-edits)
    (eglot-format-buffer)
    (should (save-excursion (goto-char (point-min)) (search-forward "\nkernel twice" nil t)))
    (ptl-test-place "y[r] = piece" "piece")
    (forward-char 3)
    (pcase-let ((`(,_begin ,_end ,table . ,_) (eglot-completion-at-point)))
      (should (member "piece" (all-completions "" table))))))

(ert-deftest ptl-5-preview ()
  (ptl-test-in "steps.ptl"
    (should (member "tile" (ptl-preview-stages)))
    (ptl-test-place "y[r] = piece" "piece")
    (let* ((source (current-buffer))
           (line (line-number-at-pos))
           (preview (ptl-preview "tile")))
      (cl-flet ((text () (with-current-buffer preview (buffer-string))))
        (should (string-match-p "ptl\\.\\(?:add\\|store\\)" (text)))
        (search-forward "piece + piece")
        (replace-match "piece * piece * 7.5")
        (ptl-test-send-edits)
        (should (ptl-test-until (string-match-p "7\\.5" (text))))
        ;; Both ways.
        (ptl-test-place "y[r] = piece" "piece")
        (ptl-preview-jump)
        (should (eq (current-buffer) preview))
        (with-current-buffer preview
          (let (told)
            (ptl-preview--eldoc (lambda (text &rest _) (setq told text)))
            (should (ptl-test-until told))
            (should (string-match-p "piece" told)))
          (ptl-preview-jump))
        (should (eq (window-buffer (selected-window)) source))
        (with-current-buffer source
          (should (= (line-number-at-pos) line))
          (beginning-of-line)
          (search-forward "= ")
          (delete-region (point) (line-end-position))
          (ptl-test-send-edits))
        (should (ptl-test-until
                 (string-match-p "stale" (or (buffer-local-value 'header-line-format preview) ""))))
        (should (string-match-p "7\\.5" (text)))
        (kill-buffer preview)
        (with-current-buffer source
          (should (jsonrpc-running-p (eglot-current-server))))))))
