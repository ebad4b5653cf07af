package dev.weir.identity;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a list header from the right, except empty ones. Every comma ends one, even
 * between quotes: an open quote of the client must not swallow an element that a proxy added behind
 * it.
 */
final class ElementsFromRight {
  /** The most elements that are read: no request goes through more proxies. */
  static final int MAX = 64;

  private final List<? extends CharSequence> lines;
  private CharSequence text = "";

  /** The number of lines that have not been begun. */
  private int unbegun;

  /** The end of the unread part of the line, -1 if all of it has been read. */
  private int unread = -1;

  private int from;
  private int to;
  private int seen;

  ElementsFromRight(List<? extends CharSequence> lines) {
    this.lines = lines;
    unbegun = lines.size();
  }

  /** Moves to the next element to the left; returns false if there is none. */
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
