package dev.weir.admin;

import dev.weir.admin.internal.access.AuditResource;
import dev.weir.admin.internal.http.Query;
import dev.weir.admin.internal.http.RequestException;
import dev.weir.admin.internal.limits.LimitExport;
import dev.weir.admin.internal.limits.LimitImport;
import dev.weir.admin.internal.rules.RuleVersion;
import dev.weir.admin.internal.rules.RuleVersions;
import dev.weir.config.Cause;
import dev.weir.config.ConfigStore;
import dev.weir.rules.RuleDefaults;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;

/**
 * The operations of the interface on a store, without a server and without a token: for commands on
 * the machine that has the store.
 */
public final class StoreAdmin {
  private StoreAdmin() {}

  /**
   * Writes records, in the same way as {@code POST /admin/v1/limits/import}.
   *
   * @param lines one record a line, as JSON in UTF-8
   * @return the members of that answer
   * @throws IllegalStateException if the store fails in between; the records written before stay
   */
  public static Map<String, Object> importRecords(
      ConfigStore store, byte[] lines, Cause cause, boolean dryRun) {
    RuleVersion rules = new RuleVersions(store, () -> RuleDefaults.DENY, null).head();
    try {
      return new LimitImport(store, rules.rules(), cause, dryRun).run(lines);
    } catch (RequestException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /**
   * Returns records page by page, in the same form as {@code GET /admin/v1/limits/export}: a line
   * of JSON each, in UTF-8.
   *
   * @param domain the domain of the records; empty for all
   * @param key the key of the records, with a domain; empty for all
   * @throws IllegalArgumentException if there can be no such domain or key
   */
  public static Iterator<byte[]> exportRecords(ConfigStore store, String domain, String key) {
    return new LimitExport(store, domain, key);
  }

  /**
   * Returns changes, in the same form as {@code GET /admin/v1/audit}.
   *
   * @param query the query of that path, without the question mark
   * @return the members of that answer
   * @throws IllegalArgumentException if the query has a part that the path does not take
   */
  public static Map<String, Object> audit(ConfigStore store, String query) {
    try {
      return new AuditResource(store).page(new Query(query, Set.copyOf(AuditResource.FILTERS)));
    } catch (RequestException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }
}
