package dev.weir.traffic.internal.read;

import dev.weir.rules.ShownText;
import dev.weir.traffic.Format;
import dev.weir.traffic.TrafficException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The errors for an input whose format is not certain. Each names the flags to choose from. */
final class DetectionErrors {
  private static final String EXPECTED =
      "--format with one of "
          + Arrays.stream(Format.values())
              .filter(format -> format != Format.AUTO && format != Format.LAYOUT)
              .map(Format::text)
              .collect(Collectors.joining(", "))
          + " (IIS and CloudFront write w3c); if it is none of them, --layout with the order of the"
          + " values, such as 'ip - user [time] \"request\" status'; without a time in each line it"
          + " cannot be read";

  private final String name;
  private final Sample sample;

  /**
   * @param name the input's name
   */
  DetectionErrors(String name, Sample sample) {
    this.name = name;
    this.sample = sample;
  }

  /** Returns the error for lines of no format. */
  TrafficException unknown() {
    return new TrafficException(
        "format: not a log that is known, by its name "
            + ShownText.quoted(name)
            + " and its first line "
            + ShownText.quoted(sample.lines().get(0).strip())
            + " (expected: "
            + EXPECTED
            + ")");
  }

  /** Returns the error for lines of the format without the client's address. */
  TrafficException noAddress(Format format) {
    return new TrafficException(
        "format: no address in the place of the client in "
            + firstLine()
            + " (expected: "
            + flag(format)
            + " if that is the client's name; else --layout with the order of the values)");
  }

  /** Returns the error for lines of the format in which two columns may be the client's. */
  TrafficException twoAddresses(Format format) {
    return new TrafficException(
        "format: two addresses before the time in "
            + firstLine()
            + ": either may be the client's (expected: --format "
            + format
            + " with --descriptor 'ip={ip}' for the first, 'ip={ident}' for the second)");
  }

  /** Returns the error for lines of two formats at once. */
  TrafficException ambiguous(Format first, Format second) {
    return new TrafficException(
        "format: "
            + firstLine()
            + " may be "
            + first
            + " or "
            + second
            + " (expected: "
            + flag(first)
            + " or "
            + flag(second)
            + ")");
  }

  /** Returns the error for an input of which less than half is of any format. */
  TrafficException few(FormatLines most) throws IOException, TrafficException {
    return new TrafficException(
        "format: only "
            + most.count()
            + " of the first "
            + sample.lines().size()
            + " lines of "
            + ShownText.quoted(name)
            + " are "
            + most.format()
            + " (expected: --format "
            + most.format()
            + ", which reads "
            + readable(most)
            + " of these and counts the others as unreadable)");
  }

  /** Returns the error for lines of several formats. */
  TrafficException mixed(List<FormatLines> formats) throws IOException, TrafficException {
    StringBuilder text = new StringBuilder();
    text.append("format: ").append(ShownText.quoted(name)).append(" has lines of several formats:");
    for (FormatLines each : formats) {
      text.append(text.charAt(text.length() - 1) == ':' ? " " : ", ")
          .append(each.format())
          .append(" (");
      text.append(each.count()).append(", the first is line ");
      text.append(each.lines().nextSetBit(0) + 1).append(')');
    }
    text.append(" (expected: one; --format with its name reads that one");
    for (FormatLines each : formats) {
      int readable = readable(each);
      if (readable > each.count()) {
        text.append(", ").append(each.format()).append(" ").append(readable).append(" lines");
      }
    }
    return new TrafficException(
        text.append(", and the other lines count as unreadable)").toString());
  }

  /**
   * Returns the number of lines that the format reads, including those that do not look like it.
   */
  private int readable(FormatLines of) throws IOException, TrafficException {
    return Readers.LINES.contains(of.format())
        ? Math.max(of.count(), sample.readable(of.format()))
        : of.count();
  }

  private String firstLine() {
    return ShownText.quoted(name) + ", line 1 " + ShownText.quoted(sample.lines().get(0));
  }

  private static String flag(Format format) {
    return "--format "
        + format
        + switch (format) {
          case COMBINED -> ", the client in the first word,";
          case VHOST -> ", the client in the second word,";
          default -> "";
        };
  }
}
