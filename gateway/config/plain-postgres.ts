import type { VariableFault } from './fault.ts';
import { isHere } from './plain-http.ts';
import type { Environment } from './variables.ts';

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
