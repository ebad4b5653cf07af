package dev.weir.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/** Certificates that sign themselves: a member trusts those in one file. */
final class PeerCertificates {
  private static final String PASSWORD = "changeit";

  private PeerCertificates() {}

  /** Writes {@code file.crt} and {@code file.key}, made out to that name. */
  static void create(Path folder, String file, String name) throws Exception {
    Path store = folder.resolve(file + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keystore",
                store.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-alias",
                "member",
                "-keyalg",
                "EC",
                "-groupname",
                "secp256r1",
                "-dname",
                "CN=weir",
                "-ext",
                "san=dns:" + name,
                "-validity",
                "2")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve(file + ".log").toFile())
            .start();
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException(Files.readString(folder.resolve(file + ".log")));
    }
    write(store, folder, file);
  }

  private static void write(Path store, Path folder, String file)
      throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    Files.writeString(
        folder.resolve(file + ".crt"),
        pem("CERTIFICATE", keys.getCertificate("member").getEncoded()));
    Files.writeString(
        folder.resolve(file + ".key"),
        pem("PRIVATE KEY", keys.getKey("member", PASSWORD.toCharArray()).getEncoded()));
  }

  private static String pem(String type, byte[] der) {
    String lines =
        Base64.getMimeEncoder(64, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
    return "-----BEGIN " + type + "-----\n" + lines + "\n-----END " + type + "-----\n";
  }
}
