package dev.weir.admin.internal.limits;

import dev.weir.Ticker;
import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.access.OneTimeCodes;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.rules.BlockingAnswer;
import dev.weir.admin.internal.rules.ExplainResource;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.config.Entry;
import dev.weir.config.Json;
import dev.weir.engine.Answer;
import dev.weir.engine.Engine;
import dev.weir.engine.ResetResult;
import dev.weir.internal.Choice;
import dev.weir.internal.Sha256;
import dev.weir.rules.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The resource that resets the keys of a request. A reset admits more than the limit, so it takes
 * two steps, and is in the log of changes before it is done.
 */
public final class ResetResource implements Resource {
  private static final long CODE_NANOS = 60_000_000_000L;
  private static final int MAX_CODES = 1_000;

  /**
   * The request that a confirmation is valid for.
   *
   * @param requestHash the hash of the request's text, which may be long
   */
  private record ConfirmedRequest(String tokenId, String requestHash) {}

  private final ConfigStore store;
  private final Engine engine;
  private final boolean allowed;
  private final OneTimeCodes<ConfirmedRequest> confirmations;

  public ResetResource(ConfigStore store, Engine engine, boolean allowed, Ticker ticker) {
    this.store = store;
    this.engine = engine;
    this.allowed = allowed;
    confirmations = new OneTimeCodes<>(ticker, CODE_NANOS, MAX_CODES);
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.write(
                "POST",
                "/reset",
                Role.OPERATOR,
                "Forgets what keys have used: first asked, then confirmed.",
                this::reset)
            .answers(200, 409, 422, 504, 507));
  }

  private AdminResponse reset(Call call) {
    if (!allowed) {
      throw new RequestException(
          403, "reset: switched off (expected: a server without --no-reset)");
    }
    Json.Members body = call.body("domain", "descriptor", "descriptors", "reason", "confirm");
    Map<String, @Nullable Object> described = body.without(Set.of("reason", "confirm"));
    Cause cause = call.cause(body);
    Request request = ExplainResource.request(described);
    Answer answer = ExplainResource.peek(engine, request);
    String hash = Sha256.hex(Json.writeAsIs(described));
    ConfirmedRequest confirmed = new ConfirmedRequest(call.actor().token().id(), hash);
    if (!body.has("confirm")) {
      return confirm(request, answer, confirmed);
    }
    ConfirmedRequest before = confirmations.take(Call.reading(() -> body.text("confirm")));
    if (!confirmed.equals(before)) {
      throw new RequestException(
          409, "confirm: unknown, over, or for another request (expected: one of the last 60 s)");
    }
    return forget(request, described, cause);
  }

  private AdminResponse confirm(Request request, Answer answer, ConfirmedRequest confirmed) {
    List<Map<String, Object>> keys = new ArrayList<>();
    for (int i = 0; i < answer.statuses().size(); i++) {
      Map<String, Object> members = new LinkedHashMap<>();
      List<Map<String, Object>> entries = new ArrayList<>();
      request
          .descriptors()
          .get(i)
          .entries()
          .forEach(entry -> entries.add(Map.of("key", entry.key(), "value", entry.value())));
      members.put("entries", entries);
      members.putAll(ExplainResource.members(answer.statuses().get(i)));
      keys.add(members);
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("would_forget", keys);
    members.put("confirm", confirmations.put(confirmed));
    members.put("expires_in_seconds", CODE_NANOS / 1_000_000_000L);
    return Reply.json(200, members);
  }

  private AdminResponse forget(
      Request request, Map<String, @Nullable Object> described, Cause cause) {
    String json = Json.write(described);
    if (json.length() > Entry.MAX_JSON_BYTES / 4) {
      throw new RequestException(
          422, "body: " + json.length() + " characters (expected: at most 16384)");
    }
    try {
      store.log("reset", json, cause);
    } catch (IllegalArgumentException e) {
      throw new RequestException(422, String.valueOf(e.getMessage()));
    }
    ResetResult forgotten = BlockingAnswer.answer(done -> engine.reset(request, done));
    if (forgotten.problem() != null) {
      throw new RequestException(422, forgotten.problem());
    }
    List<String> keys = forgotten.keys().stream().map(Choice::name).toList();
    if (forgotten.keys().contains(ResetResult.Key.FAILED)) {
      throw new RequestException(409, "store: cannot forget single keys (expected: one that can)")
          .member("keys", keys);
    }
    return Reply.json(200, Map.of("keys", keys));
  }
}
