package dev.weir.rules.internal.parse;

import dev.weir.rules.CostMode;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A reader of the {@code costs} of a {@code rate_limit}. Used by one thread. */
final class CostFields {
  private CostFields() {}

  /**
   * Returns the way in which the rule takes costs; null after reporting a problem.
   *
   * @param draft with its queue and its modes
   */
  static @Nullable CostMode read(Fields fields, RuleDraft draft) {
    CostMode mode = fields.choice("costs", List.of(CostMode.values()), CostMode.BEFORE);
    if (mode == CostMode.BEFORE) {
      return mode;
    }
    if (draft.queue != null) {
      fields.error("costs", "before, beside on_limit: queue; a report is counted and cannot wait");
    } else if (draft.quotaMode) {
      fields.error("costs", "before, in quota_mode; a report is counted in each of the rules");
    }
    return mode;
  }
}
