package dev.weir.config;

import dev.weir.config.internal.bytes.Check;
import dev.weir.config.rows.Tree;
import java.time.Instant;

/**
 * The rules as they were from one change to the next. Each revision follows the one before it, so
 * its parent is {@code number - 1}.
 *
 * @param number counted from 1, without gaps
 * @param position the number of the change that made it
 * @param at by the store's clock, in milliseconds
 */
public record Revision(
    long number, Tree tree, long position, String author, String reason, Instant at) {
  public Revision {
    Check.range("number", number, 1, Long.MAX_VALUE);
    Check.range("position", position, 1, Long.MAX_VALUE);
  }
}
