package dev.weir.identity;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a list header from the right, those that are not empty. Every comma ends one,
 * also between quotes: an open quote of the client's must not swallow what a proxy added behind it.
 */
final class ElementsFromRight {
  /** The most elements that are looked at: no request goes through more proxies. */
  static final int MAX = 64;

  private final List<? extends CharSequence> lines;
  private CharSequence text = "";

  /** How many of the lines have not been begun. */
  private int unbegun;

  /** Where the unread part of the line ends, -1 if all of it has been read. */
  private int unread = -1;

  private int from;
  private int to;
  private int seen;

  ElementsFromRight(List<? extends CharSequence> lines) {
    this.lines = lines;
    unbegun = lines.size();
  }

  /** Moves to the next element to the left; false where there is none. */
  boolean next() {
    while (unread >= 0 || unbegun > 0) {
      if (unread < 0) {
        text = lines.get(--unbegun);
        unread = text.length();
      }
      int comma = Span.findLast(text, ',', 0, unread);
      from = Span.skip(text, comma + 1, unread);
      to = Span.skipBack(text, from, unread);
      unread = comma;
      if (from < to) {
        seen++;
        return true;
      }
    }
    return false;
  }

  /** Returns whether the element that {@link #next} has found is beyond the bound. */
  boolean tooMany() {
    return seen > MAX;
  }

  /** Returns the element's address, null if it has none. */
  @Nullable IpAddress address(HeaderForm form) {
    return form == HeaderForm.FORWARDED
        ? ForwardedElement.parse(text, from, to)
        : Node.parse(text, from, to, false);
  }
}
