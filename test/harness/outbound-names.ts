import dns from 'node:dns';

/** Names beyond its own machine that this process has looked up, whether they exist or not. */
const asked: string[] = [];

// Sockets, plain and secured, look their names up by this very member, whatever code opens them.
const lookup = dns.lookup;
dns.lookup = ((name: string, ...rest: [never]) => {
  if (!/^(localhost$|127\.|::1$)/.test(name)) asked.push(name);
  return lookup(name, ...rest);
}) as typeof lookup;

/** Begins to record look-ups, since no client may report home. Returns a function for the names since then. */
export function reachesBeyond(): () => readonly string[] {
  const before = asked.length;
  return () => asked.slice(before);
}
