package dev.weir.admin.internal.rules;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import dev.weir.admin.internal.http.Call;
import dev.weir.admin.internal.http.Reply;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.http.Resource;
import dev.weir.admin.internal.http.Route;
import dev.weir.config.Cause;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigStore;
import dev.weir.config.Json;
import dev.weir.config.Revision;
import dev.weir.config.Rollout;
import dev.weir.config.Rollouts;
import dev.weir.config.rows.Tree;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The resource of changes of the rules. */
public final class RuleChangesResource implements Resource {
  private static final String ROLLOUT = "rollout";

  private final ConfigStore store;
  private final RuleVersions versions;
  private final Barrier barrier;

  public RuleChangesResource(ConfigStore store, RuleVersions versions, Barrier barrier) {
    this.store = store;
    this.versions = versions;
    this.barrier = barrier;
  }

  @Override
  public List<Route> routes() {
    return List.of(
        Route.write("PATCH", "/rules", Role.EDITOR, "Changes rule files.", this::patch)
            .query(Barrier.WAIT, Barrier.TIMEOUT)
            .answers(200, 202, 409, 412, 422, 428, 507),
        Route.write(
                "POST",
                "/rules/rollback",
                Role.EDITOR,
                "Makes a new revision with the files of an old one.",
                this::rollback)
            .query(Barrier.WAIT, Barrier.TIMEOUT)
            .answers(200, 202, 404, 409, 412, 422, 428, 507));
  }

  private AdminResponse patch(Call call) {
    Json.Members body = call.files("put", "delete", "reason", ROLLOUT);
    Cause cause = call.cause(body);
    Rollouts.Plan plan =
        body.has(ROLLOUT) ? Call.reading(() -> RolloutJson.plan(body.object(ROLLOUT))) : null;
    RuleVersion before = expected(call);
    requireNoRollout();
    RuleEdit edit = RuleEdit.of(body);
    return change(call, before, edit.on(versions, before), plan, cause);
  }

  private AdminResponse rollback(Call call) {
    Json.Members body = call.body("to", "reason");
    Cause cause = call.cause(body);
    RuleVersion before = expected(call);
    RuleVersion old = versions.at(Call.reading(() -> body.number("to")));
    // This ends a running rollout: the rules have changed for every server.
    return change(call, before, RuleVersion.of(0, old.texts(), versions.defaults()), null, cause);
  }

  private void requireNoRollout() {
    Rollouts.running(store)
        .ifPresent(
            rollout -> {
              throw new RequestException(
                      409,
                      "rollout: that of revision "
                          + rollout.revision()
                          + " runs (expected: its end, or a roll back)")
                  .member(ROLLOUT, RolloutJson.members(rollout));
            });
  }

  /** Returns the rules in force, if they are those that the change was made for. */
  private RuleVersion expected(Call call) {
    if (versions.areFiles()) {
      throw new RequestException(
          409, "rules: from files (expected: from the store; change the files)");
    }
    Barrier.check(call);
    List<String> tags = Call.tags(call.request().field("if-match"));
    if (tags.isEmpty()) {
      throw new RequestException(
          428, "If-Match: missing (expected: the ETag of GET /admin/v1/rules)");
    }
    RuleVersion head = versions.head();
    if (!tags.contains("*") && !tags.contains(RulesResource.tag(head, false))) {
      throw stale(head.revision());
    }
    return head;
  }

  private static RequestException stale(long revision) {
    return new RequestException(
            412, "If-Match: another revision (expected: \"r" + revision + "\"; read it again)")
        .member("revision", revision);
  }

  private AdminResponse change(
      Call call, RuleVersion before, RuleVersion after, Rollouts.@Nullable Plan plan, Cause cause) {
    RuleEdit.requireNames(after);
    if (after.texts().isEmpty()) {
      throw new RequestException(422, "rules: no file (expected: at least one)");
    }
    if (!after.valid()) {
      throw new RequestException(422, "rules: errors (expected: none; nothing has changed)")
          .member("problems", after.problems());
    }
    Map<String, Object> members = new LinkedHashMap<>();
    long revision = before.revision();
    boolean all = true;
    List<String> diff = before.diff(after);
    if (!before.texts().equals(after.texts())) {
      Made made = commit(before, after, plan, cause);
      revision = made.write().revision();
      members.put("revision", revision);
      members.put("diff", diff);
      if (made.rollout() != null) {
        members.put(ROLLOUT, RolloutJson.members(made.rollout()));
      }
      all = barrier.await(call, made.write(), members);
    } else {
      members.put("revision", revision);
      members.put("diff", diff);
      // There is nothing to write, but some servers may not have the rules yet: the call may be a
      // second try.
      all =
          barrier.await(
              call, new Barrier.Write(revision, 0, versions.revision(revision).at()), members);
    }
    if (!after.loaded().problems().isEmpty()) {
      members.put("problems", after.problems());
    }
    return Reply.etag(Reply.json(all ? 200 : 202, members), "r" + revision);
  }

  /** A new revision, with its rollout if it starts with one. */
  private record Made(Barrier.Write write, @Nullable Rollout rollout) {}

  private Made commit(
      RuleVersion before, RuleVersion after, Rollouts.@Nullable Plan plan, Cause cause) {
    List<String> changed =
        after.texts().values().stream()
            .filter(text -> !before.texts().containsValue(text))
            .distinct()
            .toList();
    Tree tree = Tree.of(after.texts());
    try {
      if (plan == null) {
        Revision made = store.commit(before.revision(), tree, changed, cause);
        return new Made(new Barrier.Write(made.number(), 0, made.at()), null);
      }
      if (before.revision() == 0) {
        throw new RequestException(
            409, "rollout: of the first rules (expected: rules before them)");
      }
      Rollout rollout = Rollouts.begin(store, before.revision(), tree, changed, plan, cause);
      return new Made(
          new Barrier.Write(rollout.revision(), 0, rollout.since(), rollout.nodes()), rollout);
    } catch (ConfigException e) {
      if (e.kind() != ConfigException.Kind.CONFLICT) {
        throw e;
      }
      long head = store.head().revision();
      throw head != before.revision()
          ? stale(head)
          : new RequestException(409, String.valueOf(e.getMessage()));
    } catch (IllegalArgumentException e) {
      throw new RequestException(422, String.valueOf(e.getMessage()));
    }
  }
}
