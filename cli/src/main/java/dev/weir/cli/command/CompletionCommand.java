package dev.weir.cli.command;

import dev.weir.internal.Choice;
import java.io.PrintWriter;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "completion",
    mixinStandardHelpOptions = true,
    description = {
      "Prints a script that completes commands and flags in a shell.",
      "",
      "bash:  source <(weir completion bash)",
      "zsh:   source <(weir completion zsh)",
      "fish:  weir completion fish | source",
      ""
    })
public final class CompletionCommand implements Runnable {
  enum Shell {
    BASH,
    ZSH,
    FISH;

    @Override
    public String toString() {
      return Choice.text(this);
    }
  }

  @Parameters(paramLabel = "SHELL", description = "One of ${COMPLETION-CANDIDATES}.")
  private Shell shell = Shell.BASH;

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    CommandLine main = spec.root().commandLine();
    PrintWriter out = spec.commandLine().getOut();
    if (shell == Shell.FISH) {
      FishCompletion.write(main, out);
    } else {
      // The script is for both shells: it makes zsh read it in the way of bash.
      out.println(AutoComplete.bash(main.getCommandName(), main));
    }
  }
}
