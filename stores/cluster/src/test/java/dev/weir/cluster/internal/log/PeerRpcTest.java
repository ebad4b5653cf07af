package dev.weir.cluster.internal.log;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.weir.cluster.Await;
import dev.weir.cluster.Trio;
import dev.weir.cluster.internal.peer.Member;
import dev.weir.cluster.internal.peer.PeerLink;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.RequestVoteRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PeerRpcTest {
  @TempDir private Path folder;

  /**
   * The incarnation in its place never answers for the promises of one that has lost its folder.
   */
  @Test
  void voteOfAnotherIncarnation_isNotAnswered() throws Exception {
    try (Trio trio = new Trio(folder)) {
      trio.append(1, 64);
      String before = "b@" + new UUID(1, 2);
      assertThatThrownBy(() -> call(trio, "a@" + Member.NONE, before))
          .hasMessageContaining("for " + before)
          .hasMessageContaining("expected: for b@" + Member.NONE);
      assertThatThrownBy(() -> call(trio, "c@" + Member.NONE, "b@" + Member.NONE))
          .as("a member speaks for itself alone")
          .hasMessageContaining("expected: for");
    }
  }

  private static void call(Trio trio, String from, String to) throws Exception {
    RequestVoteRequestProto request =
        RequestVoteRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(ByteString.copyFromUtf8(from))
                    .setReplyId(ByteString.copyFromUtf8(to)))
            .build();
    PeerLink link = trio.node(0).transport().link("b", "votes");
    Await.until("a connection", link::connected);
    Object unused =
        link.call(PeerRpc.VOTE, request.toByteArray(), 5_000)
            .toCompletableFuture()
            .get(60, TimeUnit.SECONDS);
  }
}
