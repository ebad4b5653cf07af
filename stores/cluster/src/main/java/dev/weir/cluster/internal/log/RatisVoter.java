package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.Member;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.RaftRpcRequestProto;
import org.apache.ratis.proto.RaftProtos.StartLeaderElectionRequestProto;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.util.LifeCycle;
import org.apache.ratis.util.ProtoUtils;
import org.jspecify.annotations.Nullable;

/** The view of this member's Raft server of the leaders. Safe for use by many threads. */
final class RatisVoter implements LeaderLoss.Voter {
  private final RaftServer server;
  private final Consumer<? super String> log;

  RatisVoter(RaftServer server, Consumer<? super String> log) {
    this.server = server;
    this.log = log;
  }

  @Override
  public Collection<Long> groups() {
    List<Long> groups = new ArrayList<>();
    server.getGroupIds().forEach(each -> groups.add(RatisEngine.groupOf(each)));
    return groups;
  }

  /** Returns a group's state in this process; null if it is not open. */
  private RaftServer.@Nullable Division division(long group) {
    try {
      return server.getDivision(RatisEngine.idOf(group));
    } catch (IOException notOpen) {
      return null;
    }
  }

  @Override
  public LeaderLoss.@Nullable Leadership led(long group) {
    RaftServer.Division division = division(group);
    if (division == null) {
      return null;
    }
    DivisionInfo info = division.getInfo();
    RaftPeerId leader = info.getLeaderId();
    return leader != null
            && info.isFollower()
            && info.getLifeCycleState() == LifeCycle.State.RUNNING
            && division.getRaftConf().getCurrentPeers().stream()
                .anyMatch(each -> each.getId().equals(server.getId()))
        ? new LeaderLoss.Leadership(leader.toString(), info.getCurrentTerm())
        : null;
  }

  @Override
  public LeaderLoss.@Nullable Last last(long group) {
    RaftServer.Division division = division(group);
    TermIndex last = division == null ? null : division.getRaftLog().getLastEntryTermIndex();
    return last == null ? null : new LeaderLoss.Last(last.getTerm(), last.getIndex());
  }

  @Override
  public Collection<String> voters(long group) {
    List<String> names = new ArrayList<>();
    RaftServer.Division division = division(group);
    if (division != null) {
      for (RaftPeer each : division.getRaftConf().getCurrentPeers()) {
        names.add(Member.nameOf(each.getId().toString()));
      }
    }
    return names;
  }

  /** Makes Ratis act as if that leader handed over to this member, which Ratis checks. */
  @Override
  public boolean stand(long group, LeaderLoss.Leadership led) {
    LeaderLoss.Last last = last(group);
    if (last == null || last.term() != led.term()) {
      return false; // That leader's first entry did not come: Ratis would refuse.
    }
    RaftGroupId id = RatisEngine.idOf(group);
    StartLeaderElectionRequestProto request =
        StartLeaderElectionRequestProto.newBuilder()
            .setServerRequest(
                RaftRpcRequestProto.newBuilder()
                    .setRequestorId(RaftPeerId.valueOf(led.leader()).toByteString())
                    .setReplyId(server.getId().toByteString())
                    .setRaftGroupId(ProtoUtils.toRaftGroupIdProtoBuilder(id)))
            .setLeaderLastEntry(TermIndex.valueOf(last.term(), last.index()).toProto())
            .build();
    try {
      return server.startLeaderElection(request).getServerReply().getSuccess();
    } catch (IOException e) {
      log.accept("cluster: group " + group + " waits for an election timeout: " + e);
      return false;
    }
  }
}
