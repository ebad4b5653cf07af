package dev.weir.cli.limits;

import dev.weir.Ticker;
import dev.weir.cli.Main;
import dev.weir.cli.admin.AdminClient;
import dev.weir.cli.admin.AdminCommand;
import dev.weir.cli.command.CommandFailure;
import dev.weir.cli.command.JsonObject;
import dev.weir.cli.rules.WriteFlags;
import dev.weir.config.Json;
import dev.weir.rules.ShownText;
import dev.weir.rules.ValueErrors;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "set",
    mixinStandardHelpOptions = true,
    description = {
      "Changes what a customer has, and leaves everything that no flag names as it is.",
      "",
      "For example, ten times the usual for a week:",
      "",
      "  weir limits set shop user alice --limit user-minute=1000,until=7d --reason 'sale, #4711'",
      "",
      "Exit status: 0 if done or if there is nothing to do, 1 if the server refuses, somebody else"
          + " was faster, or a server does not have it (--wait).",
      ""
    })
final class LimitsSetCommand extends AdminCommand {
  @Mixin private final SubjectFlags subject = new SubjectFlags();

  @Option(names = "--plan", paramLabel = "P", description = "The customer's plan.")
  private @Nullable String plan;

  @Option(names = "--no-plan", description = "The customer has no plan any more.")
  private boolean noPlan;

  @Option(
      names = "--limit",
      paramLabel = "RULE=N[,burst=N][,window=1m][,until=TIME]",
      description =
          "The customer's own limit for a rule, in place of any other one. TIME is a time in UTC,"
              + " 2027-01-31T00:00:00Z, or how long from now, 7d. May be given several times.")
  private List<String> limits = List.of();

  @Option(
      names = "--remove",
      paramLabel = "RULE",
      description =
          "The customer has no own limit for this rule any more. May be given several times.")
  private List<String> remove = List.of();

  @Option(names = "--note", paramLabel = "TEXT", description = "A note for people; empty for none.")
  private @Nullable String note;

  @Mixin private final WriteFlags write = new WriteFlags();

  @Override
  public int run() throws InterruptedException {
    List<Map<String, Object>> own = flags();
    String reason = write.reason();
    AdminClient client = server().client();
    AdminClient.Answer read = client.call("GET", subject.path(), Map.of(), "", Set.of(404));
    boolean there = read.status() != 404;
    JsonObject before = there ? read.json() : new JsonObject(Map.of());
    Map<String, Object> after = merged(before, own);
    if (after.isEmpty()) {
      throw new CommandFailure(
          Main.FOUND,
          "nothing would be left (expected: 'weir limits delete' for a customer who has nothing)");
    }
    if (there && Json.write(after).equals(Json.write(content(before)))) {
      show(before, "unchanged, version " + before.text("version"));
      return 0;
    }
    after.put("reason", reason);
    AdminClient.Answer answer =
        client.call(
            "PUT",
            subject.path() + write.query(client),
            there ? Map.of("If-Match", read.etag()) : Map.of("If-None-Match", "*"),
            Json.write(after),
            Set.of(412));
    if (answer.status() == 412) {
      throw new CommandFailure(
          Main.FOUND,
          "conflict: somebody else changed "
              + ShownText.plain(subject.toString())
              + " meanwhile, and nothing was changed (expected: 'weir limits get' to see what there"
              + " is now, and then the command again)");
    }
    JsonObject written = answer.json();
    show(written, "version " + written.text("version"));
    return write.applied(answer, err());
  }

  private List<Map<String, Object>> flags() {
    if (plan == null && !noPlan && limits.isEmpty() && remove.isEmpty() && note == null) {
      throw wrong("change: none (expected: --plan, --no-plan, --limit, --remove or --note)");
    }
    if (plan != null && (noPlan || plan.isEmpty())) {
      throw wrong(
          ValueErrors.line(
              "--plan", noPlan ? "given with --no-plan" : "empty", "a plan, or --no-plan"));
    }
    List<Map<String, Object>> own = new ArrayList<>();
    try {
      for (String limit : limits) {
        Map<String, Object> read =
            OwnLimitFlag.read(limit, Instant.ofEpochSecond(0, Ticker.wall().nanos()));
        Object rule = read.get("rule");
        if (own.stream().anyMatch(each -> Objects.equals(each.get("rule"), rule))
            || remove.contains(rule)) {
          throw ValueErrors.error("--limit", limit, "each rule once");
        }
        own.add(read);
      }
    } catch (IllegalArgumentException e) {
      throw wrong(String.valueOf(e.getMessage()));
    }
    return own;
  }

  /** Returns the record to be written; empty if nothing is left in it. */
  private Map<String, Object> merged(JsonObject before, List<Map<String, Object>> own) {
    Map<String, Object> byRule = new LinkedHashMap<>();
    for (JsonObject limit : before.objects("limits")) {
      byRule.put(limit.text("rule"), limit.members());
    }
    for (String rule : remove) {
      if (byRule.remove(rule) == null) {
        throw new CommandFailure(
            Main.FOUND,
            ValueErrors.line(
                "--remove",
                rule,
                byRule.isEmpty()
                    ? "an own limit of the customer, who has none"
                    : "one of " + ShownText.listed(List.copyOf(byRule.keySet()))));
      }
    }
    own.forEach(limit -> byRule.put((String) limit.get("rule"), limit));
    Map<String, Object> after = new LinkedHashMap<>();
    putUnlessEmpty(after, "plan", noPlan ? "" : plan == null ? before.text("plan") : plan);
    if (!byRule.isEmpty()) {
      after.put("limits", List.copyOf(byRule.values()));
    }
    putUnlessEmpty(after, "note", note == null ? before.text("note") : note);
    return after;
  }

  /** Returns the contents of a record, without its customer and version. */
  private static Map<String, Object> content(JsonObject record) {
    Map<String, Object> content = new LinkedHashMap<>();
    putUnlessEmpty(content, "plan", record.text("plan"));
    if (!record.list("limits").isEmpty()) {
      content.put("limits", record.list("limits"));
    }
    putUnlessEmpty(content, "note", record.text("note"));
    return content;
  }

  private static void putUnlessEmpty(Map<String, Object> to, String name, String text) {
    if (!text.isEmpty()) {
      to.put(name, text);
    }
  }

  private void show(JsonObject record, String what) {
    if (json()) {
      out().println(record);
      return;
    }
    out().println(ShownText.plain(subject + ", " + what));
    RecordText.lines(record).forEach(line -> out().println("  " + line));
    RecordText.warn(record, err());
  }
}
