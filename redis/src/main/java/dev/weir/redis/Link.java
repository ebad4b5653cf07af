package dev.weir.redis;

/** The way to Redis, whatever is there: one server, one behind sentinels, a cluster. */
interface Link extends AutoCloseable {
  /** Returns who asks the shard that a key is on; null while nobody knows which that is. */
  @org.jspecify.annotations.Nullable
  Caller caller(byte[] key);

  /** Returns whether all keys are decided in one step, wherever they are. */
  boolean oneSlot();

  /** Returns the slot of a key, 0 where there is but one. */
  int slot(byte[] key);

  /** Looks after what waits; to be called often. */
  void tick();

  /** Returns whether everything can be asked. */
  boolean available();

  /** Returns why not everything can be asked, in words; empty if it can. */
  String problem();

  /** Returns how many questions wait to be sent. */
  long queued();

  /** Takes no more questions, and waits a bounded time for the answers that are due. */
  @Override
  void close();
}
