/**
 * A store that is a cluster of Weir's own servers: what it admits is committed by a majority of
 * them before it is answered.
 */
package dev.weir.cluster;

/*
 * What is where, and why in one package? Begin at Cluster, which puts a member together, or at
 * ClusterStore, which is asked for decisions. docs/architecture.md has the way of a decision
 * through these groups.
 *
 * a member      What a process is in a cluster: a member, with its groups, or a client of one.
 *               Cluster, ClusterSettings, OwnGroups, OwnGroup; ClusterClient
 * forming       How members find each other and agree on who they are and what they understand.
 *               Formation, Charter, Admissions, Member, Identity, Checked; DnsSeeds; Levels,
 *               ClusterLevel, LevelRaise, LevelException
 * asking        From a decision that is asked for to the leader of the key's group.
 *               ClusterStore, ClusterLink, ClusterPolicy, EntryWriter, ClusterReply; GroupShard,
 *               Route, GroupRoutes, PeerRoute, GroupLeader
 * state         What the entries of a group's log come to, the same at every member.
 *               GroupMachine, Replica, ReplicaHead, GroupSlots, KnownPolicies, ClusterTime,
 *               GroupCalendar; how it is written: Entry, OperationReader, SlotEntry, ReplyWriter,
 *               Codes, ByteReader, ByteWriter
 * log           How entries are replicated, and who leads. Only these types know Apache Ratis.
 *               Ledger, LedgerException, BundledLedger; RatisLedger, RatisEngine, RatisSettings,
 *               RatisMachine, RatisAppend, RatisSnapshots, RatisEviction, RatisMetricsOff,
 *               RatisVoter, LeaderLoss, GroupMarks; PeerRpc, PeerRpcType
 * transport     Frames between processes over TCP and TLS: who they are, not what they say.
 *               PeerTransport, PeerDoor, PeerSession, PeerHandler; PeerLink, PeerReplies,
 *               PeerLoops, PeerSilence, PeerException; PeerFrame, PeerHello, PeerSelf, PeerTls
 * map           Which member has which group, which group has which key, and how both change.
 *               ClusterMap, CurrentMap, Placement, Roster, Seats, Seating; slots that move:
 *               SlotChanges, SlotsDraft, SlotMove, PeerSlots, Rebalancer
 * operating     What an operator sees and does.
 *               ClusterStatus, SlotsStatus, ClusterHealth, PeerPulse, DiskRoom; ClusterMetrics,
 *               GroupCounters, Histogram; ClusterOperations, HandOver; ClusterBackup, Backups,
 *               BackupPart, ClusterRestore
 *
 * The groups are one package because they know each other: a map is kept in a group's log, a level
 * decides how entries are written, a backup is the image of a replica. With a package for each, four
 * types of five would have to be public, and now it is one of eight.
 */
