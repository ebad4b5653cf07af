package dev.weir.internal;

import dev.weir.Decision;

/** The {@link Decision#cause() causes} of UNCERTAIN that are no failure of a shared store. */
public final class UncertainCause {
  /** The limits of the request's subject are not known. */
  public static final String SUBJECT = "subject";

  /** The counts of this process are being read after a start. */
  public static final String COUNTS = "counts";

  /** The server has no rules yet. */
  public static final String NO_RULES = "no_rules";

  /** The upstream server gave no answer. */
  public static final String UPSTREAM = "upstream";

  /** The upstream server is newer, and gave a reason that is not known here. */
  public static final String UNKNOWN_REASON = "unknown_reason";

  private UncertainCause() {}
}
