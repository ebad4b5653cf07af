package dev.weir.cli.admin;

import dev.weir.admin.Role;
import dev.weir.admin.Tokens;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.rules.OfflineActor;
import dev.weir.cli.rules.StoreFlags;
import dev.weir.cli.rules.WriteFlags;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.rules.DurationText;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "create",
    mixinStandardHelpOptions = true,
    description = {
      "Makes a token and writes it to standard output, once; it is not kept anywhere. What else"
          + " there is to say goes to standard error:",
      "",
      "  T=$(weir tokens create --name ann --role editor --token-file mine)",
      ""
    })
final class TokensCreateCommand extends AdminCommand {
  private static final long MINUTE_NANOS = 60_000_000_000L;
  private static final long YEAR_NANOS = 366L * 86_400_000_000_000L;

  @Option(names = "--name", required = true, paramLabel = "N", description = "Whose it is.")
  private String name = "";

  @Option(
      names = "--role",
      required = true,
      paramLabel = "viewer|editor|operator",
      description =
          "What it is good for: a viewer reads, an editor changes rules and limits too, an operator"
              + " also makes tokens, imports and exports.")
  private String role = "";

  @Option(
      names = "--expires",
      paramLabel = "DURATION",
      description = "When it ends, from now: 1m to 366d. Default: ${DEFAULT-VALUE}")
  private String expires = "90d";

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Why, for the audit. Default: the name and the role")
  private @Nullable String reason;

  @Mixin private final StoreFlags store = new StoreFlags();

  @Override
  public int run() throws InterruptedException {
    Role checked;
    Duration ttl;
    try {
      checked = Role.of(role);
      ttl = Duration.ofNanos(DurationText.read("--expires", expires, MINUTE_NANOS, YEAR_NANOS));
    } catch (IllegalArgumentException e) {
      String message = String.valueOf(e.getMessage());
      throw wrong(message.startsWith("--") ? message : "--" + message);
    }
    String why =
        reason == null
            ? "token for " + name + ", " + role
            : WriteFlags.reason("--reason", reason, spec());
    if (store.given(server())) {
      try (ConfigStore open = store.openOrMake()) {
        Tokens.NewToken made = Tokens.create(open, name, checked, ttl, OfflineActor.cause(why));
        show(made.text(), made.id(), made.role().text(), made.expires().toString());
      } catch (IllegalArgumentException e) {
        throw wrong(String.valueOf(e.getMessage()));
      }
      return 0;
    }
    JsonObject made =
        server()
            .client()
            .call(
                "POST",
                "/tokens",
                Map.of(),
                Json.write(
                    Map.of(
                        "name",
                        name,
                        "role",
                        role,
                        "ttl",
                        DurationText.format(ttl.toNanos()),
                        "reason",
                        why)),
                Set.of())
            .json();
    show(made.text("token"), made.text("id"), made.text("role"), made.text("expires"));
    return 0;
  }

  private void show(String token, String id, String given, String until) {
    if (json()) {
      out().println(Json.write(Map.of("id", id, "token", token, "role", given, "expires", until)));
      return;
    }
    out().println(token);
    err()
        .println(
            "token " + id + ": " + given + " until " + until + "; keep it: it is not shown again");
  }
}
