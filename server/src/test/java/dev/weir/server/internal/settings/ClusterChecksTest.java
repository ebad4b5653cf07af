package dev.weir.server.internal.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.weir.server.settings.SettingsException;
import dev.weir.shared.ClusterMember;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ClusterChecksTest {
  private static final String THREE = "a=127.0.0.1:7101,b=127.0.0.1:7102,c=127.0.0.1:7103";

  private static Map<String, String> flags(String... more) {
    Map<String, String> flags = new HashMap<>(Map.of("cluster", THREE, "cluster-name", "b"));
    flags.put("cluster-dir", "somewhere");
    for (int i = 0; i < more.length; i += 2) {
      flags.put(more[i], more[i + 1]);
    }
    return flags;
  }

  private static String problem(Map<String, String> flags) {
    SettingsException thrown =
        catchThrowableOfType(SettingsException.class, () -> ServerSettings.of(flags));
    assertThat(thrown).isNotNull();
    return String.valueOf(thrown.getMessage());
  }

  @Test
  void members_haveNamesHostsAndPorts() throws Exception {
    ServerSettings settings = ServerSettings.of(flags());
    assertThat(settings.value(Settings.CLUSTER))
        .contains(new ClusterMember("c", "127.0.0.1", 7103))
        .hasSize(3);
    assertThat(settings.clusterMember()).contains(new ClusterMember("b", "127.0.0.1", 7102));
    assertThat(settings.clusterFolder()).contains(Path.of("somewhere"));
    assertThat(settings.shares()).isTrue();
    assertThat(settings.warnings()).isEmpty();
  }

  @Test
  void nameOfTheDns_standsForAllMembers() throws Exception {
    ServerSettings settings =
        ServerSettings.of(
            flags(
                "cluster",
                "dns:members.test:7000",
                "cluster-size",
                "3",
                "cluster-advertise",
                "b.members.test:7000",
                "cluster-insecure",
                "true"));
    assertThat(settings.value(Settings.CLUSTER))
        .containsExactly(ClusterMember.allBehind("members.test", 7000));
    assertThat(settings.clusterMember()).contains(new ClusterMember("b", "b.members.test", 7000));
    assertThat(problem(flags("cluster", "dns:members.test", "cluster-insecure", "true")))
        .contains("dns:members.test (expected: --cluster-size too");
    assertThat(
            ServerSettings.of(
                    flags("cluster", "dns:x", "cluster-size", "1", "cluster-insecure", "true"))
                .clusterMember()
                .orElseThrow()
                .port())
        .isEqualTo(7946);
  }

  @Test
  void nameIsTheHost_whereItIsNotGiven() throws Exception {
    ServerSettings settings =
        ServerSettings.of(
            flags(
                "cluster",
                "x:7946,y:7946,z:7946",
                "cluster-name",
                "y",
                "cluster-insecure",
                "true"));
    assertThat(settings.clusterMember()).contains(new ClusterMember("y", "y", 7946));
    assertThat(settings.warnings()).singleElement().asString().contains("change every count");
  }

  private static Map<String, String> asking(String store, String... more) {
    Map<String, String> flags = flags(more);
    flags.keySet().removeAll(List.of("cluster", "cluster-dir"));
    flags.put("store", store);
    return flags;
  }

  @Test
  void serverThatIsNoMember_namesMembersInTheStoresUri() throws Exception {
    ServerSettings settings = ServerSettings.of(asking("weir://a=127.0.0.1:7101,localhost:7102"));
    assertThat(settings.value(Settings.STORE).orElseThrow().seeds())
        .containsExactly(
            new ClusterMember("a", "127.0.0.1", 7101),
            new ClusterMember("localhost", "localhost", 7102));
    assertThat(settings.clusterName()).isEqualTo("b");
    assertThat(settings.shares()).isTrue();
    assertThat(settings.warnings()).isEmpty();
    assertThat(ServerSettings.of(asking("weir://h:7101", "cluster-insecure", "true")).warnings())
        .singleElement()
        .asString()
        .contains("change every count");
    assertThat(
            ServerSettings.of(
                    asking("weir://127.0.0.1:1", "store-prefix", "p", "cluster-groups", "2"))
                .warnings())
        .hasSize(2)
        .allMatch(line -> line.contains("has no effect"));
  }

  @Test
  void serverThatIsNoMember_asksByTls_orNotBeyondThisMachine() {
    assertThat(problem(asking("weir://h:1")))
        .contains("--store: members on other machines (expected: --cluster-tls-cert");
    assertThat(problem(asking("weirs://h:1")))
        .contains("weirs://h:1 without --cluster-tls-cert (expected: weirs:// with the files");
    assertThat(problem(asking("weir://h:1", "cluster-tls-cert", "none.pem")))
        .contains("weir://h:1 beside --cluster-tls-cert");
    assertThat(problem(asking("weirs://h:1", "cluster-tls-cert", "none.pem")))
        .contains("1 of the files for TLS");
    assertThat(problem(asking("weir://"))).contains("weirs:// for TLS");
    assertThat(problem(asking("weir://a"))).contains("weir://[name=]host:port");
  }

  @Test
  void dataDir_hasAFolderForIt() throws Exception {
    Map<String, String> flags = flags("data-dir", "data");
    flags.remove("cluster-dir");
    assertThat(ServerSettings.of(flags).clusterFolder()).contains(Path.of("data", "cluster"));
  }

  @Test
  void whatCannotBe_isSaid() {
    assertThat(problem(flags("cluster", "a=h:1,a=i:1"))).contains("no name twice");
    assertThat(problem(flags("cluster", "nonsense"))).contains("[NAME=]HOST:PORT");
    assertThat(problem(flags("cluster-name", "d"))).contains("expected: one of a, b, c");
    assertThat(problem(flags("store", "redis://h"))).contains("expected: one of them");
    assertThat(problem(flags("cluster", "a=h:1,b=i:1")))
        .contains("--cluster-tls-cert with its key and CA, or --cluster-insecure");
    assertThat(problem(flags("cluster-tls-cert", "none.pem")))
        .contains("1 of the files for TLS", "expected: a readable file");
    assertThat(problem(flags("cluster-dir", "a,b")))
        .contains("a,b (expected: a path without a comma)");
    Map<String, String> nowhere = flags();
    nowhere.remove("cluster-dir");
    assertThat(problem(nowhere)).contains("without a folder");
  }

  @Test
  void withoutACluster_itsFlagsHaveNoEffect() throws Exception {
    assertThat(ServerSettings.of(Map.of("cluster-name", "x")).warnings())
        .isEqualTo(List.of("--cluster-name: has no effect without --cluster"));
  }
}
