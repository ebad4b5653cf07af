package dev.weir.engine.internal.holds;

import dev.weir.rules.Descriptor;
import dev.weir.rules.Entry;
import dev.weir.rules.LimitOverride;
import dev.weir.rules.RateLimitUnit;
import dev.weir.rules.Request;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.function.IntToLongFunction;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import org.jspecify.annotations.Nullable;

/**
 * All that is needed to settle a hold: the client keeps it, so that no server has to. Immutable.
 *
 * @param kind whether it is a hold or a seat
 * @param id names the hold, and no other
 * @param origin names the engine that granted it
 * @param issuedNanos the instant at which it was granted, by that engine's clock
 * @param lifeNanos the time from then on in which it can be settled
 * @param request the request that was admitted, with the permits of each descriptor
 * @param own of each descriptor, whether its permits were its own, and not those of the request
 * @param charges of each descriptor, the charge; null where nothing was charged
 */
public record HoldToken(
    Kind kind,
    String id,
    long origin,
    long issuedNanos,
    long lifeNanos,
    Request request,
    List<Boolean> own,
    List<@Nullable HeldCharge> charges) {
  /*
   * Which form does it have, and who can read it? A version, the fields, and a signature
   * (HMAC-SHA256) over all of that, in base64 for URLs. It has nothing that its client did not send
   * or receive, so it is not encrypted. Nobody can make one up, or change one: that would be a
   * refund of permits that were never charged. The signature is checked before anything is read.
   */
  private static final int MAC_BYTES = 32;
  private static final int MOST_CHARACTERS = 1 << 20;
  private static final int NOT_CHARGED = 0;
  private static final int CHARGED_HERE = 1;
  private static final int CHARGED_SHARED = 2;

  /** The bit of a charge that is a seat. */
  private static final int SEAT = 4;

  /** The kinds of what a client keeps. */
  public enum Kind {
    /** Permits that are settled by a cost. */
    HOLD(1, "hold"),
    /** Permits that are out until they are given back. */
    SEAT(2, "seat");

    private final int version;
    private final String text;

    Kind(int version, String text) {
      this.version = version;
      this.text = text;
    }

    private IllegalArgumentException wrong(String problem) {
      return new IllegalArgumentException(
          text + ": " + problem + " (expected: the text of a granted " + text + ", unchanged)");
    }
  }

  public HoldToken {
    own = List.copyOf(own);
    charges = Collections.unmodifiableList(new ArrayList<>(charges)); // With nulls.
  }

  /** Returns whether any charge is in a store that servers share. */
  public boolean anyShared() {
    return charges.stream().anyMatch(each -> each != null && each.shared());
  }

  /** Returns the permits that are held for a descriptor. */
  public long held(int i) {
    Long permits = request.descriptors().get(i).permits();
    return permits == null ? 0 : permits;
  }

  /** Returns the request with other permits for each descriptor, by its number. */
  public Request with(IntToLongFunction permits) {
    List<Descriptor> changed = new ArrayList<>();
    for (int i = 0; i < request.descriptors().size(); i++) {
      Descriptor each = request.descriptors().get(i);
      changed.add(new Descriptor(each.entries(), each.limitOverride(), permits.applyAsLong(i)));
    }
    return new Request(request.domain(), changed, 1);
  }

  /** Returns the text of this hold, signed. */
  public String text(SecretKey key) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(bytes);
      out.writeByte(kind.version);
      write(id, out);
      out.writeLong(origin);
      out.writeLong(issuedNanos);
      out.writeLong(lifeNanos);
      write(request.domain(), out);
      out.writeInt(request.descriptors().size());
      for (int i = 0; i < request.descriptors().size(); i++) {
        write(i, out);
      }
      byte[] fields = bytes.toByteArray();
      bytes.writeBytes(signature(key, fields));
      return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(int i, DataOutputStream out) throws IOException {
    Descriptor descriptor = request.descriptors().get(i);
    out.writeInt(descriptor.entries().size());
    for (Entry entry : descriptor.entries()) {
      write(entry.key(), out);
      write(entry.value(), out);
    }
    LimitOverride limit = descriptor.limitOverride();
    write(limit == null ? "" : limit.unit().name(), out);
    if (limit != null) {
      out.writeLong(limit.requestsPerUnit());
      out.writeLong(limit.unitMultiplier());
    }
    out.writeLong(held(i));
    out.writeBoolean(own.get(i));
    HeldCharge charge = charges.get(i);
    if (charge == null) {
      out.writeByte(NOT_CHARGED);
    } else {
      int place = charge.shared() ? CHARGED_SHARED : CHARGED_HERE;
      out.writeByte(charge.seat() ? place | SEAT : place);
      out.writeLong(charge.policy());
      out.writeLong(charge.limit());
      out.writeLong(charge.atNanos());
      out.writeLong(charge.resetAfterNanos());
    }
  }

  private static void write(String text, DataOutputStream out) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  private static byte[] signature(SecretKey key, byte[] fields) {
    try {
      Mac mac = Mac.getInstance(key.getAlgorithm());
      mac.init(key);
      return mac.doFinal(fields);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // Every JDK has it.
    }
  }

  /**
   * Reads a hold or a seat.
   *
   * @throws IllegalArgumentException if it is none of that kind, or is not signed by this key
   */
  public static HoldToken read(Kind kind, String text, SecretKey key) {
    byte[] all = bytes(kind, text);
    int end = all.length - MAC_BYTES;
    byte[] fields = Arrays.copyOf(all, Math.max(0, end));
    byte[] signed = Arrays.copyOfRange(all, Math.max(0, end), all.length);
    if (end <= 0 || !MessageDigest.isEqual(signature(key, fields), signed)) {
      throw kind.wrong("not signed by this server's key");
    }
    try {
      return read(kind, new DataInputStream(new ByteArrayInputStream(fields)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] bytes(Kind kind, String text) {
    if (text.length() > MOST_CHARACTERS) {
      throw kind.wrong("too long");
    }
    try {
      return Base64.getUrlDecoder().decode(text);
    } catch (IllegalArgumentException e) {
      throw kind.wrong("not in base64 for URLs");
    }
  }

  private static HoldToken read(Kind kind, DataInputStream in) throws IOException {
    int version = in.readByte();
    if (version != kind.version) {
      throw kind.wrong("of version " + version);
    }
    String id = readText(in);
    long origin = in.readLong();
    long issuedNanos = in.readLong();
    long lifeNanos = in.readLong();
    String domain = readText(in);
    List<Descriptor> descriptors = new ArrayList<>();
    List<Boolean> own = new ArrayList<>();
    List<@Nullable HeldCharge> charges = new ArrayList<>();
    for (int left = in.readInt(); left > 0; left--) {
      List<Entry> entries = new ArrayList<>();
      for (int more = in.readInt(); more > 0; more--) {
        entries.add(new Entry(readText(in), readText(in)));
      }
      LimitOverride limit = readLimit(in);
      descriptors.add(new Descriptor(entries, limit, in.readLong()));
      own.add(in.readBoolean());
      int place = in.readByte();
      charges.add(
          place == NOT_CHARGED
              ? null
              : new HeldCharge(
                  (place & SEAT) != 0,
                  (place & ~SEAT) == CHARGED_SHARED,
                  in.readLong(),
                  in.readLong(),
                  in.readLong(),
                  in.readLong()));
    }
    Request request = new Request(domain, descriptors, 1);
    return new HoldToken(kind, id, origin, issuedNanos, lifeNanos, request, own, charges);
  }

  private static @Nullable LimitOverride readLimit(DataInputStream in) throws IOException {
    String unit = readText(in);
    return unit.isEmpty()
        ? null
        : new LimitOverride(in.readLong(), RateLimitUnit.valueOf(unit), in.readLong());
  }

  private static String readText(DataInputStream in) throws IOException {
    return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
  }
}
