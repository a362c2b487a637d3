import { isIP } from 'node:net';
import type { Origins } from '../../http/cors.ts';

/*
 * Protects against DNS rebinding: a foreign page lets its own host name resolve to this machine, so that its browser takes this service for
 * the page's own server. Such a request has the foreign host in Host, and a page of another site has its own in Origin.
 */

const here: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Accepted requests: to the service's own name or any IP address, and from pages of this machine, of the service itself or of the listed
 * origins.
 */
export interface AcceptedOrigins {
  /** Host name of the service, without a port. */
  readonly host_name: string;
  /** `*` allows pages of any origin to call endpoints, but not to call tools. */
  readonly origins: Origins;
}

/** Reason to refuse the origin of a request. Null if it is accepted. */
export function originFault(host: string | undefined, origin: string | undefined, by: AcceptedOrigins): string | null {
  if (!isOwn(host ?? '', by)) return 'The Host header does not name this service.';
  if (origin === undefined || (by.origins !== '*' && by.origins.has(origin))) return null;
  const page = hostNameOf(origin);
  return page !== null && isOurs(page, by)
    ? null
    : 'Pages of this origin may not call tools. The operator of the service can add it to CORS_ORIGINS.';
}

/** The last accepted Host, because nearly all requests have the same and parsing a URL is slower than all other checks. */
const last_own_host = new WeakMap<AcceptedOrigins, string>();

function isOwn(host: string, by: AcceptedOrigins): boolean {
  if (last_own_host.get(by) === host) return true;
  const name = hostNameOf(`http://${host}`);
  // An IP address cannot be rebound.
  const own = name !== null && (isOurs(name, by) || isIP(name.replace(/^\[|\]$/g, '')) !== 0);
  if (own) last_own_host.set(by, host);
  return own;
}

function isOurs(name: string, { host_name }: AcceptedOrigins): boolean {
  return here.has(name) || name === host_name;
}

export function hostNameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname : null;
}
