package dev.weir.shared.internal;

import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.SharedBinding;
import java.util.function.Consumer;

/** An operation that removes the state of a key in the store. */
public final class Reset extends Operation {
  private final SharedBinding binding;
  private final long fingerprint;
  private final Consumer<? super Boolean> done;
  private long known;

  /**
   * Creates a reset.
   *
   * @param done receives whether there was a state; false if that is not known
   */
  public Reset(SharedBinding binding, long fingerprint, Consumer<? super Boolean> done) {
    this.binding = binding;
    this.fingerprint = fingerprint;
    this.done = done;
  }

  @Override
  public SharedBinding binding() {
    return binding;
  }

  @Override
  public long fingerprint() {
    return fingerprint;
  }

  @Override
  public void write(Call call) {
    call.reset(binding, fingerprint);
  }

  @Override
  public void read(Reply reply) {
    known = reply.number();
  }

  /** Returns true if another shard has the key; the reply is then less than 0. */
  @Override
  public boolean moved() {
    return known < 0;
  }

  @Override
  public void answer() {
    done.accept(known > 0);
  }

  @Override
  public void fail(Failure failure) {
    done.accept(false);
  }
}
