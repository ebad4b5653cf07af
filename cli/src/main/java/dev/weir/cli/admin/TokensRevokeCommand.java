package dev.weir.cli.admin;

import dev.weir.admin.Tokens;
import dev.weir.cli.Main;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.UrlText;
import dev.weir.cli.rules.OfflineActor;
import dev.weir.cli.rules.StoreFlags;
import dev.weir.cli.rules.WriteFlags;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.rules.ShownText;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "revoke",
    mixinStandardHelpOptions = true,
    description = {
      "Revokes a token: no server takes it any more after 3 seconds.",
      "",
      "Exit status: 0, or 1 if there is no such token.",
      ""
    })
final class TokensRevokeCommand extends AdminCommand {
  @Parameters(
      paramLabel = "ID",
      description = "The token's id, as 'weir tokens list' shows it; not the token itself.")
  private String id = "";

  @Option(
      names = "--reason",
      required = true,
      paramLabel = "TEXT",
      description = "Why, for the audit: 3 to 500 characters.")
  private String reason = "";

  @Mixin private final StoreFlags store = new StoreFlags();

  @Override
  public int run() throws InterruptedException {
    if (id.startsWith("weir_")) {
      throw wrong("ID: a token (expected: its id, which is between weir_ and the next _)");
    }
    String why = WriteFlags.reason("--reason", reason, spec());
    if (store.given(server())) {
      try (ConfigStore open = store.open()) {
        if (!Tokens.revoke(open, id, OfflineActor.cause(why))) {
          throw new CommandFailure(
              Main.FOUND,
              "ID: " + ShownText.brief(id) + " (expected: one that 'weir tokens list' shows)");
        }
      } catch (IllegalArgumentException e) {
        throw wrong(String.valueOf(e.getMessage()));
      }
    } else {
      server()
          .client()
          .call(
              "DELETE",
              "/tokens/" + UrlText.encoded(id) + UrlText.query("reason", why),
              Map.of(),
              "",
              Set.of());
    }
    out().println(json() ? Json.write(Map.of("revoked", id)) : "token " + id + ": revoked");
    return 0;
  }
}
