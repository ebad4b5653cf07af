package dev.weir.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Certificates that sign themselves: a member trusts those in one file. */
final class PeerCertificates {
  private static final String PASSWORD = "changeit";

  private PeerCertificates() {}

  /** Writes {@code file.crt} and {@code file.key} for each file, made out to its name. */
  static void create(Path folder, Map<String, String> names) throws Exception {
    Map<String, Process> started = new HashMap<>();
    for (Map.Entry<String, String> name : names.entrySet()) {
      started.put(name.getKey(), start(folder, name.getKey(), name.getValue()));
    }
    for (Map.Entry<String, Process> one : started.entrySet()) {
      String file = one.getKey();
      if (!one.getValue().waitFor(60, TimeUnit.SECONDS) || one.getValue().exitValue() != 0) {
        throw new IOException(Files.readString(folder.resolve(file + ".log")));
      }
      write(folder.resolve(file + ".p12"), folder, file);
    }
  }

  private static Process start(Path folder, String file, String name) throws IOException {
    return new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
            "-genkeypair",
            "-keystore",
            folder.resolve(file + ".p12").toString(),
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
