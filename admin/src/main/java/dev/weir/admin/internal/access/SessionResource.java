package dev.weir.admin.internal.access;

import dev.weir.Ticker;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.config.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The resource of logins from browsers. */
public final class SessionResource implements Resource {
  private static final long CODE_NANOS = 60_000_000_000L;
  private static final int MAX_CODES = 1_000;

  private final Authenticator authenticator;
  private final Sessions sessions;

  /** Ids of tokens, each under a code for one login. */
  private final OneTimeCodes<String> codes;

  public SessionResource(Authenticator authenticator, Sessions sessions, Ticker ticker) {
    this.authenticator = authenticator;
    this.sessions = sessions;
    codes = new OneTimeCodes<>(ticker, CODE_NANOS, MAX_CODES);
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.write(
                "POST", "/session", null, "Logs a browser in by a token or a code.", this::begin)
            .answers(204, 401, 429, 503),
        Route.get("/session", Role.VIEWER, "Says who is logged in.", SessionResource::show)
            .answers(200),
        Route.write("DELETE", "/session", Role.VIEWER, "Ends the session.", this::end).answers(204),
        Route.write(
                "POST",
                "/session/links",
                Role.VIEWER,
                "Makes a code for one login within 60 s.",
                this::link)
            .withoutBody()
            .answers(201));
  }

  private AdminResponse begin(Call call) {
    Json.Members body = call.body("token", "code");
    if (body.has("token") == body.has("code")) {
      throw new RequestException(400, "body: token and code (expected: one of them)");
    }
    String tokenId = body.has("token") ? byToken(call, body) : byCode(call, body);
    String cookie = Sessions.setCookie(call.request(), sessions.begin(tokenId));
    return Reply.with(Reply.nothing(), "Set-Cookie", cookie);
  }

  private String byToken(Call call, Json.Members body) {
    String text = Call.reading(() -> body.text("token"));
    return authenticator.login(call.request(), call.id(), text).id();
  }

  private String byCode(Call call, Json.Members body) {
    String tokenId = codes.take(Call.reading(() -> body.text("code")));
    if (tokenId == null || authenticator.valid(tokenId) == null) {
      throw authenticator.failed(
          call.request(), call.id(), "", "code: unknown, used or over (expected: a new one)");
    }
    return tokenId;
  }

  private static AdminResponse show(Call call) {
    Token token = call.actor().token();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", token.id());
    members.put("name", token.name());
    members.put("role", token.role().text());
    members.put("expires", token.expires().toString());
    members.put("session", !call.actor().session().isEmpty());
    return Reply.json(200, members);
  }

  private AdminResponse end(Call call) {
    sessions.end(call.actor().session());
    return Reply.with(Reply.nothing(), "Set-Cookie", Sessions.setCookie(call.request(), ""));
  }

  private AdminResponse link(Call call) {
    String code = codes.put(call.actor().token().id());
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("code", code);
    members.put("expires_in_seconds", CODE_NANOS / 1_000_000_000L);
    return Reply.json(201, members);
  }
}
