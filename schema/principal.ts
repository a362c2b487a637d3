import { Refusal } from './errors.ts';
import type { AgentId } from './ids.ts';

/** Whether the caller proved possession of a book: the outcome is data, each door decides what it needs. */
export type Possession =
  | { readonly kind: 'absent' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'proven'; readonly agent_id: AgentId };

/** `live` keys skip payment; `demo` keys do too but never write; `waiver` keys waive the ingest stamp alone. */
export type ApiKey =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'live' | 'demo' | 'waiver'; readonly hash: string };

/** Who is calling, resolved once by the gateway and passed on as data. */
export interface Principal {
  readonly possession: Possession;
  readonly api_key: ApiKey;
  /** The caller's address as the socket knows it: for rate limits, never stored. */
  readonly address: string;
}

export const nobody: Principal = { possession: { kind: 'absent' }, api_key: { kind: 'absent' }, address: '' };

/**
 * The one authorisation of everything that a book holds.
 * @throws unauthenticated without a proof; forbidden for a wrong one and for an agent that does not exist, alike.
 */
export function requirePossession({ possession }: Principal, agent_id: number): AgentId {
  if (possession.kind === 'absent') throw new Refusal('unauthenticated');
  if (possession.kind === 'wrong' || possession.agent_id !== agent_id) throw new Refusal('forbidden');
  return possession.agent_id;
}
