package dev.weir.cluster.internal.log;

import dev.weir.cluster.internal.peer.PeerTransport;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.rpc.RpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerRpc;
import org.apache.ratis.server.ServerFactory;

/** The transport type of a Raft server over {@link PeerRpc}. Ratis creates it by its name. */
public final class PeerRpcType implements RpcType {
  private static final String TRANSPORT = "weir.transport";
  private static final String OLDER = "weir.older-folder";

  /** Creates the type; called by Ratis with the name of this class. */
  public PeerRpcType() {}

  /** Returns the parameters of a Raft server that uses that transport. */
  static Parameters parameters(PeerTransport transport, OlderFolder older) {
    Parameters parameters = new Parameters();
    parameters.put(TRANSPORT, transport, PeerTransport.class);
    parameters.put(OLDER, older, OlderFolder.class);
    return parameters;
  }

  @Override
  public String name() {
    return PeerRpcType.class.getName();
  }

  @Override
  public ServerFactory newFactory(Parameters parameters) {
    PeerTransport transport = parameters.getNonNull(TRANSPORT, PeerTransport.class);
    OlderFolder older = parameters.getNonNull(OLDER, OlderFolder.class);
    return new ServerFactory() {
      @Override
      public RaftServerRpc newRaftServerRpc(RaftServer server) {
        return new PeerRpc(server, transport, older);
      }

      @Override
      public RpcType getRpcType() {
        return PeerRpcType.this;
      }
    };
  }
}
