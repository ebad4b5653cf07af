package dev.weir.cluster;

import dev.weir.testkit.ChildProcess;
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
    Map<String, ChildProcess> started = new HashMap<>();
    for (Map.Entry<String, String> name : names.entrySet()) {
      started.put(name.getKey(), start(folder, name.getKey(), name.getValue()));
    }
    for (Map.Entry<String, ChildProcess> one : started.entrySet()) {
      String file = one.getKey();
      one.getValue().finish();
      one.getValue().close();
      write(folder.resolve(file + ".p12"), folder, file);
    }
  }

  private static ChildProcess start(Path folder, String file, String name) throws IOException {
    return ChildProcess.tool(
            "keytool",
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
