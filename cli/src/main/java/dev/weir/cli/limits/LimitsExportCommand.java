package dev.weir.cli.limits;

import dev.weir.admin.StoreAdmin;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.StandardOutput;
import dev.weir.cli.command.Text;
import dev.weir.cli.command.UrlText;
import dev.weir.cli.rules.StoreFlags;
import dev.weir.config.ConfigStore;
import dev.weir.internal.IoCauses;
import dev.weir.rules.ValueErrors;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Iterator;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "export",
    mixinStandardHelpOptions = true,
    description = {
      "Writes customers' records, one line of JSON each, as 'weir limits import' reads them.",
      ""
    })
final class LimitsExportCommand extends AdminCommand {
  @Parameters(
      paramLabel = "FILE",
      arity = "0..1",
      description =
          "The file to write; it is there only when all is in it. Default: standard output")
  private @Nullable Path file;

  @Option(names = "--domain", paramLabel = "D", description = "Only records of this domain.")
  private String domain = "";

  @Option(
      names = "--key",
      paramLabel = "K",
      description = "Only records of this key, with --domain.")
  private String key = "";

  @Mixin private final StoreFlags store = new StoreFlags();

  @Override
  public int run() throws InterruptedException {
    if (!key.isEmpty() && domain.isEmpty()) {
      throw wrong(ValueErrors.line("--key", "given alone", "--domain and --key"));
    }
    if (!store.given(server())) {
      AdminClient client = server().client();
      return export(out -> copy(client, out));
    }
    try (ConfigStore open = store.open()) {
      return export(out -> copy(open, out));
    } catch (IllegalArgumentException e) {
      throw wrong("--" + e.getMessage());
    }
  }

  /** A source of records. */
  private interface Source {
    /** Writes all records and returns their number. */
    long copy(OutputStream out) throws InterruptedException, IOException;
  }

  private int export(Source source) throws InterruptedException {
    if (file == null || file.toString().equals("-")) {
      // The stream is not closed: standard output belongs to the process.
      try {
        source.copy(StandardOutput.ofProcess());
      } catch (IOException e) {
        if (!StandardOutput.isWithoutReader(e)) {
          throw StandardOutput.lost(e);
        }
      }
      return 0;
    }
    long lines;
    try {
      lines = writeWhole(source, file);
    } catch (IOException e) {
      throw new CommandFailure("FILE: " + IoCauses.file(file, e), e);
    }
    err().println(Text.count(lines, "record") + " in " + file);
    return 0;
  }

  /** Writes the file in one step, so that it never has a part of the records only. */
  private static long writeWhole(Source source, Path to) throws InterruptedException, IOException {
    Path half = Files.createTempFile(to.toAbsolutePath().getParent(), ".weir-", ".part");
    try {
      long lines;
      try (OutputStream out = Files.newOutputStream(half)) {
        lines = source.copy(out);
      }
      Files.move(half, to, StandardCopyOption.REPLACE_EXISTING);
      return lines;
    } finally {
      Files.deleteIfExists(half);
    }
  }

  private long copy(ConfigStore open, OutputStream out) throws IOException {
    long lines = 0;
    Iterator<byte[]> pages = StoreAdmin.exportRecords(open, domain, key);
    while (pages.hasNext()) {
      byte[] page = pages.next();
      lines += lines(page, page.length);
      out.write(page);
    }
    return lines;
  }

  private long copy(AdminClient client, OutputStream out) throws InterruptedException, IOException {
    long lines = 0;
    try (InputStream in =
        client.stream("/limits/export" + UrlText.query("domain", domain, "key", key))) {
      byte[] piece = new byte[1 << 16];
      while (true) {
        int length;
        try {
          length = in.read(piece);
        } catch (IOException e) {
          throw client.cut(e);
        }
        if (length < 0) {
          return lines;
        }
        lines += lines(piece, length);
        out.write(piece, 0, length);
      }
    }
  }

  private static long lines(byte[] piece, int length) {
    long lines = 0;
    for (int i = 0; i < length; i++) {
      lines += piece[i] == '\n' ? 1 : 0;
    }
    return lines;
  }
}
