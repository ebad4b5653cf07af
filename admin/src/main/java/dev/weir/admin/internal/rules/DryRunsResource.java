package dev.weir.admin.internal.rules;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.admin.internal.http.Router;
import dev.weir.admin.internal.limits.RecordJson;
import dev.weir.admin.internal.limits.RecordProblems;
import dev.weir.admin.internal.limits.ShownText;
import dev.weir.config.Json;
import dev.weir.config.OwnLimit;
import dev.weir.config.Subject;
import dev.weir.config.SubjectRecord;
import dev.weir.engine.KeyPolicies;
import dev.weir.engine.SubjectLimits;
import dev.weir.replay.DryRun;
import dev.weir.replay.DryRuns;
import dev.weir.rules.RuleSet;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The resource of dry runs: changes that are tried on the traffic of the last hour before they are
 * made.
 */
public final class DryRunsResource implements Resource {
  /** The most records of one dry run, as in one call of a store. */
  private static final int MAX_RECORDS = 1_000;

  private static final int MAX_MINUTES = 60;
  private static final long MINUTE_NANOS = 60_000_000_000L;

  /** The policy of the page, which contains its styles and small pictures, and no script. */
  static final String POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
          + " form-action 'none'; frame-ancestors 'self'; sandbox";

  /**
   * The parts of a server that records its traffic that dry runs need.
   *
   * @param runs its dry runs
   * @param policies the limits of its subjects
   */
  public record RecordedTraffic(DryRuns runs, KeyPolicies policies) {}

  private final RuleVersions versions;
  private final Supplier<RuleSet> inForce;
  private final @Nullable RecordedTraffic recorded;

  /**
   * @param inForce returns the rules that decide here
   * @param recorded null if this server does not record its traffic
   */
  public DryRunsResource(
      RuleVersions versions, Supplier<RuleSet> inForce, @Nullable RecordedTraffic recorded) {
    this.versions = versions;
    this.inForce = inForce;
    this.recorded = recorded;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.write(
                "POST",
                "/dry-runs",
                Role.EDITOR,
                "Tries a change on recorded traffic; changes nothing.",
                this::start)
            .answers(202, 409, 422),
        Route.get("/dry-runs/{id}", Role.VIEWER, "Returns a dry run and its result.", this::show)
            .answers(200, 404),
        Route.get(
                "/dry-runs/{id}/report",
                Role.VIEWER,
                "Returns the report of a dry run as a page.",
                this::report)
            .answers(200, 404, 409),
        Route.write(
                "DELETE",
                "/dry-runs/{id}",
                Role.EDITOR,
                "Cancels a dry run, or forgets one that has ended.",
                this::cancel)
            .answers(204, 404));
  }

  private AdminResponse start(Call call) {
    Json.Members body = call.files("rules", "records", "minutes");
    long minutes = body.has("minutes") ? Call.reading(() -> body.number("minutes")) : MAX_MINUTES;
    if (minutes < 1 || minutes > MAX_MINUTES) {
      throw new RequestException(
          422, ShownText.wrong("minutes", Long.toString(minutes), "1 to " + MAX_MINUTES));
    }
    if (!body.has("rules") && !body.has("records")) {
      throw new RequestException(422, "body: no change (expected: rules, records or both)");
    }
    RuleSet before = inForce.get();
    RuleEdit edit = new RuleEdit(Map.of(), List.of());
    RuleSet after = before;
    if (body.has("rules")) {
      edit = RuleEdit.of(Call.reading(() -> body.object("rules")));
      after = rules(edit);
    }
    Map<DryRun.Subject, SubjectLimits> records =
        body.has("records")
            ? records(Call.reading(() -> body.objects("records")), after)
            : Map.of();
    RecordedTraffic source = recorded;
    if (source == null) {
      throw new RequestException(
          409, "traffic: not recorded by this server (expected: started with --record-traffic 1h)");
    }
    DryRuns.StartedRun started =
        source
            .runs()
            .start(
                new DryRun.Change(before, after, edit.put(), records, source.policies()),
                minutes * MINUTE_NANOS);
    DryRuns.Refusal refusal = started.refusal();
    if (refusal != null) {
      throw new RequestException(
          409,
          switch (refusal) {
            case BUSY -> "dry run: another one is running (expected: one at a time)";
            case NOTHING_RECORDED ->
                "traffic: no request in the last " + minutes + " minutes (expected: at least one)";
            case CLOSED -> "dry run: the server stops (expected: one that runs)";
          });
    }
    return Reply.with(
        Reply.json(202, Map.of("id", started.id())),
        "Location",
        Router.BASE + "/dry-runs/" + started.id());
  }

  private RuleSet rules(RuleEdit edit) {
    RuleVersion proposed = edit.on(versions, versions.head());
    RuleEdit.requireNames(proposed);
    if (proposed.texts().isEmpty()) {
      throw new RequestException(422, "rules: no file (expected: at least one)");
    }
    if (!proposed.valid()) {
      throw new RequestException(422, "rules: errors (expected: none; nothing was tried)")
          .member("problems", proposed.problems());
    }
    return proposed.rules();
  }

  private static Map<DryRun.Subject, SubjectLimits> records(
      List<Json.Members> given, RuleSet rules) {
    if (given.size() > MAX_RECORDS) {
      throw new RequestException(
          422,
          ShownText.wrong("records", Integer.toString(given.size()), "at most " + MAX_RECORDS));
    }
    Map<DryRun.Subject, SubjectLimits> records = new HashMap<>();
    List<String> problems = new ArrayList<>();
    for (Json.Members each : given) {
      SubjectRecord record = record(each);
      Subject subject = record.subject();
      RecordProblems.of(record, rules).forEach(problem -> problems.add(at(subject) + problem));
      for (OwnLimit limit : record.limits()) {
        if (limit.window() != null || limit.burst() != null) {
          problems.add(
              at(subject)
                  + ShownText.wrong(
                      "rule", limit.rule(), "no window and burst of its own; not counted"));
        }
      }
      SubjectLimits limits = limits(record);
      DryRun.Subject key = new DryRun.Subject(subject.domain(), subject.key(), subject.value());
      if (records.put(key, limits) != null) {
        problems.add(at(subject) + "twice (expected: each subject once)");
      }
    }
    if (!problems.isEmpty()) {
      throw new RequestException(422, "records: problems (expected: none; nothing was tried)")
          .member("problems", problems);
    }
    return records;
  }

  private static String at(Subject subject) {
    return ShownText.brief(subject.domain() + "/" + subject.key() + "/" + subject.value()) + " ";
  }

  private static SubjectRecord record(Json.Members from) {
    String domain = Call.reading(() -> from.text("domain"));
    String key = Call.reading(() -> from.text("key"));
    String value = Call.reading(() -> from.text("value"));
    try {
      Subject subject = new Subject(domain, key, value);
      return Call.reading(() -> RecordJson.read(subject, from));
    } catch (IllegalArgumentException e) {
      throw new RequestException(422, String.valueOf(e.getMessage()));
    }
  }

  /**
   * Returns limits that are in force from the first recorded request on; those that have ended are
   * not in force at all.
   */
  private static SubjectLimits limits(SubjectRecord record) {
    Map<String, SubjectLimits.OwnLimit> own = new HashMap<>();
    for (OwnLimit limit : record.limits()) {
      Instant until = limit.until();
      long untilNanos =
          until == null || until.getEpochSecond() > Long.MAX_VALUE / 1_000_000_000L
              ? Long.MAX_VALUE
              : until.getEpochSecond() * 1_000_000_000L;
      own.put(limit.rule(), new SubjectLimits.OwnLimit(limit.requestsPerUnit(), untilNanos));
    }
    String plan = record.plan().isEmpty() ? null : record.plan();
    return plan == null && own.isEmpty() ? SubjectLimits.NONE : new SubjectLimits(plan, own);
  }

  private DryRuns.Status find(Call call) {
    String id = call.parameter("id");
    RecordedTraffic source = recorded;
    return (source == null ? Optional.<DryRuns.Status>empty() : source.runs().find(id))
        .orElseThrow(
            () ->
                new RequestException(
                    404, ShownText.wrong("dry run", id, "one of the last ten on this node")));
  }

  private AdminResponse show(Call call) {
    DryRuns.Status status = find(call);
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("id", status.id());
    members.put("state", status.state().text());
    members.put("replayed", status.replayed());
    members.put("came", status.came());
    if (!status.problem().isEmpty()) {
      members.put("problem", status.problem());
    }
    DryRun.Done done = status.done();
    if (done != null) {
      members.put("summary", DryRunJson.members(done.result()));
    }
    return Reply.json(200, members);
  }

  private AdminResponse report(Call call) {
    DryRuns.Status status = find(call);
    DryRun.Done done = status.done();
    if (done == null) {
      throw new RequestException(
          409,
          ShownText.wrong("dry run", status.state().text(), "done: only then it has a report"));
    }
    AdminResponse page = Reply.bytes(200, "text/html; charset=utf-8", done.page().getBytes(UTF_8));
    return Reply.with(
        Reply.with(page, "Content-Security-Policy", POLICY), "Referrer-Policy", "no-referrer");
  }

  private AdminResponse cancel(Call call) {
    DryRuns.Status status = find(call);
    RecordedTraffic source = recorded;
    if (source != null) {
      boolean unused = source.runs().cancel(status.id());
    }
    return Reply.nothing();
  }
}
