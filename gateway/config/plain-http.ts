import { isJsonObject } from '../../schema/canonical-json.ts';
import type { VariableFault } from './fault.ts';
import type { Environment, VariableName } from './variables.ts';

/**
 * What is sent there moves money, is a key or what a caller asks, and what comes back is believed: nobody on the way may
 * read it. By BASE_URL callers send us the same.
 */
const confidential: readonly VariableName[] = [
  ...(['FACILITATOR_URL', 'SUBGRAPH_URLS', 'ROUTER_URL', 'HUBS'] as const),
  ...(['BASE_RPC_URL', 'SOLANA_RPC_URL', 'BASE_URL'] as const),
];

/** What production refuses: these over http to another machine. On this one there is no way to listen in on. */
export function plainHttpFaults(environment: Environment): VariableFault[] {
  return confidential
    .filter(variable => urlsIn(environment[variable] ?? '').some(leavesInTheClear))
    .map(variable => ({ variable, problem: 'http leaves this machine in the clear; production wants https' }));
}

/** Of a variable that is a URL, a JSON map of them, or a JSON list of hubs. */
function urlsIn(value: string): string[] {
  try {
    const entries: unknown[] = Object.values(JSON.parse(value) as object);
    return entries.map(entry => String(isJsonObject(entry) ? entry.base_url : entry));
  } catch {
    return [value];
  }
}

function leavesInTheClear(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === 'http:' && !isHere(hostname);
}

/** A host that is this machine, as a URL spells it. */
export function isHere(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname);
}
