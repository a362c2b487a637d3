import dns from 'node:dns';

/** Host names other than this machine's that this process has looked up, including names that do not exist. */
const asked: string[] = [];

// Replaced here because all sockets, plain or TLS, look up their names by this member.
const lookup = dns.lookup;
dns.lookup = ((name: string, ...rest: [never]) => {
  if (!/^(localhost$|127\.|::1$)/.test(name)) asked.push(name);
  return lookup(name, ...rest);
}) as typeof lookup;

/** Records look-ups from now on, because no client may connect to its vendor. Returns a function that returns the names since then. */
export function reachesBeyond(): () => readonly string[] {
  const before = asked.length;
  return () => asked.slice(before);
}
