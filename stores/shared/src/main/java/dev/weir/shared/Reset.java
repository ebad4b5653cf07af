package dev.weir.shared;

import java.util.function.Consumer;

/** Has the store forget a key. */
final class Reset extends Operation {
  private final SharedBinding binding;
  private final long fingerprint;
  private final Consumer<? super Boolean> done;
  private long known;

  /**
   * @param done receives whether there was anything to forget; false if it is not known
   */
  Reset(SharedBinding binding, long fingerprint, Consumer<? super Boolean> done) {
    this.binding = binding;
    this.fingerprint = fingerprint;
    this.done = done;
  }

  @Override
  SharedBinding binding() {
    return binding;
  }

  @Override
  long fingerprint() {
    return fingerprint;
  }

  @Override
  void write(Call call) {
    call.reset(binding, fingerprint);
  }

  @Override
  void read(Reply reply) {
    known = reply.number();
  }

  /** It is less than 0 where another shard has the key. */
  @Override
  boolean moved() {
    return known < 0;
  }

  @Override
  void answer() {
    done.accept(known > 0);
  }

  @Override
  void fail(Failure failure) {
    done.accept(false);
  }
}
