package dev.weir.siege;

import org.jspecify.annotations.Nullable;

/** What a client asks for, and what it knows of the answer beforehand. */
interface Errand {
  String rule();

  String key();

  /**
   * Judges the answer.
   *
   * @param startNanos not after the instant of the decision, by this process's clock
   * @param endNanos not before it
   * @return what is wrong with it; null if nothing is
   */
  @Nullable String judge(Guest.Answer answer, long startNanos, long endNanos);

  /** There was no answer: nobody knows whether anything was charged. */
  void unanswered();
}
