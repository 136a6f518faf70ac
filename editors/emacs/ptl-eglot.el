;;; ptl-eglot.el --- The PTL language server and its previews in Eglot  -*- lexical-binding: t; -*-

;;; Commentary:

;; Loaded with Eglot by ptl-mode.el.  `M-x eglot' starts the server.  `ptl-preview' shows what the
;; compiler makes of the declaration at point: a buffer that follows the edits of its source, and
;; leads back to it line by line.

;;; Code:

(require 'cl-lib)
(require 'eglot)
(require 'ptl-mode)
(require 'subr-x)

(defcustom ptl-preview-stage "tile"
  "Stage that `ptl-preview' offers first."
  :type 'string
  :group 'ptl)

(defclass ptl-eglot-server (eglot-lsp-server) ()
  :documentation "A server of PTL: it tells when previews change.")

;;;###autoload
(defun ptl-eglot-contact (&rest _)
  "How Eglot starts the server."
  (cons 'ptl-eglot-server ptl-server))

;;;; What the server tells beyond the protocol

(cl-defmethod eglot-handle-notification
  ((_server ptl-eglot-server) (_method (eql ptl/virtualDocumentChanged)) &key uri &allow-other-keys)
  (when-let ((buffer (ptl-preview--buffer uri)))
    (ptl-preview-refresh buffer)))

(cl-defmethod eglot-handle-notification
  ((_server ptl-eglot-server) (_method (eql ptl/serverStatus)) &key health message &allow-other-keys)
  (unless (or (equal health "ok") (null message))
    (display-warning 'ptl message)))

;;;; Previews

(defvar-local ptl-preview--server nil "The server of a preview.")
(defvar-local ptl-preview--uri nil "The name of a preview.")
(defvar-local ptl-preview--result nil "What the server answered last.")
(defvar-local ptl-preview--state nil "nil, `asked', or `again' if something changed since.")
(defvar-local ptl-preview--due nil "Timer of the next look at the source.")

(defface ptl-preview-linked '((t :inherit highlight))
  "Face of what belongs to the place at point."
  :group 'ptl)

(defun ptl-preview--buffers ()
  "All previews."
  (cl-remove-if-not (lambda (buffer) (buffer-local-value 'ptl-preview--uri buffer)) (buffer-list)))

(defun ptl-preview--buffer (uri)
  "The preview named URI."
  (cl-find uri (ptl-preview--buffers) :test #'equal :key (lambda (each) (buffer-local-value 'ptl-preview--uri each))))

(defun ptl-preview--eglot (name &rest arguments)
  "Call Eglot's function NAME with ARGUMENTS: public from 1.16 on, else not."
  (let ((public (intern (concat "eglot-" name))))
    (apply (if (fboundp public) public (intern (concat "eglot--" name))) arguments)))

(defun ptl-preview--source-uri ()
  "Name of the file of the current buffer."
  (ptl-preview--eglot "path-to-uri" buffer-file-name))

(defun ptl-preview--path (uri)
  "The file named URI."
  (ptl-preview--eglot "uri-to-path" uri))

(defun ptl-preview--reasons (result)
  "Why RESULT has no text."
  (concat "// there is nothing to show yet\n"
          (mapconcat (lambda (each) (format "// %s: %s\n" (plist-get each :code) (plist-get each :message)))
                     (plist-get result :diagnostics) "")))

(defun ptl-preview--fold-all (folds)
  "Note where FOLDS are; `ptl-preview-toggle-fold' closes them."
  (remove-overlays (point-min) (point-max) 'ptl-fold t)
  (save-excursion
    (seq-doseq (fold folds)
      (let ((begin (progn (ptl-preview--go-to-line (plist-get fold :start)) (line-end-position)))
            (end (progn (ptl-preview--go-to-line (plist-get fold :end)) (line-end-position))))
        (overlay-put (make-overlay begin end) 'ptl-fold t)))))

(defun ptl-preview--show (buffer result)
  "Show RESULT in the preview BUFFER."
  (with-current-buffer buffer
    (setq ptl-preview--result result)
    (let* ((inhibit-read-only t)
           (text (plist-get result :text))
           (shown (if (string-empty-p text) (ptl-preview--reasons result) text))
           (stale (eq t (plist-get result :stale)))
           (note (plist-get result :note)))
      (unless (equal shown (buffer-substring-no-properties (point-min) (point-max)))
        (let ((new (generate-new-buffer " *ptl-new*" t)))
          (with-current-buffer new (insert shown))
          ;; Keeps point and windows where they are.
          (replace-buffer-contents new 0.05)
          (kill-buffer new)))
      (ptl-preview--fold-all (plist-get result :folds))
      (setq header-line-format
            (string-join (delq nil (list (format "%s · %s" (plist-get result :entry) (plist-get result :stage))
                                         (and stale "stale: the source does not compile now")
                                         (and note (not (string-empty-p note)) note)))
                         " · ")))))

(defun ptl-preview-refresh (&optional buffer)
  "Bring the preview BUFFER up to date."
  (interactive)
  (with-current-buffer (or buffer (current-buffer))
    (if ptl-preview--state
        (setq ptl-preview--state 'again)
      (setq ptl-preview--state 'asked)
      (let* ((preview (current-buffer))
             (done (lambda ()
                     (when (buffer-live-p preview)
                       (with-current-buffer preview
                         (let ((again (eq ptl-preview--state 'again)))
                           (setq ptl-preview--state nil)
                           (when again (ptl-preview-refresh preview))))))))
        (jsonrpc-async-request
         ptl-preview--server :ptl/virtualDocument (list :uri ptl-preview--uri)
         :success-fn (lambda (result)
                       (when (and result (buffer-live-p preview)) (ptl-preview--show preview result))
                       (funcall done))
         :error-fn (lambda (_error) (funcall done))
         :timeout-fn (lambda () (funcall done)))))))

(defun ptl-preview--closed ()
  "Tell the server that nobody sees this preview any more."
  (when (and ptl-preview--server (jsonrpc-running-p ptl-preview--server))
    (jsonrpc-notify ptl-preview--server :ptl/virtualDocumentClosed (list :uri ptl-preview--uri))))

(defvar ptl-preview-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'ptl-preview-jump)
    (define-key map (kbd "C-c C-j") #'ptl-preview-jump)
    (define-key map (kbd "TAB") #'ptl-preview-toggle-fold)
    map)
  "Keys of `ptl-preview-mode'.")

(define-derived-mode ptl-preview-mode special-mode "PTL-Preview"
  "Mode of previews: what the compiler makes of a declaration."
  (setq-local font-lock-defaults
              '((("%[A-Za-z0-9_]+" . font-lock-variable-name-face)
                 ("@[A-Za-z0-9_.]+" . font-lock-function-name-face)
                 ("\\_<[a-z_]+\\.[a-z_.]+\\_>" . font-lock-keyword-face)
                 ("![a-z]+\\.[a-z_]+" . font-lock-type-face)
                 ("\\(?://\\|;\\).*$" . font-lock-comment-face))))
  (add-hook 'kill-buffer-hook #'ptl-preview--closed nil t)
  (add-hook 'post-command-hook #'ptl-preview--highlight nil t)
  (add-hook 'eldoc-documentation-functions #'ptl-preview--eldoc nil t)
  (eldoc-mode 1))

(defun ptl-preview--server-here ()
  "The server of the current buffer."
  (or ptl-preview--server (eglot-current-server) (user-error "The PTL server does not run here: M-x eglot")))

(defun ptl-preview-stages ()
  "The names of the stages."
  (mapcar (lambda (stage) (plist-get stage :id))
          (jsonrpc-request (ptl-preview--server-here) :ptl/stages (make-hash-table))))

;;;###autoload
(defun ptl-preview (stage)
  "Show what the compiler makes of the declaration at point, at STAGE."
  (interactive
   (list (completing-read "Stage: " (ptl-preview-stages) nil t nil nil ptl-preview-stage)))
  (eglot--signal-textDocument/didChange)
  (let* ((server (ptl-preview--server-here))
         (result (jsonrpc-request server :ptl/preview
                                  (list :textDocument (list :uri (ptl-preview--source-uri))
                                        :position (eglot--pos-to-lsp-position)
                                        :stage stage)))
         (uri (plist-get result :uri))
         (buffer (or (ptl-preview--buffer uri)
                     (generate-new-buffer (url-unhex-string (replace-regexp-in-string "\\`ptl-ir:/\\|\\?.*" "" uri))))))
    (add-hook 'after-change-functions #'ptl-preview--edited nil t)
    (add-hook 'post-command-hook #'ptl-preview--highlight nil t)
    (with-current-buffer buffer
      (unless ptl-preview--uri
        (ptl-preview-mode)
        (setq ptl-preview--server server
              ptl-preview--uri uri)
        (jsonrpc-notify server :ptl/virtualDocumentOpened (list :uri uri))))
    (ptl-preview--show buffer result)
    (display-buffer buffer '((display-buffer-reuse-window display-buffer-pop-up-window)))
    buffer))

(defun ptl-preview--edited (&rest _)
  "Look at the previews when the source is left alone."
  (when ptl-preview--due (cancel-timer ptl-preview--due))
  (setq ptl-preview--due
        (run-with-timer 0.6 nil (lambda () (mapc #'ptl-preview-refresh (ptl-preview--buffers))))))

(defun ptl-preview-toggle-fold ()
  "Close or open the region that begins on this line of a preview."
  (interactive)
  (let ((fold (cl-find-if (lambda (each)
                            (and (overlay-get each 'ptl-fold) (= (overlay-start each) (line-end-position))))
                          (overlays-in (line-end-position) (1+ (line-end-position))))))
    (unless fold (user-error "Nothing to fold begins on this line"))
    (let ((closed (not (overlay-get fold 'invisible))))
      (overlay-put fold 'invisible closed)
      (overlay-put fold 'before-string (and closed " …")))))

(defun ptl-preview--eldoc (callback &rest _)
  "Tell CALLBACK what the line at point came from."
  (when (and ptl-preview--server (jsonrpc-running-p ptl-preview--server))
    (jsonrpc-async-request
     ptl-preview--server :ptl/previewHover
     (list :uri ptl-preview--uri :position (list :line (1- (line-number-at-pos)) :character (current-column)))
     :success-fn (lambda (hover)
                   (when hover (funcall callback (eglot--format-markup (plist-get hover :contents)))))
     :error-fn #'ignore
     :deferred nil)
    t))

;;;; Links both ways

(defun ptl-preview--go-to-line (line)
  "Go to LINE, counted from 0."
  (goto-char (point-min))
  (forward-line line))

(defun ptl-preview--holds (range position)
  "Whether RANGE holds POSITION."
  (cl-flet ((before (a b) (or (< (plist-get a :line) (plist-get b :line))
                              (and (= (plist-get a :line) (plist-get b :line))
                                   (<= (plist-get a :character) (plist-get b :character))))))
    (and (before (plist-get range :start) position) (before position (plist-get range :end)))))

(defun ptl-preview--size (range)
  "A measure of RANGE."
  (let ((start (plist-get range :start)) (end (plist-get range :end)))
    (+ (* 1000000 (- (plist-get end :line) (plist-get start :line)))
       (- (plist-get end :character) (plist-get start :character)))))

(defun ptl-preview--lines (result uri position)
  "Lines of RESULT that the smallest range around POSITION of URI became."
  (let ((best most-positive-fixnum) lines)
    (seq-doseq (each (plist-get result :map))
      (let* ((source (seq-first (plist-get each :sources)))
             (range (plist-get source :range)))
        (when (and source (equal (plist-get source :uri) uri) (ptl-preview--holds range position))
          (let ((size (ptl-preview--size range)))
            (when (< size best) (setq best size lines nil))
            (when (= size best) (push (plist-get each :line) lines))))))
    (nreverse lines)))

(defun ptl-preview--source ()
  "Innermost source of the line at point of a preview."
  (let* ((line (1- (line-number-at-pos)))
         (entry (seq-find (lambda (each) (= line (plist-get each :line))) (plist-get ptl-preview--result :map))))
    (seq-first (plist-get entry :sources))))

(defun ptl-preview-jump ()
  "Go from a line of a preview to its source, or from the source to a preview."
  (interactive)
  (if ptl-preview--uri
      (let ((source (or (ptl-preview--source) (user-error "This line came from no place of the source"))))
        (pop-to-buffer (find-file-noselect (ptl-preview--path (plist-get source :uri))))
        (goto-char (car (ptl-preview--eglot "range-region" (plist-get source :range)))))
    (let ((uri (ptl-preview--source-uri)) (position (eglot--pos-to-lsp-position)))
      (or (cl-some (lambda (buffer)
                     (when-let ((result (buffer-local-value 'ptl-preview--result buffer))
                                (lines (ptl-preview--lines result uri position)))
                       (pop-to-buffer buffer)
                       (ptl-preview--go-to-line (car lines))
                       t))
                   (ptl-preview--buffers))
          (user-error "No preview has a line of this")))))

(defun ptl-preview--light (buffer begin end)
  "Highlight from BEGIN to END in BUFFER."
  (let ((light (make-overlay begin end buffer)))
    (overlay-put light 'face 'ptl-preview-linked)
    (overlay-put light 'ptl-linked t)))

(defun ptl-preview--light-lines (buffer lines)
  "Highlight LINES of the preview BUFFER."
  (with-current-buffer buffer
    (save-excursion
      (dolist (line lines)
        (ptl-preview--go-to-line line)
        (ptl-preview--light buffer (point) (line-end-position))))))

(defun ptl-preview--light-source (source)
  "Highlight SOURCE, if its file is open."
  (when-let ((buffer (find-buffer-visiting (ptl-preview--path (plist-get source :uri)))))
    (with-current-buffer buffer
      (pcase-let ((`(,begin . ,end) (ptl-preview--eglot "range-region" (plist-get source :range))))
        (ptl-preview--light buffer begin end)))))

(defun ptl-preview--highlight ()
  "Highlight what belongs to the place at point, in source and previews."
  (let ((previews (ptl-preview--buffers)))
    (when previews
      (dolist (window (window-list))
        (with-current-buffer (window-buffer window)
          (remove-overlays (point-min) (point-max) 'ptl-linked t)))
      (if ptl-preview--uri
          (when-let ((source (ptl-preview--source))) (ptl-preview--light-source source))
        (when buffer-file-name
          (let ((uri (ptl-preview--source-uri)) (position (eglot--pos-to-lsp-position)))
            (dolist (each previews)
              (ptl-preview--light-lines
               each (ptl-preview--lines (buffer-local-value 'ptl-preview--result each) uri position)))))))))

(provide 'ptl-eglot)
;;; ptl-eglot.el ends here
