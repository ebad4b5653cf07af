package dev.weir.cli.limits;

import dev.weir.admin.StoreAdmin;
import dev.weir.cli.Main;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.CtrlC;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.command.UrlText;
import dev.weir.cli.rules.OfflineActor;
import dev.weir.cli.rules.StoreFlags;
import dev.weir.cli.rules.WriteFlags;
import dev.weir.cli.traffic.ReplayBar;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.rules.ValueErrors;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "import",
    mixinStandardHelpOptions = true,
    description = {
      "Writes customers' records, of any number: each replaces the one that the customer has.",
      "",
      "As JSON, one line each, as 'weir limits export' writes them:",
      "",
      "  {\"domain\": \"shop\", \"key\": \"user\", \"value\": \"alice\", \"plan\": \"gold\","
          + " \"limits\":",
      "   [{\"rule\": \"user-minute\", \"requests_per_unit\": 500, \"until\":"
          + " \"2027-01-31T00:00:00Z\"}]}",
      "",
      "As CSV, under a header of domain,key,value and any of plan,rule,requests_per_unit,window,"
          + "burst,until,note; a row for each limit, those of a customer one after the other.",
      "",
      "A line that is refused is shown with its number, and the others are written. An import can be"
          + " repeated: what is there already is left alone.",
      "",
      "Exit status: 0, or 1 if a line was refused.",
      ""
    })
final class LimitsImportCommand extends AdminCommand {
  @Parameters(paramLabel = "FILE|-", description = "The file to read; - for standard input.")
  private Path file = Path.of("");

  @Option(
      names = "--format",
      paramLabel = "ndjson|csv",
      description = "Default: csv for a file *.csv, otherwise ndjson")
  private @Nullable String format;

  @Option(names = "--dry-run", description = "Only check what would be written.")
  private boolean dryRun;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Why, for the audit: 3 to 500 characters. Required, except with --dry-run.")
  private @Nullable String reason;

  @Mixin private final StoreFlags store = new StoreFlags();

  @Override
  public int run() throws InterruptedException, IOException {
    boolean csv = isCsv();
    String why = why();
    if (store.given(server())) {
      try (ConfigStore open = store.openOrMake();
          InputStream in = input()) {
        return run(lines(in, csv), piece -> taken(open, piece, why));
      }
    }
    AdminClient client = server().client();
    String path =
        "/limits/import" + UrlText.query("reason", why, "dry_run", Boolean.toString(dryRun));
    try (InputStream in = input()) {
      return run(lines(in, csv), piece -> client.post(path, "application/x-ndjson", piece.body()));
    }
  }

  private JsonObject taken(ConfigStore open, LimitsImport.Piece piece, String why) {
    try {
      return new JsonObject(
          StoreAdmin.importRecords(open, piece.body(), OfflineActor.cause(why), dryRun));
    } catch (ConfigException e) {
      throw StoreFlags.failure(e);
    } catch (IllegalStateException e) {
      throw new CommandFailure(String.valueOf(e.getMessage()), e);
    }
  }

  private int run(ImportLines lines, LimitsImport.Target target) throws IOException {
    long total = file.toString().equals("-") ? -1 : Files.size(file);
    LimitsImport run = new LimitsImport(lines, target, dryRun, err());
    CtrlC stop = new CtrlC();
    try {
      try (ReplayBar bar = new ReplayBar("import")) {
        run.run((bytes, read) -> bar.at(bytes, total, read));
      } catch (CommandFailure e) {
        err().println("weir: " + e.getMessage());
        show(run, "ended early, can be repeated: ");
        return e.status();
      } catch (InterruptedException e) {
        show(run, "stopped, can be repeated: ");
        return Main.FAILED;
      }
    } finally {
      stop.close();
    }
    show(run, "");
    return run.refused() > 0 ? Main.FOUND : 0;
  }

  private void show(LimitsImport run, String how) {
    if (json()) {
      out().println(Json.write(run.counts()));
    } else {
      err().println(how + run);
    }
    out().flush();
    err().flush();
  }

  private boolean isCsv() {
    String name = file.toString().toLowerCase(Locale.ROOT);
    String chosen = format != null ? format : name.endsWith(".csv") ? "csv" : "ndjson";
    if (!Map.of("csv", true, "ndjson", true).containsKey(chosen)) {
      throw wrong(ValueErrors.line("--format", chosen, "ndjson or csv"));
    }
    return chosen.equals("csv");
  }

  private String why() {
    if (reason == null && dryRun) {
      return "dry run";
    }
    if (reason == null) {
      throw wrong(
          ValueErrors.line("--reason", "none", "why these are imported, 3 to 500 characters"));
    }
    return WriteFlags.reason("--reason", reason, spec());
  }

  private InputStream input() throws IOException {
    if (file.toString().equals("-")) {
      // Standard input is not really closed: it belongs to the process, which ends with the
      // command.
      return new FileInputStream(FileDescriptor.in);
    }
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw new CommandFailure(file + ": not there, or not to be read (expected: a file)");
    }
    return Files.newInputStream(file);
  }

  private static ImportLines lines(InputStream in, boolean csv) throws IOException {
    return csv ? new CsvLines(in) : new JsonLines(in);
  }
}
