package dev.weir.wire.testkit;

import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * A self-signed certificate and its key, made by the JDK's own tool.
 *
 * @param store both, as a PKCS #12 store
 */
public record Pem(Path certificate, Path key, Path store) {
  private static final String PASSWORD = "changeit";

  /** Creates a certificate for 127.0.0.1, in files of that name. */
  public static Pem make(Path folder, String name) throws IOException, GeneralSecurityException {
    return make(folder, name, name, "ip:127.0.0.1");
  }

  /**
   * Creates a certificate.
   *
   * @param name the name of its files, {@code name.crt} and {@code name.key} among them
   * @param commonName the subject, in the form used before there were alternatives
   * @param alternative the subject, for example {@code dns:a}
   */
  public static Pem make(Path folder, String name, String commonName, String alternative)
      throws IOException, GeneralSecurityException {
    Path store = folder.resolve(name + ".p12");
    ChildProcess.tool(
            "keytool",
            "-J-XX:TieredStopAtLevel=1",
            "-J-XX:+UseSerialGC",
            "-genkeypair",
            "-alias",
            name,
            "-keyalg",
            "EC",
            "-groupname",
            "secp256r1",
            "-dname",
            "CN=" + commonName,
            "-ext",
            "SAN=" + alternative,
            "-validity",
            "2",
            "-storetype",
            "PKCS12",
            "-keystore",
            store.toString(),
            "-storepass",
            PASSWORD)
        .run();
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return new Pem(
        write(folder, name + ".crt", "CERTIFICATE", keys.getCertificate(name).getEncoded()),
        write(
            folder,
            name + ".key",
            "PRIVATE KEY",
            keys.getKey(name, PASSWORD.toCharArray()).getEncoded()),
        store);
  }

  private static Path write(Path folder, String file, String type, byte[] content)
      throws IOException {
    String text =
        "-----BEGIN "
            + type
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content)
            + "\n-----END "
            + type
            + "-----\n";
    return Files.writeString(folder.resolve(file), text, StandardCharsets.US_ASCII);
  }

  private KeyStore load() throws GeneralSecurityException, IOException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }

  private KeyManager[] keys() throws GeneralSecurityException, IOException {
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(load(), PASSWORD.toCharArray());
    return keys.getKeyManagers();
  }

  /** Returns the TLS context of a server that shows this certificate. */
  public SSLContext shown() throws GeneralSecurityException, IOException {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys(), null, null);
    return context;
  }

  /**
   * Returns the TLS context of a client that trusts this certificate and shows another one, or
   * none.
   */
  public SSLContext trustedBy(Pem... client) throws GeneralSecurityException, IOException {
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    KeyStore own = load();
    String name = own.aliases().nextElement();
    trusted.setCertificateEntry(name, own.getCertificate(name));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(trusted);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(client.length == 0 ? null : client[0].keys(), trust.getTrustManagers(), null);
    return context;
  }
}
