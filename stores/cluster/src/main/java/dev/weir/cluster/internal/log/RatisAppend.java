package dev.weir.cluster.internal.log;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * An entry on its way into the log of this process.
 *
 * <p>Ratis gives the same answer if it refused an entry and if it appended it and then lost the
 * leadership: both are a NotLeaderException, and a ResourceUnavailableException can be either too.
 * So the outcome is settled here, once: either the entry is {@link #append appended}, for which
 * Ratis calls the state machine beforehand, or it is {@link #refuse refused}, and cannot be
 * appended after that.
 */
final class RatisAppend implements Message {
  private enum State {
    WAITS,
    APPENDED,
    REFUSED
  }

  private final byte[] entry;
  private final ByteString content;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITS);

  RatisAppend(byte[] entry) {
    this.entry = entry;
    content = UnsafeByteOperations.unsafeWrap(entry);
  }

  byte[] entry() {
    return entry;
  }

  /** Returns whether the entry may be appended: from now on, it may be applied. */
  boolean append() {
    return state.compareAndSet(State.WAITS, State.APPENDED);
  }

  /** Returns whether the entry was not appended, and never will be. */
  boolean refuse() {
    return state.compareAndSet(State.WAITS, State.REFUSED);
  }

  @Override
  public ByteString getContent() {
    return content;
  }

  /** The reply of the machine. */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  record Reply(byte[] bytes) implements Message {
    @Override
    public ByteString getContent() {
      return UnsafeByteOperations.unsafeWrap(bytes);
    }
  }
}
