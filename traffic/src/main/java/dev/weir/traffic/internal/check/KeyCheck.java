package dev.weir.traffic.internal.check;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.Request;
import dev.weir.rules.ShownText;
import dev.weir.traffic.RequestTemplate;
import dev.weir.traffic.internal.read.Address;
import dev.weir.traffic.internal.read.UsualColumns;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A check of the values of one entry of a descriptor in all records: whether they differ at all,
 * whether they are present, and whether they are addresses if the column's name suggests it.
 */
public final class KeyCheck {
  /**
   * The number of records up to which each value is compared with an address; after that, one in
   * sixteen.
   */
  private static final int ALL = 4096;

  private static final int SOME = 15;

  private final String key;
  private final boolean addresses;
  private @Nullable String first;
  private boolean differs;
  private long records;
  private long empty;
  private long looked;
  private long noAddress;
  private String example = "";

  private KeyCheck(String key, boolean addresses) {
    this.key = key;
    this.addresses = addresses;
  }

  /** Returns a check for each entry of the descriptors that is taken from a column. */
  public static List<List<KeyCheck>> of(RequestTemplate template) {
    List<List<KeyCheck>> all = new ArrayList<>();
    for (List<RequestTemplate.EntryTemplate> descriptor : template.taken()) {
      List<KeyCheck> checks = new ArrayList<>();
      for (RequestTemplate.EntryTemplate entry : descriptor) {
        String only = entry.onlyColumn();
        checks.add(
            new KeyCheck(
                entry.key() + "={" + (only == null ? "..." : only) + "}",
                only != null && UsualColumns.hasAddresses(only)));
      }
      all.add(checks);
    }
    return all;
  }

  /** Checks a request. */
  public static void check(List<List<KeyCheck>> checks, Request request) {
    for (int i = 0; i < checks.size(); i++) {
      Descriptor descriptor = request.descriptors().get(i);
      List<KeyCheck> those = checks.get(i);
      for (int j = 0; j < those.size(); j++) {
        Entry entry = descriptor.entries().get(j);
        those.get(j).check(entry.value());
      }
    }
  }

  private void check(String value) {
    records++;
    if (!differs) {
      if (first == null) {
        first = value;
      }
      differs = !value.equals(first);
    }
    if (value.isEmpty() || (value.length() == 1 && value.charAt(0) == '-')) {
      empty++;
    } else if (addresses && (records <= ALL || (records & SOME) == 0)) {
      looked++;
      if (!Address.isKey(value) && noAddress++ == 0) {
        example = value;
      }
    }
  }

  /** Returns the doubts, one line each. Only entries from columns are checked, not fixed texts. */
  public static List<String> warnings(List<List<KeyCheck>> checks, RequestTemplate template) {
    List<String> warnings = new ArrayList<>();
    List<List<RequestTemplate.EntryTemplate>> taken = template.taken();
    for (int i = 0; i < checks.size(); i++) {
      boolean differ = false;
      boolean fixed = true;
      for (int j = 0; j < checks.get(i).size(); j++) {
        KeyCheck check = checks.get(i).get(j);
        differ |= check.differs;
        if (!taken.get(i).get(j).fixed()) {
          fixed = false;
          check.warn(warnings);
        }
      }
      KeyCheck one = checks.get(i).get(0);
      if (!differ && !fixed && one.records > 1) {
        warnings.add(
            "descriptor "
                + one.key
                + ": all "
                + number(one.records)
                + " records have the same key, "
                + ShownText.quoted(String.valueOf(one.first))
                + " (expected: a column that tells clients apart; 'weir inspect' shows them)");
      }
    }
    return warnings;
  }

  private void warn(List<String> warnings) {
    if (empty > 0) {
      warnings.add(
          "descriptor "
              + key
              + ": nothing in "
              + number(empty)
              + " of "
              + number(records)
              + " records; they share one key");
    }
    if (10 * noAddress > looked) {
      warnings.add(
          "descriptor "
              + key
              + ": no address in "
              + number(noAddress)
              + " of "
              + number(looked)
              + " values, such as "
              + ShownText.quoted(example)
              + " (expected: addresses; 'weir inspect' shows the columns)");
    }
  }

  private static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }
}
