package dev.weir.admin.internal.limits;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.rules.Barrier;
import dev.weir.admin.internal.rules.MergePatch;
import dev.weir.config.Cause;
import dev.weir.config.Change;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.config.RecordWrite;
import dev.weir.config.Records;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.rules.RuleSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The resource of the record of one customer. */
public final class LimitsResource implements Resource {
  private static final String PATH = "/limits/{domain}/{key}/{value}";

  private final ConfigStore store;
  private final Supplier<RuleSet> rules;
  private final Barrier barrier;

  public LimitsResource(ConfigStore store, Supplier<RuleSet> rules, Barrier barrier) {
    this.store = store;
    this.rules = rules;
    this.barrier = barrier;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.get(PATH, Role.VIEWER, "Returns a customer's record.", this::show).answers(200, 404),
        Route.write("PUT", PATH, Role.EDITOR, "Puts a customer's record.", this::put)
            .query(Barrier.WAIT, Barrier.TIMEOUT)
            .answers(200, 201, 202, 412, 422, 428, 507),
        Route.write(
                "PATCH", PATH, Role.EDITOR, "Changes parts of a customer's record.", this::patch)
            .query(Barrier.WAIT, Barrier.TIMEOUT)
            .answers(200, 201, 202, 412, 422, 428, 507),
        Route.write("DELETE", PATH, Role.EDITOR, "Deletes a customer's record.", this::delete)
            .query("reason", Barrier.WAIT, Barrier.TIMEOUT)
            .answers(202, 204, 412, 422, 428, 507));
  }

  private static Subject subject(Call call) {
    try {
      return new Subject(call.parameter("domain"), call.parameter("key"), call.parameter("value"));
    } catch (IllegalArgumentException e) {
      throw new RequestException(400, String.valueOf(e.getMessage()));
    }
  }

  private @Nullable SubjectRecord stored(Subject subject) {
    Records records = store.records(List.of(subject));
    String unreadable = records.unreadable().get(subject);
    if (unreadable != null) {
      throw new ConfigException(ConfigException.Kind.DAMAGED, "record: " + unreadable);
    }
    return records.found().get(subject);
  }

  private AdminResponse show(Call call) {
    Subject subject = subject(call);
    SubjectRecord record = stored(subject);
    if (record == null) {
      throw new RequestException(
          404, ShownText.wrong("record", subject.value(), "a customer with a record of its own"));
    }
    return answer(200, record, new LinkedHashMap<>());
  }

  private AdminResponse answer(int status, SubjectRecord record, Map<String, Object> more) {
    Map<String, Object> members = RecordJson.all(record);
    List<String> problems = RecordProblems.of(record, rules.get());
    if (!problems.isEmpty()) {
      members.put("problems", problems);
    }
    members.putAll(more);
    return Reply.etag(Reply.json(status, members), Long.toString(record.version()));
  }

  private AdminResponse put(Call call) {
    Subject subject = subject(call);
    Json.Members body =
        call.body(
            "plan", "limits", "note", "reason", "version", "problems", "domain", "key", "value");
    Cause cause = call.cause(body);
    SubjectRecord record = record(subject, body);
    return write(call, record, expected(call, subject), cause);
  }

  private AdminResponse patch(Call call) {
    Subject subject = subject(call);
    Json.Members body = call.body("plan", "limits", "note", "reason");
    Cause cause = call.cause(body);
    long expected = expected(call, subject);
    SubjectRecord before = stored(subject);
    Map<String, Object> target = before == null ? Map.of() : RecordJson.own(before);
    Map<String, @Nullable Object> merged = MergePatch.apply(target, body.without(Set.of("reason")));
    return write(call, record(subject, Call.json(Json.write(merged))), expected, cause);
  }

  private static SubjectRecord record(Subject subject, Json.Members body) {
    try {
      return Call.reading(() -> RecordJson.read(subject, body));
    } catch (IllegalArgumentException e) {
      throw new RequestException(422, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Returns the version that the record must have.
   *
   * @throws RequestException with 428 if the request does not state it, with 412 if the record does
   *     not have it
   */
  private long expected(Call call, Subject subject) {
    Barrier.check(call);
    List<String> match = Call.tags(call.request().field("if-match"));
    List<String> none = Call.tags(call.request().field("if-none-match"));
    if (match.isEmpty() == none.isEmpty()) {
      throw new RequestException(
          match.isEmpty() ? 428 : 400,
          "If-Match, If-None-Match: "
              + (match.isEmpty() ? "missing" : "both")
              + " (expected: If-Match with the record's ETag, or If-None-Match: *)");
    }
    if (!none.isEmpty()) {
      if (!none.equals(List.of("*"))) {
        throw new RequestException(400, ShownText.wrong("If-None-Match", none.toString(), "*"));
      }
      return RecordWrite.ABSENT;
    }
    SubjectRecord record = stored(subject);
    String version = record == null ? "" : Long.toString(record.version());
    if (record == null || (!match.contains("*") && !match.contains(version))) {
      throw stale(record);
    }
    return record.version();
  }

  private static RequestException stale(@Nullable SubjectRecord record) {
    return record == null
        ? new RequestException(412, "If-Match: no record (expected: If-None-Match: *)")
        : new RequestException(
                412,
                "If-Match, If-None-Match: another version (expected: \""
                    + record.version()
                    + "\"; read it again)")
            .member("version", record.version());
  }

  private AdminResponse write(Call call, SubjectRecord record, long expected, Cause cause) {
    Change change = write(RecordWrite.put(record, expected), cause).get(0);
    SubjectRecord written =
        new SubjectRecord(
            record.subject(), record.plan(), record.limits(), record.note(), change.number());
    Map<String, Object> waited = new LinkedHashMap<>();
    boolean all = barrier.await(call, written(change), waited);
    return answer(all ? expected == RecordWrite.ABSENT ? 201 : 200 : 202, written, waited);
  }

  private List<Change> write(RecordWrite write, Cause cause) {
    try {
      return store.write(List.of(write), cause);
    } catch (ConfigException e) {
      if (e.kind() == ConfigException.Kind.CONFLICT) {
        throw stale(stored(write.subject()));
      }
      throw e;
    }
  }

  private static Barrier.Write written(Change change) {
    return new Barrier.Write(0, change.number(), change.details().at());
  }

  private AdminResponse delete(Call call) {
    Subject subject = subject(call);
    Cause cause = call.causeOfQuery();
    long expected = expected(call, subject);
    if (expected == RecordWrite.ABSENT) {
      throw new RequestException(
          400, "If-None-Match: * (expected: If-Match with the record's ETag)");
    }
    List<Change> changes = write(RecordWrite.delete(subject, expected), cause);
    Map<String, Object> waited = new LinkedHashMap<>();
    return changes.isEmpty() || barrier.await(call, written(changes.get(0)), waited)
        ? Reply.nothing()
        : Reply.json(202, waited);
  }
}
