package dev.weir.config.internal.follow;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.Change;
import dev.weir.config.ConfigException;
import dev.weir.config.ConfigException.Kind;
import dev.weir.config.Entry;
import dev.weir.config.Head;
import dev.weir.config.Json;
import dev.weir.config.Node;
import dev.weir.config.Revision;
import dev.weir.config.Subject;
import dev.weir.config.internal.bytes.HexHash;
import dev.weir.config.internal.bytes.RecordCodec;
import dev.weir.config.internal.rows.Keys;
import dev.weir.config.rows.Counts;
import dev.weir.config.rows.Rows;
import dev.weir.config.rows.Rows.Batch;
import dev.weir.config.rows.Rows.Reader;
import dev.weir.config.rows.Rows.Row;
import dev.weir.config.rows.Rows.Table;
import dev.weir.config.rows.Tree;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The encodings of values in rows. */
public final class RowFormat {
  public static final byte[] HEAD = Keys.text("head");
  private static final byte[] STORE = Keys.text("store");

  /** The format; raised when older versions of Weir must not open a store any more. */
  private static final long FORMAT = 1;

  private static final int HASH_BYTES = 32;

  /** The time without a report after which a server is removed. */
  private static final Duration SILENT = Duration.ofDays(1);

  /** The most servers; more than any fleet has. */
  private static final int MAX_NODES = 10_000;

  private RowFormat() {}

  /** A parser of JSON; if it throws, the row is damaged. */
  private interface Reading<T> {
    T read(Json.Members members) throws IOException;
  }

  private static <T> T json(String what, byte[] value, Reading<T> reading) {
    try {
      return reading.read(Json.read(new String(value, UTF_8)));
    } catch (IOException | DateTimeException | IllegalArgumentException e) {
      throw damaged(what, "unreadable, " + e.getMessage(), e);
    }
  }

  public static ConfigException damaged(String what, String how, @Nullable Exception cause) {
    String message = what + ": " + how.lines().findFirst().orElse("") + " (expected: as written)";
    return cause == null
        ? new ConfigException(Kind.DAMAGED, message)
        : new ConfigException(Kind.DAMAGED, message, cause);
  }

  /** Creates a store, unless another process has just created it, and returns its id. */
  public static String make(Reader reader, Batch batch) {
    String made = id(reader);
    if (made != null) {
      return made;
    }
    byte[] random = new byte[16];
    new SecureRandom().nextBytes(random);
    String id = HexFormat.of().formatHex(random);
    batch.put(Table.META, STORE, Keys.text(Json.write(Map.of("format", FORMAT, "store", id))));
    batch.put(Table.META, HEAD, head(new Head(id, 0, 0, HexHash.NONE)));
    return id;
  }

  /** Returns the store's own id, or null if there is no store. */
  public static @Nullable String id(Reader reader) {
    List<byte @Nullable []> meta = reader.get(Table.META, List.of(STORE, HEAD));
    byte[] stored = meta.get(0);
    if (stored == null) {
      if (meta.get(1) != null) {
        throw damaged("store", "a head without an id", null);
      }
      return null;
    }
    return json(
        "store",
        stored,
        members -> {
          long format = members.number("format");
          if (format > FORMAT) {
            throw new ConfigException(
                Kind.DAMAGED,
                "store: format %d (expected: at most %d; a newer version of Weir made it)"
                    .formatted(format, FORMAT));
          }
          return members.text("store");
        });
  }

  public static Head head(Reader reader, String store) {
    byte[] stored = reader.get(Table.META, List.of(HEAD)).get(0);
    if (stored == null) {
      throw damaged("head", "missing", null);
    }
    return json(
        "head",
        stored,
        members ->
            new Head(
                store,
                members.number("revision"),
                members.number("position"),
                members.text("hash")));
  }

  public static byte[] head(Head head) {
    return Keys.text(
        Json.write(
            Map.of("revision", head.revision(), "position", head.position(), "hash", head.hash())));
  }

  public static @Nullable Revision revision(Reader reader, long number) {
    byte[] stored = reader.get(Table.REVISION, List.of(Keys.number(number))).get(0);
    return stored == null
        ? null
        : json(
            "revision " + number,
            stored,
            members ->
                new Revision(
                    number,
                    new Tree(new TreeMap<>(members.object("tree").texts())),
                    members.number("position"),
                    members.text("author"),
                    members.text("reason"),
                    Instant.parse(members.text("at"))));
  }

  public static byte[] revision(Revision revision) {
    return Keys.text(
        Json.write(
            Map.of(
                "tree", revision.tree().files(),
                "position", revision.position(),
                "author", revision.author(),
                "reason", revision.reason(),
                "at", revision.at().toString())));
  }

  public static Change change(Row row) {
    long number = Keys.number(row.key());
    byte[] value = row.value();
    if (value.length < HASH_BYTES) {
      throw damaged("change " + number, value.length + " bytes", null);
    }
    return new Change(
        number,
        new String(value, HASH_BYTES, value.length - HASH_BYTES, UTF_8),
        HexHash.hex(Arrays.copyOf(value, HASH_BYTES)));
  }

  public static byte[] change(Change change) {
    byte[] json = Keys.text(change.json());
    byte[] value = Arrays.copyOf(HexHash.bytes(change.hash()), HASH_BYTES + json.length);
    System.arraycopy(json, 0, value, HASH_BYTES, json.length);
    return value;
  }

  /** Returns the version of a record, or one that no writer expects if the record is unreadable. */
  public static long version(byte[] record) {
    try {
      return RecordCodec.version(record);
    } catch (IllegalArgumentException e) {
      return Long.MAX_VALUE;
    }
  }

  /** Returns the members of a record for the log, or its bytes if it cannot be read. */
  public static Map<String, Object> members(Subject subject, byte[] record) {
    try {
      return RecordCodec.members(RecordCodec.read(subject, record));
    } catch (IllegalArgumentException e) {
      return Map.of("unreadable", HexFormat.of().formatHex(record));
    }
  }

  public static Json.Members members(String json) {
    return json("entry", Keys.text(json), members -> members);
  }

  public static Entry entry(String kind, String name, byte[] value) {
    return json(
        kind + " " + name,
        value,
        members -> new Entry(kind, name, members.json("json"), members.number("version")));
  }

  public static byte[] entry(Entry entry) {
    return Keys.text(
        Json.write(
            Map.of("json", members(entry.json()).without(Set.of()), "version", entry.version())));
  }

  /**
   * Returns the servers that were silent for a day, or the others.
   *
   * @param silent true for the silent ones
   */
  public static List<Node> nodes(Rows rows, long nowNanos, boolean silent) {
    Instant since = instant(nowNanos).minus(SILENT);
    List<Node> nodes = new ArrayList<>();
    for (Row row : rows.scan(Table.NODE, new byte[0], null, MAX_NODES)) {
      Node node = node(row);
      if (node.at().isBefore(since) == silent) {
        nodes.add(node);
      }
    }
    return nodes;
  }

  private static Node node(Row row) {
    String id = new String(row.key(), UTF_8);
    return json(
        "node " + id,
        row.value(),
        members ->
            Node.builder(id)
                .address(members.text("address"))
                .admin(members.has("admin") ? members.text("admin") : "")
                .version(members.text("version"))
                .revision(members.number("revision"))
                .position(members.number("position"))
                .problems(members.list("problems"))
                .counts(new Counts(members.number("asked"), members.number("refused")))
                .at(Instant.parse(members.text("at")))
                .build());
  }

  public static byte[] node(Node node, Instant at) {
    return Keys.text(
        Json.write(
            Map.of(
                "address", node.address(),
                "admin", node.admin(),
                "version", node.version(),
                "revision", node.revision(),
                "position", node.position(),
                "problems", node.problems(),
                "asked", node.counts().asked(),
                "refused", node.counts().refused(),
                "at", at.toString())));
  }

  public static Instant instant(long wallNanos) {
    return Instant.ofEpochMilli(Math.floorDiv(wallNanos, 1_000_000L));
  }
}
