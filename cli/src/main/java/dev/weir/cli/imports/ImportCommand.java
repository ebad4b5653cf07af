package dev.weir.cli.imports;

import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.internal.IoCauses;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "import",
    mixinStandardHelpOptions = true,
    description = {
      "Makes rules of the limits in another program's configuration.",
      "",
      "It reads nginx (limit_req, limit_conn), HAProxy (stick tables), Spring's files of YAML or properties (Spring"
          + " Cloud Gateway, Resilience4j, the starter of Bucket4j), Envoy's local rate limits and"
          + " the limits of Traefik, Kong and APISIX. A comment at each rule says what is the same, what is stricter"
          + " and what is not carried over. Of a limit that limits nothing, no rule is made.",
      "",
      "Exit status: 0 if all of it is carried over, 1 if a part is not, which the comments name.",
      ""
    })
public final class ImportCommand implements Callable<Integer> {
  private static final Path STDIN = Path.of("-");
  private static final int MOST_BYTES = 16 << 20;

  @Parameters(
      paramLabel = "FILE",
      description =
          "The configuration. nginx's includes are read beside it; - is the standard input, as for"
              + " nginx -T | weir import -.")
  private Path file = STDIN;

  @Option(
      names = "--from",
      paramLabel = "KIND",
      description = "${COMPLETION-CANDIDATES}. Default: by the names in the file.")
  private @Nullable ImportFormat from;

  @Option(
      names = "--domain",
      paramLabel = "NAME",
      description = "The domain of the rules. Default: the kind.")
  private @Nullable String domain;

  @Option(
      names = {"-o", "--out"},
      paramLabel = "FILE",
      description = "A new file for the rules. Default: the standard output.")
  private @Nullable Path out;

  @Spec private CommandSpec spec;

  @Override
  public Integer call() {
    String text = text();
    ImportFormat format = from == null ? ImportFormat.of(file, text) : from;
    ImportedRules rules = new ImportedRules(format.original(), name());
    read(format, text, rules);
    if (rules.size() == 0 && rules.remarks().isEmpty()) {
      throw new CommandFailure(
          name()
              + ": no limit of "
              + format.original()
              + " (expected: one; --from names the kind)");
    }
    write(rules.text(domain == null ? format.toString() : domain));
    PrintWriter err = spec.commandLine().getErr();
    rules.remarks().forEach(remark -> err.println("weir: " + remark));
    err.println("weir: " + rules.size() + (rules.size() == 1 ? " rule" : " rules"));
    return rules.isComplete() ? 0 : Main.FOUND;
  }

  private String name() {
    return file.equals(STDIN) ? "stdin" : file.toString();
  }

  private String text() {
    try {
      byte[] bytes =
          file.equals(STDIN) ? System.in.readNBytes(MOST_BYTES + 1) : Files.readAllBytes(file);
      if (bytes.length > MOST_BYTES) {
        throw new CommandFailure(name() + ": larger than 16 MiB (expected: a configuration)");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new CommandFailure(name() + ": " + IoCauses.of(e), e);
    }
  }

  private void read(ImportFormat format, String text, ImportedRules rules) {
    switch (format) {
      case NGINX -> {
        boolean included = !file.equals(STDIN);
        NginxLimits.add(included ? NginxReader.read(file) : NginxReader.read(name(), text), rules);
      }
      case HAPROXY -> HaproxyLimits.add(HaproxySection.read(name(), text), rules);
      case SPRING -> SpringLimits.add(ConfigProperties.parse(name(), text), rules);
      case ENVOY -> EnvoyLimits.add(ConfigProperties.parse(name(), text), rules);
      case KONG -> KongLimits.add(ConfigProperties.parse(name(), text), rules);
      case APISIX -> ApisixLimits.add(ConfigProperties.parse(name(), text), rules);
      case TRAEFIK -> TraefikLimits.add(ConfigProperties.parse(name(), text), rules);
    }
  }

  private void write(String text) {
    if (out == null) {
      spec.commandLine().getOut().print(text);
      spec.commandLine().getOut().flush();
      return;
    }
    try {
      Files.writeString(out, text, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
    } catch (FileAlreadyExistsException e) {
      throw new CommandFailure(out + ": exists (expected: a new file)", e);
    } catch (IOException e) {
      throw new CommandFailure(out + ": " + IoCauses.of(e), e);
    }
  }
}
