package dev.weir;

import dev.weir.internal.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.DigestException;
import java.security.MessageDigest;

/** The first 64 bits of SHA-256. [FIPS 180-4] */
final class Sha256KeyHash implements KeyHash {
  /** The bit set in the domain of texts that have no UTF-8 bytes; those are hashed as UTF-16. */
  private static final long NOT_UTF8 = 1L << 32;

  private static final ThreadLocal<Digest> DIGEST = ThreadLocal.withInitial(Digest::new);

  /** The digest of one thread. */
  private static final class Digest {
    private final ByteBuffer block = ByteBuffer.allocate(32);
    private final MessageDigest digest = Sha256.digest();

    void word(long word) {
      digest.update(block.clear().putLong(word).flip());
    }

    long finish() {
      try {
        digest.digest(block.array(), 0, block.capacity());
      } catch (DigestException e) {
        throw new IllegalStateException("32 bytes have room for SHA-256", e);
      }
      return block.getLong(0);
    }
  }

  @Override
  public long hash(long domain, CharSequence text) {
    return hash(domain, false, 0, text.toString());
  }

  @Override
  public long hash(long domain, long first, CharSequence text) {
    return hash(domain, true, first, text.toString());
  }

  private static long hash(long domain, boolean prefixed, long first, String text) {
    boolean utf8 = isUtf8(text);
    Digest digest = DIGEST.get();
    digest.word(utf8 ? domain : domain | NOT_UTF8);
    if (prefixed) {
      digest.word(first);
    }
    digest.digest.update(text.getBytes(utf8 ? StandardCharsets.UTF_8 : StandardCharsets.UTF_16BE));
    return digest.finish();
  }

  private static boolean isUtf8(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        if (i + 1 == text.length() || !Character.isSurrogatePair(c, text.charAt(i + 1))) {
          return false;
        }
        i++;
      }
    }
    return true;
  }

  @Override
  public long hash(long domain, byte[] bytes, int from, int to) {
    Digest digest = DIGEST.get();
    digest.word(domain);
    digest.digest.update(bytes, from, to - from);
    return digest.finish();
  }

  @Override
  public long hash(long domain, ByteBuffer bytes) {
    Digest digest = DIGEST.get();
    digest.word(domain);
    digest.digest.update(bytes.duplicate());
    return digest.finish();
  }
}
