import type { JsonObject } from '../canonical-json.ts';
import type { DocumentOf } from '../noun.ts';
import type { ReportedNoun, ReportedPartiesNoun } from '../receipt-shapes.ts';

/**
 * Signed report of work by others: a generation reported with the key of a router book, or a completion sent to the board's inbound
 * endpoint. It is not a payment to this service, and takes the place of `payment` and `waived_by`.
 */
export type WorkReport = DocumentOf<typeof ReportedNoun>;
export type WorkReportParties = DocumentOf<typeof ReportedPartiesNoun>;

/** Prefix of the source of a completion that was reported to the board. */
export const INBOUND = 'inbound:';

/** Whether it came through the board's inbound endpoint. A foreign token may have anything here. */
export function isInbound({ by }: JsonObject): boolean {
  return typeof by === 'string' && by.startsWith(INBOUND);
}

/** Sentence in every document about a generation of a router book. */
export const NOT_SETTLED_HERE =
  'Reported by the holder of the key of a router book. This service did not settle it, took no payment for it and has seen none.';

const COMPLETED_ELSEWHERE =
  'Reported by a holder of the inbound secret of the board. This service did not settle it, and took no payment for it.';

/** The sentence for any kind of report. */
export function notSettledHere(reported: JsonObject): string {
  return isInbound(reported) ? COMPLETED_ELSEWHERE : NOT_SETTLED_HERE;
}
