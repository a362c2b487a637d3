/** An answer or a socket, which emits `close` when nothing more can be sent. */
interface Outlet {
  once(event: 'close', heard: () => void): unknown;
}

/** A signal that is aborted when an answer has been sent, or its reader has disconnected. */
export function disconnectSignal(outlet: Outlet, is_closed: boolean): AbortSignal {
  const left = new AbortController();
  if (is_closed) left.abort();
  else outlet.once('close', () => left.abort());
  return left.signal;
}
