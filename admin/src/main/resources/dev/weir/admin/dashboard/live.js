// What happens now, once a second. Of all tabs that can be seen one has the stream and hands it to the others:
// browsers have six connections to a server only. A tab that is hidden hears nothing and asks for nothing.
const LOCK = 'weir-live';
const hears = new Set();
const tabs = 'BroadcastChannel' in window ? new BroadcastChannel(LOCK) : null;
let stream = null;
let release = null;
let wanted = null;
let last = 0;
let state = '';

/** Hears ticks until the function that is returned is called. */
export function live(hear) {
  hears.add(hear);
  return () => hears.delete(hear);
}

export function start() {
  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : run()));
  if (tabs) tabs.onmessage = ({data}) => (document.hidden ? 0 : told(data));
  if (!document.hidden) run();
}

function run() {
  if (wanted) return;
  if (!navigator.locks) return open(); // Without TLS beyond this machine: a stream for each tab.
  wanted = new AbortController();
  navigator.locks.request(LOCK, {signal: wanted.signal}, () => new Promise((done) => {
    release = done;
    open();
  })).catch(() => {});
}

/** Ends the stream, and lets another tab have one. */
export function stop() {
  stream?.close();
  stream = null;
  release?.();
  release = null;
  wanted?.abort();
  wanted = null;
  show('paused');
}

function open() {
  if (stream) return;
  stream = new EventSource(`/admin/v1/live${last ? `?after=${last}` : ''}`);
  stream.addEventListener('tick', (event) => share({id: event.lastEventId, tick: JSON.parse(event.data)}));
  stream.addEventListener('end', (event) => share({out: JSON.parse(event.data).why ?? ''}));
  stream.onerror = () => {
    show('off');
    if (stream?.readyState !== EventSource.CLOSED) return; // The browser tries again by itself.
    stream = null;
    setTimeout(() => wanted && !stream && (navigator.locks ? release : true) && open(), 3000);
    document.dispatchEvent(new Event('weir-lost'));
  };
}

function share(message) {
  tabs?.postMessage(message);
  told(message);
}

function told(message) {
  if (message.out !== undefined) {
    stop();
    document.dispatchEvent(new Event('weir-lost'));
    return;
  }
  last = Number(message.id) || last;
  show('on');
  for (const hear of hears) hear(message.tick);
}

function show(next) {
  if (next === state) return;
  state = next;
  document.dispatchEvent(new CustomEvent('weir-live', {detail: state}));
}
