package dev.weir.replay.internal.pages;

import dev.weir.replay.ReplaySummary;
import dev.weir.traffic.Format;
import dev.weir.traffic.InputRead;
import dev.weir.traffic.Traffic;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The section of a page with the means to get it again: the command, and the inputs that it has
 * read.
 */
public final class RepeatSection {
  private final StringBuilder command;

  public RepeatSection(String name) {
    command = new StringBuilder("weir ").append(name);
  }

  /** Adds a flag with its value, unless the value is null. */
  public RepeatSection flag(String flag, @Nullable Object value) {
    if (value != null) {
      command.append(" \\\n  ").append(flag).append(' ').append(quoted(value.toString()));
    }
    return this;
  }

  /** Adds the flags that describe how the traffic is read. */
  public RepeatSection traffic(Traffic traffic) {
    traffic.inputs().forEach(input -> flag("--input", input));
    traffic.descriptors().forEach(descriptor -> flag("--descriptor", descriptor));
    boolean named = traffic.format() != Format.AUTO && traffic.layout() == null;
    flag("--format", named ? traffic.format() : null);
    flag("--layout", traffic.layout());
    flag("--time", traffic.time());
    flag("--time-unit", traffic.unitFlag());
    flag("--zone", traffic.zone());
    List<String> proxies = traffic.trustedProxies();
    flag("--trusted-proxies", proxies.isEmpty() ? null : String.join(",", proxies));
    flag("--permits", traffic.permits().equals("1") ? null : traffic.permits());
    flag("--duration", traffic.duration());
    flag("--time-is", traffic.timeIs());
    if (traffic.sort()) {
      command.append(" \\\n  --sort");
    }
    return this;
  }

  /** Quotes a word for a shell, if that is needed. */
  private static String quoted(String word) {
    return word.matches("[A-Za-z0-9_@%+=:,./-]+") ? word : "'" + word.replace("'", "'\\''") + "'";
  }

  /** Appends the section. */
  public void section(Html html, ReplaySummary.Source source) {
    html.raw("<section>").element("h2", "To get this page again");
    html.raw("<pre>").raw(lines(command.toString())).raw("</pre>");
    html.raw("<p class=\"note\">");
    html.text("Read as " + source.text().replaceFirst("format ", "") + ". All times are UTC.");
    source.notes().forEach(note -> html.text(" " + Figures.plain(note) + "."));
    html.raw("</p>");
    html.table("input", "#bytes", "CRC-32C");
    for (InputRead input : source.inputs()) {
      String name = input.name().equals(Traffic.STANDARD_INPUT) ? "standard input" : input.name();
      html.row().keyCell(name).number(input.bytes());
      html.cell(String.format(Locale.ROOT, "%08x", input.crc32c())).endRow();
    }
    html.endTable().raw("</section>\n");
  }

  /** Escapes a text and keeps its line breaks. */
  public static String lines(String text) {
    StringBuilder escaped = new StringBuilder();
    for (String line : text.split("\r?\n", -1)) {
      escaped.append(escaped.length() == 0 ? "" : "\n").append(Html.escaped(line));
    }
    return escaped.toString();
  }
}
