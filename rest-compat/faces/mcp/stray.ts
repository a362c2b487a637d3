import { isIP } from 'node:net';
import type { Origins } from '../../http/cors.ts';

/*
 * DNS rebinding: a page of a stranger has its own name lead to this machine, and its browser then takes us for that page's own server.
 * Such a request names the stranger in its Host, and a page of another site names itself in its Origin.
 */

const here: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Whose requests are taken: by the service's own name or any number, and pages of this machine, of our own or of those named. */
export interface Neighbours {
  /** Of the service, without a port. */
  readonly host_name: string;
  /** Where it says `*`, nobody is named: pages of anybody may read doors, and call no tools. */
  readonly origins: Origins;
}

/** What is wrong with where a request comes from; null where nothing is. */
export function strayBy(host: string | undefined, origin: string | undefined, by: Neighbours): string | null {
  if (!isOwn(host ?? '', by)) return 'The Host header names no host of this service.';
  if (origin === undefined || (by.origins !== '*' && by.origins.has(origin))) return null;
  const page = hostNameOf(origin);
  return page !== null && isOurs(page, by) ? null : 'Pages of that origin may not call tools: see CORS_ORIGINS.';
}

/** By which this service was last called: nearly all calls name the same, and to read a URL takes longer than all else here. */
const last_own_host = new WeakMap<Neighbours, string>();

function isOwn(host: string, by: Neighbours): boolean {
  if (last_own_host.get(by) === host) return true;
  const name = hostNameOf(`http://${host}`);
  // A number cannot be made to lead elsewhere.
  const own = name !== null && (isOurs(name, by) || isIP(name.replace(/^\[|\]$/g, '')) !== 0);
  if (own) last_own_host.set(by, host);
  return own;
}

function isOurs(name: string, { host_name }: Neighbours): boolean {
  return here.has(name) || name === host_name;
}

export function hostNameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}
