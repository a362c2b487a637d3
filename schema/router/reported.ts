import type { JsonObject } from '../canonical-json.ts';
import type { DocumentOf } from '../noun.ts';
import type { ReportedNoun, ReportedPartiesNoun } from '../receipt-shapes.ts';

/**
 * What a receipt signs of work that others did and were paid for: a generation that the holder of a router book's key has reported, or a
 * completion that came by the board's inbound door. It is no payment of ours; it stands in place of `payment` and `waived_by`.
 */
export type Reported = DocumentOf<typeof ReportedNoun>;
export type ReportedParties = DocumentOf<typeof ReportedPartiesNoun>;

/** Before the source of a completion that was reported to the board. */
export const INBOUND = 'inbound:';

/** Whether it came by the board's inbound door. A stranger's token may have anything in its place. */
export function isInbound({ by }: JsonObject): boolean {
  return typeof by === 'string' && by.startsWith(INBOUND);
}

/** What every document about a generation of a router book says. */
export const NOT_SETTLED_HERE =
  'It was reported by the holder of the key of a router book. This service did not settle it, and neither took nor saw a payment for it.';

const COMPLETED_ELSEWHERE =
  'Reported by a holder of the inbound secret of the board. This service did not settle it, and took no payment for it.';

/** The same of whatever was reported. */
export function notSettledHere(reported: JsonObject): string {
  return isInbound(reported) ? COMPLETED_ELSEWHERE : NOT_SETTLED_HERE;
}
