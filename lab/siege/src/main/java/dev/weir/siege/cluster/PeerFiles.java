package dev.weir.siege.cluster;

import dev.weir.testkit.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The certificates of members and of their authority, made by the commands in the guide. */
final class PeerFiles {
  private static final List<String> NEW =
      List.of("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes");

  private PeerFiles() {}

  /**
   * Writes {@code ca.crt}, and {@code NAME.crt} and {@code NAME.key} of each member.
   *
   * @throws IOException if there is no openssl
   */
  static void write(Path folder, List<String> names) throws IOException {
    openssl(folder, NEW, "-x509", "-subj", "/CN=members", "-keyout", "ca.key", "-out", "ca.crt");
    for (String name : names) {
      String request = name + ".csr";
      openssl(folder, NEW, "-subj", "/CN=" + name, "-keyout", name + ".key", "-out", request);
      openssl(
          folder,
          List.of("x509", "-req", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
          "-in",
          request,
          "-out",
          name + ".crt");
    }
  }

  /** Returns the flags by which a member uses the files. */
  static List<String> flags(Path folder, String name) {
    return List.of(
        "--cluster-tls-cert",
        folder.resolve(name + ".crt").toString(),
        "--cluster-tls-key",
        folder.resolve(name + ".key").toString(),
        "--cluster-tls-ca",
        folder.resolve("ca.crt").toString());
  }

  private static void openssl(Path folder, List<String> verb, String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(verb);
    command.addAll(List.of(words));
    ChildProcess.of(command).folder(folder).run();
  }
}
