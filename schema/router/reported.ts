import type { JsonObject } from '../canonical-json.ts';

/**
 * What a receipt signs of work that others did and were paid for: that it was said, by whom and what. Either a generation that
 * the holder of a router book's key has reported, or a completion that came by the board's inbound door. It is no payment of
 * ours; it stands in place of `payment` and `waived_by`. Left out where there is none: `payment_ref` (a text of the
 * reporter's), `verified_with` (who told the same: the host of the router, or the network whose chain showed the payment).
 */
export interface Reported extends JsonObject {
  /** The router book by whose key it was said; or `inbound:` and the source of the completion. */
  readonly by: string;
  /** What it is called there. */
  readonly generation_id: string;
  /** How it is said to have been paid for, in the reporter's word. */
  readonly rail: string;
  /** Millionths of a dollar, digits. */
  readonly amount: string;
}

/**
 * Who is said to have paid whom for a completion. `verified`: the chain had shown that very transfer before this was signed; else
 * both names are those of the reporter alone.
 */
export interface ReportedParties extends JsonObject {
  readonly payer: string;
  readonly payee: string;
  readonly verified: boolean;
}

/** Before the source of a completion that was reported to the board. */
export const INBOUND = 'inbound:';

/** Whether it came by the board's inbound door. A stranger's token may have anything in its place. */
export function isInbound({ by }: JsonObject): boolean {
  return typeof by === 'string' && by.startsWith(INBOUND);
}

/** What every document about a generation of a router book says. */
export const NOT_SETTLED_HERE =
  'Reported by the holder of the key of a router book. This service did not settle it, took no payment for it and has seen none.';

const COMPLETED_ELSEWHERE =
  'Reported by a holder of the inbound secret of the board. This service did not settle it, and took no payment for it.';

/** The same of whatever was reported. */
export function notSettledHere(reported: JsonObject): string {
  return isInbound(reported) ? COMPLETED_ELSEWHERE : NOT_SETTLED_HERE;
}
