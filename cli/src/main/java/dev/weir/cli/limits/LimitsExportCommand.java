package dev.weir.cli.limits;

import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.Text;
import dev.weir.cli.command.UrlText;
import dev.weir.rules.ValueErrors;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
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

  @Override
  public int run() throws InterruptedException, IOException {
    if (!key.isEmpty() && domain.isEmpty()) {
      throw wrong(ValueErrors.line("--key", "given alone", "--domain and --key"));
    }
    AdminClient client = server().client();
    if (file == null || file.toString().equals("-")) {
      // The stream is not closed: standard output belongs to the process.
      try {
        copy(client, new FileOutputStream(FileDescriptor.out));
      } catch (IOException e) {
        if (!"Broken pipe".equals(e.getMessage())) {
          throw e;
        }
        // The reader of the pipe has ended, in the way of head.
      }
      return 0;
    }
    Path folder = file.toAbsolutePath().getParent();
    Path half = Files.createTempFile(folder, ".weir-", ".part");
    long lines;
    try {
      try (OutputStream out = Files.newOutputStream(half)) {
        lines = copy(client, out);
      }
      Files.move(half, file, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(half);
    }
    err().println(Text.count(lines, "record") + " in " + file);
    return 0;
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
        for (int i = 0; i < length; i++) {
          lines += piece[i] == '\n' ? 1 : 0;
        }
        out.write(piece, 0, length);
      }
    }
  }
}
