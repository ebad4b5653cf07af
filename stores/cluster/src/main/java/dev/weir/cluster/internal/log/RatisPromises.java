package dev.weir.cluster.internal.log;

import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;

/** A group's log on disk, by Ratis. Safe for use by many threads. */
final class RatisPromises implements OlderFolder.GroupLog {
  private static final long NONE = 0;

  private final RaftServer.Division division;

  RatisPromises(RaftServer.Division division) {
    this.division = division;
  }

  @Override
  public Promise promise() {
    // The term first: an entry that comes meanwhile may be of a later one, and counts less then.
    long term = division.getInfo().getCurrentTerm();
    long flushed = division.getRaftLog().getFlushIndex();
    TermIndex last = division.getRaftLog().getTermIndex(flushed);
    long index = Math.max(0, Math.max(flushed, division.getInfo().getLastAppliedIndex()));
    return new Promise(term, last == null ? NONE : last.getTerm(), index);
  }
}
