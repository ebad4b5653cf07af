/*
 * A slot that moves from group A to group B: what the two logs, the map of group 0 and those who
 * move the slot do. It is checked with spin (.ci/check-model).
 *
 * The map says what is to become of the slot. It is changed by comparing and setting its epoch.
 * Two movers read it and act on it, as a member that does not know that it does not lead group 0
 * any more, and the one that does. The first may stop before any step; the other goes on to the end.
 *
 * Every command that was ever sent may be applied once more at any later time, in any order: a
 * message may be late, doubled, or committed though its sender was told that it was not. A reply is
 * what the log that applied the command said then; a mover may act on it much later.
 *
 * Group A freezes, drops and thaws; group B installs, activates and aborts, by the rules of
 * GroupSlots. What is checked, in every state that can be reached:
 *
 *   - never do both groups decide the slot,
 *   - the state of its keys is never lost: A has it, or has lifted it, or B has it, and
 *   - when the last mover is done, exactly one group decides the slot.
 */

#define LAST 5 /* epochs are 1..LAST */

mtype = { AWAY, OWNED, FROZEN, ARRIVING };  /* of a slot in a group */
mtype = { IDLE, MOVING, THAWING, DROPPING, MOVED };  /* of the map */

mtype map = IDLE;
byte mapEpoch = 0;

mtype a = OWNED;
byte aEpoch = 0;
mtype b = AWAY;
byte bEpoch = 0;

bool freezeSent[6], dropSent[6], thawSent[6], installSent[6], activateSent[6], abortSent[6];
byte done = 0;

inline freeze(e) {
  if
#ifdef FREEZES_AGAIN
  :: a == OWNED && e >= 1 -> a = FROZEN; aEpoch = e
#else
  :: a == OWNED && e > aEpoch -> a = FROZEN; aEpoch = e
#endif
  :: else
  fi
}

inline drop(e) {
  if
  :: a == FROZEN && e == aEpoch -> a = AWAY
  :: else
  fi
}

inline thaw(e) {
  if
  :: (a == FROZEN || a == OWNED) && e > aEpoch -> a = OWNED; aEpoch = e
  :: else
  fi
}

/* All chunks are one here: GroupSlots takes them in order, under one epoch. */
inline install(e) {
  if
  :: (b == AWAY || b == ARRIVING) && e > bEpoch -> b = ARRIVING; bEpoch = e
  :: else
  fi
}

inline activate(e) {
  if
  :: b == ARRIVING && e == bEpoch -> b = OWNED
  :: else
  fi
}

inline abort(e) {
  if
  :: (b == AWAY || b == ARRIVING) && e >= bEpoch -> b = AWAY; bEpoch = e
  :: else
  fi
}

/* First in B, so that this epoch can never become active there; then in A, under a later one. */
inline giveUp() {
#ifdef THAWS_WITHOUT_ABORT
  aborted = true;
#else
  d_step { abortSent[e] = true; abort(e); aborted = (b == AWAY && bEpoch == e) };
#endif
  if
  :: aborted ->
     d_step {
       if :: map == MOVING && mapEpoch == e -> map = THAWING; mapEpoch = e + 1 :: else fi
     }
  :: else -> /* It is active: the move is finished. */
     d_step {
       live = (b == OWNED && bEpoch == e);
       if :: live && map == MOVING && mapEpoch == e -> map = DROPPING :: else fi
     }
  fi
}

/* One step of a mover: it reads the map, and does what is next, with fresh eyes. */
inline step() {
  d_step { seen = map; e = mapEpoch };
  if
  :: seen == IDLE && e + 2 <= LAST -> /* Somebody wants the slot to move. */
     d_step { if :: map == IDLE && mapEpoch == e -> map = MOVING; mapEpoch = e + 1 :: else fi }
  :: seen == MOVING ->
#ifdef ACTIVATES_WITHOUT_FREEZE
     frozen = true;
#else
     d_step { freezeSent[e] = true; freeze(e); frozen = (a == FROZEN && aEpoch == e) };
#endif
     if
     :: frozen ->
        d_step { installSent[e] = true; install(e) };
        d_step { activateSent[e] = true; activate(e); live = (b == OWNED && bEpoch == e) };
        if
        :: live ->
           d_step { if :: map == MOVING && mapEpoch == e -> map = DROPPING :: else fi }
        :: else -> giveUp()
        fi
     :: true -> giveUp()
     fi
  :: seen == THAWING ->
     d_step { thawSent[e] = true; thaw(e); thawed = (a == OWNED && aEpoch >= e) };
     d_step { if :: thawed && map == THAWING && mapEpoch == e -> map = IDLE :: else fi }
  :: seen == DROPPING ->
     d_step { dropSent[e] = true; drop(e); dropped = (a == AWAY) };
     d_step { if :: dropped && map == DROPPING && mapEpoch == e -> map = MOVED :: else fi }
  :: else
  fi
}

/* What a step has read does not matter to the next one. */
inline forget() {
  d_step {
    seen = IDLE; e = 0;
    frozen = false; live = false; aborted = false; thawed = false; dropped = false
  }
}

proctype Mover(bool stops) {
  mtype seen;
  byte e;
  bool frozen, live, aborted, thawed, dropped;
  do
  :: stops -> break
  :: !stops && (map == MOVED || (map == IDLE && mapEpoch + 2 > LAST)) -> break
  :: else -> step(); forget()
  :: stops -> step(); forget()
  od;
  done++;
  if
  :: !stops -> assert((a == OWNED) != (b == OWNED))
  :: else
  fi
}

/* Applies once more what was ever sent. */
active proctype Late() {
  byte e;
  do
  :: done == 2 -> break
  :: else ->
     select(e : 1 .. LAST);
     if
     :: freezeSent[e] -> d_step { freeze(e) }
     :: dropSent[e] -> d_step { drop(e) }
     :: thawSent[e] -> d_step { thaw(e) }
     :: installSent[e] -> d_step { install(e) }
     :: activateSent[e] -> d_step { activate(e) }
     :: abortSent[e] -> d_step { abort(e) }
     :: else
     fi;
     e = 0
  od
}

active proctype Always() {
  do
  :: atomic { !((!(a == OWNED && b == OWNED)) && (a == OWNED || a == FROZEN || b == OWNED)) ->
       assert(false) }
  :: done == 2 -> break
  od
}

init {
  atomic { run Mover(true); run Mover(false) }
}
