package dev.weir.admin.internal.limits;

import dev.weir.admin.AdminHandler;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.config.ConfigStore;
import dev.weir.rules.RuleSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** The resource that imports and exports many records at once. */
public final class LimitTransferResource implements Resource {
  private static final String NDJSON = "application/x-ndjson";

  private final ConfigStore store;
  private final Supplier<RuleSet> rules;

  public LimitTransferResource(ConfigStore store, Supplier<RuleSet> rules) {
    this.store = store;
    this.rules = rules;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.write(
                "POST",
                "/limits/import",
                Role.OPERATOR,
                "Puts the records of a text, one a line.",
                this::read)
            .query("dry_run", "reason")
            .answers(200, 422, 507),
        Route.get("/limits/export", Role.OPERATOR, "Returns records, one a line.", this::write)
            .query("domain", "key")
            .answers(200));
  }

  private AdminResponse read(Call call) {
    boolean dryRun = call.query().truth("dry_run");
    LimitImport lines = new LimitImport(store, rules.get(), call.causeOfQuery(), dryRun);
    byte[] body = call.bytes(Set.of(NDJSON, "application/json"), AdminHandler.MAX_BODY_BYTES);
    return Reply.json(200, lines.run(body));
  }

  private AdminResponse write(Call call) {
    String domain = call.query().text("domain");
    String key = call.query().text("key");
    if (domain.isEmpty() && !key.isEmpty()) {
      throw new RequestException(400, "domain: missing (expected: a domain, for a key)");
    }
    try {
      return Reply.stream(NDJSON, new LimitExport(store, domain, key));
    } catch (IllegalArgumentException e) {
      throw new RequestException(400, String.valueOf(e.getMessage()));
    }
  }
}
