package dev.weir.admin.internal.http;

import dev.weir.admin.AdminResponse;
import dev.weir.admin.Role;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * One operation of the interface, as data: the index, the tests of all statuses and the test of
 * {@code openapi-admin.json} are made from it.
 *
 * @param path behind {@code /admin/v1}, parameters in braces
 * @param role the role that is needed, or null if none is
 * @param summary its description for readers
 * @param query the names that the query may have
 * @param own the statuses of its answers, besides those that every route of its kind has
 * @param body true if it takes a body
 */
public record Route(
    String method,
    String path,
    @Nullable Role role,
    String summary,
    Set<String> query,
    Set<Integer> own,
    boolean body,
    Action action) {
  /** The handler of a route's requests. */
  public interface Action {
    AdminResponse answer(Call call);
  }

  public static Route get(String path, @Nullable Role role, String summary, Action action) {
    return new Route("GET", path, role, summary, Set.of(), Set.of(), false, action);
  }

  /** Returns a route that changes something; it takes a body, unless it deletes. */
  public static Route write(
      String method, String path, @Nullable Role role, String summary, Action action) {
    boolean body = !method.equals("DELETE");
    return new Route(method, path, role, summary, Set.of(), Set.of(), body, action);
  }

  public Route query(String... names) {
    return new Route(
        method, path, role, summary, new LinkedHashSet<>(List.of(names)), own, body, action);
  }

  public Route answers(Integer... statuses) {
    return new Route(method, path, role, summary, query, Set.of(statuses), body, action);
  }

  public Route withoutBody() {
    return new Route(method, path, role, summary, query, own, false, action);
  }

  /** Returns whether browsers of other sites must not be able to send it. */
  public boolean unsafe() {
    return !method.equals("GET");
  }

  List<String> segments() {
    return List.of(path.split("/", -1)).subList(1, path.split("/", -1).length);
  }

  /** Returns every status of its answers, except 500. */
  public SortedSet<Integer> statuses() {
    SortedSet<Integer> all = new TreeSet<>(own);
    all.addAll(Set.of(400, 421));
    if (role != null) {
      all.addAll(Set.of(401, 429, 503));
    }
    if (unsafe() || (role != null && role != Role.VIEWER)) {
      all.add(403);
    }
    if (body) {
      all.addAll(Set.of(413, 415));
    }
    return all;
  }

  @Override
  public String toString() {
    return method + " " + path;
  }
}
