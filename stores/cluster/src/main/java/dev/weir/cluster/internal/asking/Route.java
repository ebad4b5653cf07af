package dev.weir.cluster.internal.asking;

import dev.weir.cluster.internal.log.LedgerException;
import dev.weir.cluster.internal.state.EntryWriter;
import dev.weir.cluster.internal.state.ReplyWriter;
import java.util.concurrent.CompletionStage;

/** The route to the members. Safe for use by many threads. */
public interface Route {
  /**
   * Sends operations to a member that leads their group, which decides them.
   *
   * @param entry as {@link EntryWriter} writes it
   * @return the reply, as {@link ReplyWriter} writes it; fails with a {@link LedgerException}
   */
  CompletionStage<byte[]> send(String member, int group, byte[] entry);
}
