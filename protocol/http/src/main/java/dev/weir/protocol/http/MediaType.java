package dev.weir.protocol.http;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The media types of a refusal's body; the client's {@code Accept} chooses (RFC 9110, section
 * 12.5.1).
 */
public enum MediaType {
  PROBLEM("application/problem+json"),
  TEXT("text/plain; charset=utf-8"),
  HTML("text/html; charset=utf-8");

  /** The most elements of the field that are read: browsers send ten at most. */
  private static final int MAX_ELEMENTS = 32;

  /** The longest element that is read. */
  private static final int MAX_LENGTH = 256;

  /** The quality of an element that does not state it, in thousandths. */
  private static final int MOST = 1_000;

  private static final int NAMED = 2;
  private static final int RANGE = 1;
  private static final int ANY = 0;

  private final String contentType;

  MediaType(String contentType) {
    this.contentType = contentType;
  }

  public String contentType() {
    return contentType;
  }

  /** The quality of one type by the elements read so far: the most specific element counts. */
  private static final class Preference {
    private final MediaType type;
    private int specific = -1;
    private int quality;
    private int place;

    Preference(MediaType type) {
      this.type = type;
    }

    void take(int newSpecific, int newQuality, int newPlace) {
      if (newSpecific > specific || (newSpecific == specific && newQuality > quality)) {
        specific = newSpecific;
        quality = newQuality;
        place = newPlace;
      }
    }

    boolean before(@Nullable Preference other) {
      return quality > 0
          && (other == null
              || quality > other.quality
              || (quality == other.quality && place < other.place));
    }
  }

  /**
   * Returns the type that the client prefers; of equal types, the one that it names first. Returns
   * a problem document if the client states no preference, takes anything, or takes none of the
   * types.
   */
  public static MediaType preferred(List<String> accept) {
    if (accept.isEmpty()) {
      return PROBLEM;
    }
    List<Preference> preferences =
        List.of(new Preference(PROBLEM), new Preference(TEXT), new Preference(HTML));
    int looked = 0;
    for (String line : accept) {
      for (int from = 0; from <= line.length() && looked < MAX_ELEMENTS; looked++) {
        int comma = line.indexOf(',', from);
        int to = comma < 0 ? line.length() : comma;
        if (to - from <= MAX_LENGTH) {
          read(line.substring(from, to), looked, preferences);
        }
        from = to + 1;
      }
    }
    Preference most = null;
    for (Preference preference : preferences) {
      most = preference.before(most) ? preference : most;
    }
    return most == null ? PROBLEM : most.type;
  }

  /** Reads one element, which may stand for several types. */
  private static void read(String element, int place, List<Preference> preferences) {
    String[] parts = element.toLowerCase(Locale.ROOT).split(";", -1);
    int quality = quality(parts);
    String name = parts[0].strip();
    if (quality < 0) {
      return;
    }
    boolean any = name.equals("*/*");
    for (Preference preference : preferences) {
      if (preference.type.names(name)) {
        preference.take(NAMED, quality, place);
      } else if (preference.type.isIn(name)) {
        preference.take(RANGE, quality, place);
      } else if (any) {
        preference.take(ANY, quality, place);
      }
    }
  }

  private boolean names(String name) {
    return switch (this) {
      case PROBLEM -> name.equals("application/json") || name.endsWith("+json");
      case TEXT -> name.equals("text/plain");
      case HTML -> name.equals("text/html") || name.equals("application/xhtml+xml");
    };
  }

  private boolean isIn(String range) {
    return range.equals(this == PROBLEM ? "application/*" : "text/*");
  }

  /**
   * Returns the quality in thousandths, or -1 if it is malformed: then the element does not count.
   */
  private static int quality(String[] parts) {
    for (int i = 1; i < parts.length; i++) {
      String parameter = parts[i].strip();
      if (parameter.startsWith("q=")) {
        return quality(parameter.substring(2));
      }
    }
    return MOST;
  }

  /** Reads 0 or 1 with up to three digits after the point (RFC 9110, section 12.4.2). */
  private static int quality(String text) {
    boolean point = text.length() < 2 || text.charAt(1) == '.';
    if (text.isEmpty() || text.length() > 5 || !point) {
      return -1;
    }
    int quality = 0;
    for (int i = 0; i < 5; i++) {
      char c = i < text.length() ? text.charAt(i) : '0';
      if (i != 1) {
        if (c < '0' || c > '9') {
          return -1;
        }
        quality = 10 * quality + c - '0';
      }
    }
    return quality > MOST ? -1 : quality;
  }
}
