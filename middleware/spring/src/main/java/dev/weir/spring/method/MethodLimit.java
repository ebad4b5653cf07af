package dev.weir.spring.method;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.expression.EvaluationContext;

/**
 * One annotation in parsed form.
 *
 * @param key null: all calls share one counter
 * @param condition null: every call is limited
 * @param fallback method that answers refusals; null: a refusal is an exception
 * @param maxWaitNanos the longest that a refused call waits, or 0
 */
record MethodLimit(
    String name,
    @Nullable MethodExpression key,
    MethodExpression permits,
    @Nullable MethodExpression condition,
    @Nullable Fallback fallback,
    long maxWaitNanos) {

  /** Returns whether it needs no arguments of a call. */
  boolean isConstant() {
    return permits.isLiteral()
        && (key == null || key.isLiteral())
        && (condition == null || condition.isLiteral());
  }

  /**
   * Returns the descriptor of one call, or null if this annotation does not limit it.
   *
   * @param context null if this is constant
   */
  @Nullable Descriptor descriptor(@Nullable EvaluationContext context) {
    if (condition != null && !condition.holds(context)) {
      return null;
    }
    long charged = permits.permits(context);
    if (charged == 0) {
      return null;
    }
    Entry first = new Entry("name", name);
    List<Entry> entries =
        key == null ? List.of(first) : List.of(first, new Entry("key", key.key(context)));
    return new Descriptor(entries, null, charged);
  }
}
