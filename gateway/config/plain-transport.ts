import { isJsonObject } from '../../schema/canonical-json.ts';
import type { VariableFault } from './fault.ts';
import type { Environment, VariableName } from './variables.ts';

/* Refuses, in production, what leaves this machine in the clear: http where money, keys or callers' words go, Postgres without TLS. */

/**
 * What is sent there moves money, is a key or what a caller asks, and what comes back is believed: nobody on the way may
 * read it. By BASE_URL callers send us the same.
 */
export const confidential: readonly VariableName[] = [
  ...(['FACILITATOR_URL', 'SUBGRAPH_URLS', 'ROUTER_URL', 'HUBS', 'WITNESSES'] as const),
  ...(['BASE_RPC_URL', 'SOLANA_RPC_URL', 'NANO_RPC_URL', 'BASE_URL'] as const),
];

/** What production refuses: these over http to another machine. On this one there is no way to listen in on. */
export function plainHttpFaults(environment: Environment): VariableFault[] {
  return confidential
    .filter(variable => urlsIn(environment[variable] ?? '').some(leavesInTheClear))
    .map(variable => ({ variable, problem: 'http leaves this machine in the clear; production wants https' }));
}

/** Of a variable that is a URL, a JSON map of them, or a JSON list of hubs or witnesses. */
function urlsIn(value: string): string[] {
  try {
    const entries: unknown[] = Object.values(JSON.parse(value) as object);
    return entries.map(entry => String(isJsonObject(entry) ? (entry.base_url ?? entry.url) : entry));
  } catch {
    return [value];
  }
}

/** Whether what is sent to that URL can be read on its way. */
export function leavesInTheClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isHere(hostname);
}

/** A host that is this machine, as a URL spells it. */
function isHere(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname);
}

/** Under these the server proves who it is, and nobody on the way reads or alters what is recorded. */
const secured: ReadonlySet<string> = new Set(['require', 'verify-ca', 'verify-full']);

/** What production refuses unless it is meant: a Postgres on another machine without TLS. */
export function plainPostgresFaults({ DATABASE_URL = '', DATABASE_PLAIN }: Environment): VariableFault[] {
  if (DATABASE_PLAIN === 'intended' || !leavesUnsecured(DATABASE_URL)) return [];
  const way_out = 'set sslmode to require or verify-full, or DATABASE_PLAIN to intended where the network is your own';
  return [{ variable: 'DATABASE_URL', problem: `leaves this machine without TLS; ${way_out}` }];
}

function leavesUnsecured(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, searchParams } = new URL(text);
  // A parameter wins over the host's own place, and a path is a socket of this machine.
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  if (host === '' || host.startsWith('/') || isHere(host)) return false;
  const modes = searchParams.getAll('sslmode');
  if (modes.length === 0) return !['true', '1'].includes(searchParams.get('ssl') ?? '');
  return !modes.every(mode => secured.has(mode));
}
