package dev.weir.siege.faults;

import dev.weir.siege.cluster.MemberProcess;
import dev.weir.siege.cluster.Members;
import dev.weir.testkit.SmallDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.stream.Stream;

/**
 * A fault in which the disk of the last member becomes full while leaders change, and has room
 * again; then the member is started again.
 */
public record FullDiskFault(SmallDisk disk) implements ClusterFault {
  @Override
  public void strike(Members members, SplittableRandom random, long electionMillis)
      throws IOException, InterruptedException {
    MemberProcess full = members.all().get(members.all().size() - 1);
    disk.fill(0);
    Path meta = meta(full.folder());
    byte[] kept = Files.readAllBytes(meta);
    try {
      ClusterFault.wait(random, electionMillis, 2 * electionMillis);
      MemberProcess leader = members.leader();
      // The term of its successor has to be written, for which the full disk has no room.
      leader.stop();
      ClusterFault.wait(random, 3 * electionMillis, 5 * electionMillis);
      leader.goOn();
      ClusterFault.wait(random, electionMillis, 2 * electionMillis);
    } finally {
      disk.empty();
    }
    full.kill();
    if (Files.size(meta) == 0) {
      // Ratis has left the file empty, and the member would refuse to start. The old content is
      // valid: no vote was written since, or the file would not be empty.
      System.out.println(this + ": " + meta.getFileName() + " is empty, and gets what it had");
      Files.write(meta, kept);
    }
    full.start();
  }

  private static Path meta(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(each -> each.endsWith("raft-meta")).findFirst().orElseThrow();
    }
  }

  @Override
  public String toString() {
    return "a disk is full, and has room again";
  }
}
