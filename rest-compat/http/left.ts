/** What tells that nothing goes out on it any more: an answer, or a socket. */
interface Outlet {
  once(event: 'close', heard: () => void): unknown;
}

/** Aborted once an answer has gone out, or its reader has hung up. */
export function onceLeft(outlet: Outlet, is_closed: boolean): AbortSignal {
  const left = new AbortController();
  if (is_closed) left.abort();
  else outlet.once('close', () => left.abort());
  return left.signal;
}
