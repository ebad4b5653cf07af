package dev.weir.admin.internal.stats;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.weir.Ticker;
import dev.weir.admin.AdminRequest;
import dev.weir.admin.internal.access.InstallationSecret;
import dev.weir.admin.internal.http.Clock;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The proof to one server that a request to read comes from another server of the same
 * installation: {@code Authorization: Weir-Fleet TIME.HMAC}. The secret itself never crosses the
 * network, and a signature is valid for one address and a minute. Safe for use by many threads.
 */
public final class FleetSignature {
  public static final String SCHEME = "Weir-Fleet ";

  private static final String ALGORITHM = "HmacSHA256";
  private static final long GOOD_SECONDS = 60;

  private final InstallationSecret secret;
  private final Ticker wall;

  public FleetSignature(InstallationSecret secret, Ticker wall) {
    this.secret = secret;
    this.wall = wall;
  }

  /** Returns the field's value for a GET of this path and query. */
  String sign(String path, String query) {
    String time = Long.toString(Clock.instant(wall).getEpochSecond());
    return SCHEME + time + '.' + hmac(path, query, time);
  }

  /** Returns whether a field's value is valid for a request. */
  public boolean good(AdminRequest request, String authorization) {
    String given = authorization.substring(SCHEME.length());
    int dot = given.indexOf('.');
    if (!request.method().equals("GET") || !given.matches("[0-9]{1,12}\\.[0-9a-f]{64}")) {
      return false;
    }
    String time = given.substring(0, dot);
    Instant at = Instant.ofEpochSecond(Long.parseLong(time));
    long apart = Math.abs(Clock.instant(wall).getEpochSecond() - at.getEpochSecond());
    String expected = hmac(request.path(), request.query(), time);
    return apart <= GOOD_SECONDS
        && MessageDigest.isEqual(
            expected.getBytes(US_ASCII), given.substring(dot + 1).getBytes(US_ASCII));
  }

  /** Returns whether a field's value is valid, as far as that is known without waiting. */
  public boolean knownGood(AdminRequest request, String authorization) {
    return secret.isKnown() && good(request, authorization);
  }

  private String hmac(String path, String query, String time) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret.get(), ALGORITHM));
      String text = "fleet\n" + path + '\n' + query + '\n' + time;
      return HexFormat.of().formatHex(mac.doFinal(text.getBytes(UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(ALGORITHM + ": " + e.getMessage(), e); // Every JDK has it.
    }
  }
}
