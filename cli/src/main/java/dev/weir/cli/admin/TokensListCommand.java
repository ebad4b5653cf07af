package dev.weir.cli.admin;

import dev.weir.cli.command.HeadedTable;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.rules.StoreFlags;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

@Command(
    name = "list",
    mixinStandardHelpOptions = true,
    description = {"Lists the tokens, without their secrets. With --json, one line each.", ""})
final class TokensListCommand extends AdminCommand {
  /** The kind of a token's entry in a store. */
  static final String KIND = "token";

  @Mixin private final StoreFlags store = new StoreFlags();

  @Override
  public int run() throws InterruptedException {
    List<JsonObject> tokens =
        store.given(server())
            ? stored()
            : server().client().get("/tokens").json().objects("tokens");
    if (json()) {
      tokens.forEach(out()::println);
      return 0;
    }
    HeadedTable table = new HeadedTable("ID", "ROLE", "NAME", "EXPIRES", "CREATED", "BY");
    for (JsonObject token : tokens) {
      table.add(
          token.text("id"),
          token.text("role"),
          token.text("name"),
          token.text("expires"),
          token.text("created"),
          token.text("created_by"));
    }
    out().println(table.isEmpty() ? "no tokens" : table);
    return 0;
  }

  private List<JsonObject> stored() {
    List<JsonObject> tokens = new ArrayList<>();
    try (ConfigStore open = store.open()) {
      for (Entry entry : open.entries(KIND)) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("id", entry.name());
        members.putAll(JsonObject.read(entry.json()).members());
        members.remove("hash");
        tokens.add(new JsonObject(members));
      }
    }
    return tokens;
  }
}
