package dev.weir.cli.rules;

import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.Text;
import dev.weir.config.ChangeLog;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.rules.ShownText;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "repair",
    mixinStandardHelpOptions = true,
    description = {
      "Opens a server's configuration store that was refused as damaged, drops what cannot be read"
          + " at the end of its log, and verifies the changes that are left. The server must be"
          + " stopped. Copy the folder first: what is dropped is gone.",
      "",
      "A store that is not damaged stays as it is. Damage that is not in the log needs a backup.",
      "",
      "Exit status: 0 if the store can be used, 1 if its changes are not as they were written, 3 if"
          + " it cannot be opened.",
      ""
    })
final class ConfigRepairCommand implements Callable<Integer> {
  @Option(
      names = "--data-dir",
      required = true,
      paramLabel = "DIR",
      description = "The folder that the server has as --data-dir.")
  private Path folder = Path.of("");

  @Option(names = "--json", description = "Show the result as JSON.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    String before = damage();
    try (ConfigStore store =
        StoreFlags.opened(StoreFlags.embedded(folder, "?recover=true"), "", "--data-dir")) {
      ChangeLog.Verification left = ChangeLog.verify(store);
      show(before, left, store.head().revision());
      return left.ok() ? 0 : Main.FOUND;
    } catch (ConfigException e) {
      throw StoreFlags.failure(e);
    }
  }

  /** Returns the reason for which the store is refused as it is, or an empty text if it is not. */
  private String damage() {
    String address = StoreFlags.embedded(folder, "");
    try {
      StoreFlags.opened(address, "", "--data-dir").close();
      return "";
    } catch (CommandFailure e) {
      if (e.getCause() instanceof ConfigException cause
          && cause.kind() == ConfigException.Kind.DAMAGED) {
        return String.valueOf(cause.getMessage());
      }
      throw e;
    }
  }

  private void show(String before, ChangeLog.Verification left, long revision) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      Map<String, Object> result = new LinkedHashMap<>();
      result.put("damage", before);
      result.put("ok", left.ok());
      result.put("up_to", left.position());
      result.put("hash", left.hash());
      result.put("problem", left.problem());
      result.put("revision", revision);
      out.println(Json.writeAsIs(result));
      return;
    }
    if (before.isEmpty()) {
      out.println("not damaged, nothing was dropped");
    } else {
      out.println("was refused: " + ShownText.plain(before));
      out.println("what could not be read at the end of the log was dropped");
    }
    out.println(
        (left.ok() ? "ok: " : ShownText.plain(left.problem()) + "; sound: ")
            + Text.count(left.position(), "change")
            + ", the last with hash "
            + left.hash()
            + "; revision "
            + revision
            + " of the rules");
    if (!before.isEmpty()) {
      out.println("changes that were made after that one are lost");
    }
  }
}
