package dev.weir.engine.internal.matching;

import dev.weir.engine.DecidedDescriptor;
import dev.weir.engine.Status;
import dev.weir.rules.Descriptor;
import dev.weir.rules.Rule;
import org.jspecify.annotations.Nullable;

/**
 * The descriptors of a {@link PendingRequest} as an observer receives them, one after the other.
 */
final class DecidedMatch implements DecidedDescriptor {
  private final PendingRequest request;
  private int index;
  private @Nullable Status status;
  private boolean refused;

  DecidedMatch(PendingRequest request) {
    this.request = request;
  }

  /**
   * Moves to a descriptor.
   *
   * @param newStatus null if none has been made
   */
  DecidedMatch of(int i, @Nullable Status newStatus, boolean isRefused) {
    index = i;
    status = newStatus;
    refused = isRefused;
    return this;
  }

  @Override
  public @Nullable Rule rule() {
    BoundRule bound = request.bound(index);
    return bound == null ? null : bound.rule;
  }

  @Override
  public long fingerprint() {
    return request.fingerprint(index);
  }

  @Override
  public boolean refused() {
    return refused;
  }

  @Override
  public Descriptor descriptor() {
    return request.descriptor(index);
  }

  @Override
  public Status status() {
    Status made = status;
    if (made == null) {
      made = request.status(index);
      status = made;
    }
    return made;
  }
}
