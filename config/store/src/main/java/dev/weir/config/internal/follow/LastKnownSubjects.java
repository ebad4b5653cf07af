package dev.weir.config.internal.follow;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.config.internal.bytes.SafeFile;
import dev.weir.engine.SubjectLimits;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The last known limits of subjects, in a file: a server goes on with them if its store does not
 * answer at the start.
 */
public final class LastKnownSubjects {
  /*
   * The file has fingerprints of subjects, since the table has nothing else of them, and therefore
   * also the seed of the fingerprints. Ends of limits are times of the wall clock, since the ticker
   * of another process differs. Each subject has the age of its limits, so that they do not become
   * younger by restarts.
   */

  /** The most subjects in the file, which is written each minute: 12 MB. */
  public static final int MAX_SUBJECTS = 1_000_000;

  /** A record has at most 64 limits, with names of up to 1 KiB; few records are that large. */
  static final long MAX_BYTES = 512L << 20;

  private static final String MAGIC = "weir-last-known-subjects 2 ";
  private static final int HEADER_BYTES = MAGIC.length() + 8 + 1;

  /** The content of the file. */
  public static final class Content {
    public final String store;
    public final long seed0;
    public final long seed1;
    public final long wallNanos;
    private final Map<SubjectLimits, Integer> numbers = new LinkedHashMap<>();
    private long[] fingerprints = new long[16];
    private int[] limits = new int[16];
    private int[] ages = new int[16];
    private int size;

    /**
     * Creates an empty content.
     *
     * @param store the id of the store of these subjects
     * @param wallNanos the time at which this was known
     */
    public Content(String store, long seed0, long seed1, long wallNanos) {
      this.store = store;
      this.seed0 = seed0;
      this.seed1 = seed1;
      this.wallNanos = wallNanos;
    }

    /**
     * Adds a subject; the ends of its limits are times of the wall clock.
     *
     * @param ageSeconds the time for which this may have been outdated when the content was written
     */
    public void add(long fingerprint, SubjectLimits of, int ageSeconds) {
      if (size == fingerprints.length) {
        fingerprints = Arrays.copyOf(fingerprints, 2 * size);
        limits = Arrays.copyOf(limits, 2 * size);
        ages = Arrays.copyOf(ages, 2 * size);
      }
      fingerprints[size] = fingerprint;
      ages[size] = ageSeconds;
      limits[size++] = numbers.computeIfAbsent(of, none -> numbers.size());
    }

    public void forEach(Visitor visitor) {
      List<SubjectLimits> values = List.copyOf(numbers.keySet());
      for (int i = 0; i < size; i++) {
        visitor.visit(fingerprints[i], values.get(limits[i]), ages[i]);
      }
    }

    /** A visitor of subjects, with the arguments of {@link Content#add}. */
    public interface Visitor {
      void visit(long fingerprint, SubjectLimits limits, int ageSeconds);
    }

    int size() {
      return size;
    }
  }

  private final Path file;

  public LastKnownSubjects(Path file) {
    this.file = file;
  }

  /**
   * Returns the limits with all ends moved later by this time; those without an end stay unchanged.
   */
  public static SubjectLimits shifted(SubjectLimits limits, long byNanos) {
    if (byNanos == 0 || limits.own().isEmpty()) {
      return limits;
    }
    Map<String, SubjectLimits.OwnLimit> own = new HashMap<>();
    limits
        .own()
        .forEach(
            (rule, each) ->
                own.put(
                    rule,
                    each.untilNanos() == Long.MAX_VALUE
                        ? each
                        : new SubjectLimits.OwnLimit(
                            each.requestsPerUnit(), each.untilNanos() + byNanos)));
    return new SubjectLimits(limits.plan(), own);
  }

  /** Writes the content so that the file holds either it or the former one, whatever happens. */
  public void write(Content content) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(1 << 16);
    DataOutputStream out = new DataOutputStream(bytes);
    text(out, content.store);
    out.writeLong(content.seed0);
    out.writeLong(content.seed1);
    out.writeLong(content.wallNanos);
    out.writeInt(content.numbers.size());
    for (SubjectLimits limits : content.numbers.keySet()) {
      String plan = limits.plan();
      text(out, plan == null ? "" : plan);
      out.writeInt(limits.own().size());
      for (Map.Entry<String, SubjectLimits.OwnLimit> each : limits.own().entrySet()) {
        text(out, each.getKey());
        out.writeLong(each.getValue().requestsPerUnit());
        out.writeLong(each.getValue().untilNanos());
      }
    }
    out.writeInt(content.size);
    for (int i = 0; i < content.size; i++) {
      out.writeLong(content.fingerprints[i]);
      out.writeInt(content.limits[i]);
      out.writeInt(content.ages[i]);
    }
    byte[] body = bytes.toByteArray();
    if (body.length > MAX_BYTES) {
      throw new IOException(file + ": " + body.length + " bytes (expected: at most " + MAX_BYTES);
    }
    SafeFile.write(file, header(body).getBytes(US_ASCII), body);
  }

  /**
   * Returns the content, or null if there is no file.
   *
   * @throws IOException if it is not as it was written
   */
  @Nullable
  public Content read() throws IOException {
    if (!Files.exists(file)) {
      return null;
    }
    if (Files.size(file) > MAX_BYTES + HEADER_BYTES) {
      throw damaged("more than " + MAX_BYTES + " bytes", null);
    }
    byte[] bytes = Files.readAllBytes(file);
    if (bytes.length < HEADER_BYTES) {
      throw damaged("cut off", null);
    }
    byte[] body = Arrays.copyOfRange(bytes, HEADER_BYTES, bytes.length);
    if (!header(body).equals(new String(bytes, 0, HEADER_BYTES, US_ASCII))) {
      throw damaged("another checksum than its content", null);
    }
    try {
      return content(new DataInputStream(new ByteArrayInputStream(body)));
    } catch (IOException | IllegalArgumentException e) {
      throw damaged(String.valueOf(e.getMessage()), e);
    }
  }

  private static Content content(DataInputStream in) throws IOException {
    Content content = new Content(text(in), in.readLong(), in.readLong(), in.readLong());
    int different = in.readInt();
    List<SubjectLimits> limits = new ArrayList<>();
    for (int i = 0; i < different; i++) {
      String plan = text(in);
      int own = in.readInt();
      Map<String, SubjectLimits.OwnLimit> each = new HashMap<>();
      for (int j = 0; j < own; j++) {
        each.put(text(in), new SubjectLimits.OwnLimit(in.readLong(), in.readLong()));
      }
      limits.add(
          plan.isEmpty() && own == 0
              ? SubjectLimits.NONE
              : new SubjectLimits(plan.isEmpty() ? null : plan, each));
    }
    int size = in.readInt();
    for (int i = 0; i < size; i++) {
      long fingerprint = in.readLong();
      int number = in.readInt();
      int age = in.readInt();
      if (number < 0 || number >= different || age < 0) {
        throw new IOException(
            "limits: "
                + number
                + ", age: "
                + age
                + " (expected: 0.."
                + (different - 1)
                + ", >= 0)");
      }
      content.add(fingerprint, limits.get(number), age);
    }
    return content;
  }

  private static void text(DataOutputStream out, String text) throws IOException {
    byte[] utf8 = text.getBytes(UTF_8);
    out.writeInt(utf8.length);
    out.write(utf8);
  }

  private static String text(DataInputStream in) throws IOException {
    int length = in.readInt();
    byte[] utf8 = in.readNBytes(length);
    if (utf8.length < length) {
      throw new IOException("a text is cut off");
    }
    return new String(utf8, UTF_8);
  }

  private static String header(byte[] body) {
    return SafeFile.header(MAGIC, body);
  }

  private IOException damaged(String how, @Nullable Exception cause) {
    return new IOException(file + ": " + how + " (expected: as written; it is ignored)", cause);
  }
}
