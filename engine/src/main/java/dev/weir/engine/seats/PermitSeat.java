package dev.weir.engine.seats;

import dev.weir.adaptive.AdaptivePermit;
import java.util.function.Consumer;

/**
 * A permit of an adaptive limit in the form of a seat: it is held in this process alone, so it
 * needs no renewal and is not lost.
 */
final class PermitSeat implements TakenSeat {
  private final AdaptivePermit permit;

  PermitSeat(AdaptivePermit permit) {
    this.permit = permit;
  }

  @Override
  public long holdNanos() {
    return Long.MAX_VALUE;
  }

  @Override
  public void renew(Consumer<? super SeatOutcome> done) {
    done.accept(SeatOutcome.DONE);
  }

  @Override
  public void release(Consumer<? super SeatOutcome> done) {
    permit.close();
    done.accept(SeatOutcome.DONE);
  }
}
