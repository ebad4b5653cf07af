package dev.weir.admin;

import dev.weir.admin.internal.access.AuditResource;
import dev.weir.admin.internal.http.Query;
import dev.weir.admin.internal.http.Refused;
import dev.weir.admin.internal.limits.LimitImport;
import dev.weir.admin.internal.rules.RuleVersion;
import dev.weir.admin.internal.rules.RuleVersions;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.rules.RuleDefaults;
import java.util.Map;
import java.util.Set;

/**
 * Does to a store what the interface does, without a server and without a token: for commands on
 * the machine that has the store.
 */
public final class StoreAdmin {
  private StoreAdmin() {}

  /**
   * Writes records, as {@code POST /admin/v1/limits/import} does.
   *
   * @param lines a record each, as JSON in UTF-8
   * @return the members of that answer
   * @throws IllegalStateException if the store fails in between; what was written before is there
   */
  public static Map<String, Object> importRecords(
      ConfigStore store, byte[] lines, Cause cause, boolean dryRun) {
    RuleVersion rules = new RuleVersions(store, () -> RuleDefaults.DENY, null).head();
    try {
      return new LimitImport(store, rules.rules(), cause, dryRun).run(lines);
    } catch (Refused e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /**
   * Returns changes, as {@code GET /admin/v1/audit} does.
   *
   * @param query as that path takes it, without the question mark
   * @return the members of that answer
   * @throws IllegalArgumentException if there is anything in the query that the path does not take
   */
  public static Map<String, Object> audit(ConfigStore store, String query) {
    try {
      return new AuditResource(store).page(new Query(query, Set.copyOf(AuditResource.FILTERS)));
    } catch (Refused e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }
}
