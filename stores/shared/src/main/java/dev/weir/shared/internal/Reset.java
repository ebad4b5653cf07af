package dev.weir.shared.internal;

import dev.weir.shared.Call;
import dev.weir.shared.Failure;
import dev.weir.shared.Reply;
import dev.weir.shared.SharedBinding;
import java.util.function.Consumer;

/** Has the store forget a key. */
public final class Reset extends Operation {
  private final SharedBinding binding;
  private final long fingerprint;
  private final Consumer<? super Boolean> done;
  private long known;

  /**
   * @param done receives whether there was anything to forget; false if it is not known
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

  /** It is less than 0 where another shard has the key. */
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
