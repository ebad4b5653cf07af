package dev.weir.engine.internal.matching;

import dev.weir.engine.Answer;
import dev.weir.engine.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An answer to a request of any number of descriptors, or to one that could not be decided. */
public final class AnswerOfStatuses extends Answer {
  private final boolean allowed;
  private final List<Status> statuses;
  private final @Nullable String error;
  private final long revision;
  private final boolean shadowed;
  private final boolean domainKnown;

  public AnswerOfStatuses(
      boolean allowed,
      List<Status> statuses,
      @Nullable String error,
      long revision,
      boolean shadowed,
      boolean domainKnown) {
    this.allowed = allowed;
    this.statuses = statuses;
    this.error = error;
    this.revision = revision;
    this.shadowed = shadowed;
    this.domainKnown = domainKnown;
  }

  @Override
  public boolean allowed() {
    return allowed;
  }

  @Override
  public List<Status> statuses() {
    return statuses;
  }

  @Override
  public @Nullable String error() {
    return error;
  }

  @Override
  public long revision() {
    return revision;
  }

  @Override
  public boolean shadowed() {
    return shadowed;
  }

  @Override
  public boolean domainKnown() {
    return domainKnown;
  }
}
