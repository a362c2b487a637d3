/** Kinds of contradictions in a book, each with its description for the operator. */
export const bookDamages = {
  event_missing: 'an event is missing',
  event_altered: 'an event does not match its hash',
  event_unchained: 'an event does not follow the one before it',
  row_missing: 'a row is missing',
  row_unborn: 'a row has no event that records its birth',
  row_altered: 'a row does not match its hash or its birth event',
  row_unchained: 'a row does not follow the one before it',
  row_moved: 'a row does not match its transition events',
  replays_lost: 'a row counts fewer replays than its events record',
  receipt_missing: 'a collected row has no receipt',
  receipt_differs: 'a collected row contradicts its signed receipt',
  head_altered: 'the head does not match the last row and event',
  counter_altered: 'a counter of the head is not the sum of the rows',
  reserved_altered: 'the reserved amount of the head is not the sum of the open payments',
  intent_altered: 'the counts of an intent do not match its rows',
  dispute_missing: 'a dispute that an event records is missing',
  dispute_altered: 'a dispute does not match its last event',
  terms_altered: 'budget or policy does not match what the owner set',
} as const;

export type BookDamageKind = keyof typeof bookDamages;

/** The first contradiction in a book. It contains no amount and no name, because it is logged. */
export interface BookDamage {
  readonly what: BookDamageKind;
  /** A seq for rows and receipts, a position for events, a column for the head. */
  readonly place: number | string;
}

/** Advice to the operator, at the end of every message. */
const WAY_ON = 'Restore its rows, events and head: the next audit that finds no damage opens it again';

export function bookDamageSentence(agent_id: number, { what, place }: BookDamage): string {
  return `book ${agent_id} is damaged: ${bookDamages[what]} (${what} at ${place}). It is closed. ${WAY_ON}`;
}
