package dev.weir.identity;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A template that makes a descriptor of a request: {@code path={path},user={login|ip}}.
 *
 * <p>A field in braces is a {@link Source}: {@code {ip}}, {@code {ip/48}} with a prefix for IPv6,
 * {@code {ip/24/48}} with one for IPv4 and one for IPv6, {@code {login}}, {@code {path}}, {@code
 * {route}}, {@code {method}}, {@code {host}}, {@code {header:X}}, {@code {cookie:X}}, {@code
 * {query:X}}, and {@code {secret:X}}, a header that is hashed, or {@code {secret:cookie:X}} and
 * {@code {secret:query:X}}. Of alternatives, {@code {login|ip}}, the first that is present counts,
 * and its name is put before the value: {@code login:alice}, {@code ip:203.0.113.7}. Otherwise a
 * user who registers the name {@code 203.0.113.7} would share that address's counter. The same text
 * is a descriptor for {@code weir replay}, where names in braces are columns.
 *
 * <p>A value with control characters or of more than 1,024 characters is replaced by a hash, {@code
 * sha256:} and 22 characters; a value that consists of several fields is replaced too if it is
 * longer than that. A value that is empty, or present twice, is missing; {@link MissingValue}
 * determines what happens then.
 *
 * <p>Immutable, and safe for use by several threads.
 */
public final class DescriptorTemplate {
  /** A piece of a value: literal text, or alternatives. */
  private record Part(String text, List<SourceField> fields) {}

  private record Entry(String key, List<Part> parts) {}

  private final String text;
  private final List<Entry> entries;
  private final Set<Source> sources;

  /** The only part of the only entry, if it is a field; else null. */
  private final @Nullable Part single;

  private DescriptorTemplate(String text, List<Entry> entries, Set<Source> sources) {
    this.text = text;
    this.entries = List.copyOf(entries);
    this.sources = Collections.unmodifiableSet(sources);
    boolean one = entries.size() == 1 && entries.get(0).parts.size() == 1;
    Part first = one ? entries.get(0).parts.get(0) : null;
    this.single = first == null || first.fields.isEmpty() ? null : first;
  }

  /**
   * Reads a template.
   *
   * @throws TemplateException if it is none
   */
  public static DescriptorTemplate parse(String text) {
    List<Entry> entries = new ArrayList<>();
    Set<Source> sources = EnumSet.noneOf(Source.class);
    for (Template.Pair pair : Template.parseDescriptor(text)) {
      List<Part> parts = new ArrayList<>();
      for (Template.Piece piece : pair.value().pieces()) {
        if (piece instanceof Template.Field field) {
          List<SourceField> fields = fields(text, field);
          fields.forEach(each -> sources.add(each.source()));
          parts.add(new Part(field.text(), fields));
        } else if (piece instanceof Template.Literal literal) {
          parts.add(new Part(literal.text(), List.of()));
        }
      }
      entries.add(new Entry(pair.key(), List.copyOf(parts)));
    }
    return new DescriptorTemplate(text, entries, sources);
  }

  private static List<SourceField> fields(String text, Template.Field field) {
    List<SourceField> fields = new ArrayList<>();
    for (String name : field.names()) {
      try {
        fields.add(SourceField.parse(name));
      } catch (IllegalArgumentException e) {
        throw new TemplateException(
            text, e.getMessage() + " in place of " + QuotedText.of("{" + name + "}"));
      }
    }
    return List.copyOf(fields);
  }

  /** Returns the sources of its values. */
  public Set<Source> sources() {
    return sources;
  }

  /** Returns whether a value is read from that source, even if only as an alternative. */
  public boolean uses(Source source) {
    return sources.contains(source);
  }

  /**
   * Fills the template with the values of one request. A missing value is replaced by the empty
   * text, which no present value can be: so all requests without it share one descriptor.
   *
   * @param entry makes an entry of a key and a value
   * @return the entries of a descriptor, one at least; immutable
   */
  public <E> List<E> fill(
      RequestIdentity identity, BiFunction<? super String, ? super String, ? extends E> entry) {
    if (single != null) {
      String value = value(single.fields, identity);
      // The usual case: one entry, whose value is only a field.
      return List.of(
          entry.apply(entries.get(0).key, value == null ? "" : PlainText.bounded(value)));
    }
    List<E> filled = new ArrayList<>(entries.size());
    for (Entry each : entries) {
      StringBuilder value = new StringBuilder();
      for (Part part : each.parts) {
        String piece = part.fields.isEmpty() ? part.text : value(part.fields, identity);
        value.append(piece == null ? "" : piece);
      }
      filled.add(entry.apply(each.key, PlainText.bounded(value.toString())));
    }
    return List.copyOf(filled);
  }

  /**
   * Returns the first field that has no value in a request, as it is written in the template, for
   * example {@code header:X-Api-Key}; null if none is missing. {@link MissingValue} determines what
   * that means.
   */
  public @Nullable String missing(RequestIdentity identity) {
    for (Entry entry : entries) {
      for (Part part : entry.parts) {
        if (!part.fields.isEmpty() && !isAnyIn(part.fields, identity)) {
          return part.text;
        }
      }
    }
    return null;
  }

  private static boolean isAnyIn(List<SourceField> alternatives, RequestIdentity identity) {
    for (SourceField field : alternatives) {
      if (field.isIn(identity)) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable String value(List<SourceField> alternatives, RequestIdentity identity) {
    for (SourceField field : alternatives) {
      String value = field.value(identity);
      if (value != null) {
        return alternatives.size() > 1 ? field.name() + ":" + value : value;
      }
    }
    return null;
  }

  /** Returns the text from which the template was read. */
  @Override
  public String toString() {
    return text;
  }
}
