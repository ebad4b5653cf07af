package dev.weir.http.outgoing;

import dev.weir.internal.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * A host and a key, as the first half of their SHA-256. A key may be a credential, which must not
 * stay in memory for longer than its request, and may have any length.
 */
record HostKey(long high, long low) {
  static HostKey of(String host, int port, String key) {
    byte[] hash = Sha256.of((host + ':' + port + '\n' + key).getBytes(StandardCharsets.UTF_8));
    ByteBuffer words = ByteBuffer.wrap(hash);
    return new HostKey(words.getLong(), words.getLong());
  }
}
