#!/usr/bin/env bash
# OpenJDK 17.0.15 and 25.0.3 on Linux: a port whose ServerSocket has been closed is in use for some milliseconds if
# another thread starts a process at that moment.
#
# The guess: ServerSocket sets SO_REUSEADDR, nobody was connected, so the port is free as soon as close() has returned.
# Seen: about one time in two hundred, beside a thread that starts processes one after the other, opening the port again
# fails with "Address already in use". The new process has a copy of the open socket until it has closed all that it
# has inherited, and close() in the parent does not take it away.
# Why it matters here: a search for a free port opens a port to try it, and whoever opens it for good comes right after.
# A test that starts servers in processes fails now and then. A look by a connection that is refused holds nothing.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >Again.java <<'JAVA'
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.SplittableRandom;

public class Again {
  static final int MOST = 200_000;

  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("beside")) {
      Thread starts = new Thread(Again::startProcesses);
      starts.setDaemon(true);
      starts.start();
    }
    SplittableRandom random = new SplittableRandom();
    InetAddress here = InetAddress.getLoopbackAddress();
    int tries = arguments[0].equals("beside") ? MOST : 20_000;
    for (int i = 0; i < tries; i++) {
      int port = 10_000 + random.nextInt(10_000);
      try (ServerSocket first = new ServerSocket(port, 1, here)) {
      } catch (BindException foreign) {
        continue;
      }
      try (ServerSocket second = new ServerSocket(port, 1, here)) {
      } catch (BindException e) {
        System.out.println(e.getMessage());
        return;
      }
    }
    System.out.println("always free");
  }

  static void startProcesses() {
    while (true) {
      try {
        new ProcessBuilder("true").start().waitFor();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
JAVA

for jdk in "${JAVA_HOME:-$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")}" /usr/lib/jvm/*25*; do
  [ -x "$jdk/bin/javac" ] || continue
  mkdir -p classes && "$jdk/bin/javac" -d classes Again.java
  alone=$("$jdk/bin/java" -cp classes Again alone)
  beside=$("$jdk/bin/java" -cp classes Again beside)
  echo "$("$jdk/bin/java" -version 2>&1 | head -1): alone: $alone; beside starts of processes: $beside"
  [ "$alone" = "always free" ] && [[ $beside == "Address already in use"* ]]
  rm -rf classes
done
