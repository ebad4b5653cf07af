package dev.weir.admin.internal.access;

import dev.weir.Ticker;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.Tokens;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Clock;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import dev.weir.config.Json;
import dev.weir.rules.DurationText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The resource of tokens. */
public final class TokensResource implements Resource {
  private final ConfigStore store;
  private final TokenCache tokens;
  private final Ticker wall;

  public TokensResource(ConfigStore store, TokenCache tokens, Ticker wall) {
    this.store = store;
    this.tokens = tokens;
    this.wall = wall;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get("/tokens", Role.OPERATOR, "Lists the tokens.", call -> list()).answers(200),
        Route.write(
                "POST",
                "/tokens",
                Role.OPERATOR,
                "Makes a token; its text is shown this once.",
                this::create)
            .answers(201, 422, 507),
        Route.write("DELETE", "/tokens/{id}", Role.OPERATOR, "Revokes a token.", this::revoke)
            .query("reason")
            .answers(204, 404, 422, 507));
  }

  private AdminResponse list() {
    List<Map<String, Object>> all = new ArrayList<>();
    for (Entry entry : store.entries(Token.KIND)) {
      Token token = Token.read(entry);
      Map<String, Object> members = token.members();
      members.put("expired", token.expired(Clock.instant(wall)));
      all.add(members);
    }
    return Reply.json(200, Map.of("tokens", all));
  }

  private AdminResponse create(Call call) {
    Json.Members body = call.body("name", "role", "ttl", "reason");
    String name = Call.reading(() -> body.text("name"));
    String role = Call.reading(() -> body.text("role"));
    String ttl = Call.reading(() -> body.has("ttl") ? body.text("ttl") : "90d");
    Cause cause = call.cause(body);
    Tokens.NewToken created;
    try {
      long nanos =
          DurationText.read("ttl", ttl, Tokens.MIN_TTL.toNanos(), Tokens.MAX_TTL.toNanos());
      created = Tokens.create(store, name, Role.of(role), Duration.ofNanos(nanos), cause, wall);
    } catch (IllegalArgumentException e) {
      throw new RequestException(422, String.valueOf(e.getMessage()));
    }
    tokens.changed();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", created.id());
    members.put("name", name);
    members.put("role", role);
    members.put("expires", created.expires().toString());
    members.put("token", created.text());
    return Reply.json(201, members);
  }

  private AdminResponse revoke(Call call) {
    Cause cause = call.causeOfQuery();
    String id = call.parameter("id");
    if (!id.matches("[a-z0-9]{8}") || !Tokens.revoke(store, id, cause)) {
      throw new RequestException(404, ShownText.wrong("token", id, "the id of a token"));
    }
    tokens.changed();
    return Reply.nothing();
  }
}
