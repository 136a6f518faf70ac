//! Tells Zed how the language server is started: `ptl-lsp` on the PATH of the project.
use zed_extension_api::{self as zed, LanguageServerId, Result};

struct Ptl;

impl zed::Extension for Ptl {
    fn new() -> Self {
        Ptl
    }

    fn language_server_command(
        &mut self,
        _id: &LanguageServerId,
        worktree: &zed::Worktree,
    ) -> Result<zed::Command> {
        let command = worktree
            .which("ptl-lsp")
            .ok_or_else(|| "ptl-lsp is not on PATH".to_string())?;
        Ok(zed::Command {
            command,
            args: vec![],
            env: worktree.shell_env(),
        })
    }
}

zed::register_extension!(Ptl);
