//! What shells and manual readers are told, from the same definitions as the command line.

use std::io::Write;

use clap_complete::Shell;
use clap_mangen::Man as Page;

use super::{Cli, Failure};

/// Print the completions of a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead completions bash > ~/.local/share/bash-completion/completions/crownhead
  crownhead completions zsh > ~/.zfunc/_crownhead
  crownhead completions fish > ~/.config/fish/completions/crownhead.fish")]
pub struct Completions {
    shell: Shell,
}

impl Completions {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::definition(), "crownhead", &mut script);
        Ok(out.write_all(&script)?)
    }
}

/// Print the manual page of the program or of a command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crownhead man | man -l -
  crownhead man probe > crownhead-probe.1")]
pub struct Man {
    /// One of the commands, such as probe
    command: Option<String>,
}

impl Man {
    pub fn run(self, out: &mut dyn Write) -> Result<(), Failure> {
        let mut cli = Cli::definition();
        cli.build();
        let page = match &self.command {
            None => cli,
            Some(name) => {
                let found = commands(&cli).find(|c| c.get_name() == name);
                let command = found.ok_or_else(|| unknown(&cli, name))?;
                command.clone()
            }
        };
        let source = concat!("crownhead ", env!("CARGO_PKG_VERSION"));
        let page = Page::new(page).source(source).manual("Crownhead");
        Ok(page.render(&mut &mut *out)?)
    }
}

/// All commands but clap's own `help`.
fn commands(cli: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    cli.get_subcommands().filter(|c| c.get_name() != "help")
}

fn unknown(cli: &clap::Command, name: &str) -> String {
    let names: Vec<&str> = commands(cli).map(|c| c.get_name()).collect();
    format!("no command `{name}`; the commands are {}", names.join(", "))
}
