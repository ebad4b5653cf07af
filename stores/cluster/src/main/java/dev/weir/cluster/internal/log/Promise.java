package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.ByteReader;
import dev.weir.cluster.internal.peer.ByteWriter;

/**
 * The part of a group's log that a member has on disk, by which it is bound: it may not vote in an
 * earlier term, nor forget an entry that it has acknowledged.
 *
 * @param term the member's term
 * @param lastTerm the term of its last entry; less than {@code term} if it has none of that term
 * @param index the index of its last entry
 */
record Promise(long term, long lastTerm, long index) {
  /**
   * Returns whether a log that is at this promise has forgotten a part of an earlier one. Terms
   * never go back. In one term no entry is removed, once the log has an entry of that term.
   */
  boolean lacks(Promise earlier) {
    return term < earlier.term
        || (term == earlier.term && earlier.lastTerm == earlier.term && index < earlier.index);
  }

  static Promise read(ByteReader in) {
    return new Promise(in.readNumber(), in.readNumber(), in.readNumber());
  }

  void write(ByteWriter out) {
    out.writeNumber(term).writeNumber(lastTerm).writeNumber(index);
  }

  @Override
  public String toString() {
    return "term " + term + " and entry " + index;
  }
}
