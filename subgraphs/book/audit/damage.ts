/** What of a book may disagree with the rest of it, each with the sentence that its operator reads. */
export const bookDamages = {
  event_missing: 'an event is missing',
  event_altered: 'an event is not what its hash is of',
  event_unchained: 'an event does not follow the one before it',
  row_missing: 'a row is missing',
  row_unborn: 'a row stands of whose birth no event tells',
  row_altered: 'a row is not what its hash is of, or what its birth tells',
  row_unchained: 'a row does not follow the one before it',
  row_moved: 'a row stands otherwise than its transitions left it',
  replays_lost: 'a row counts fewer replays than its events tell of',
  receipt_missing: 'a collected row has no receipt',
  receipt_differs: 'a collected row says otherwise than its signed receipt',
  head_altered: 'the head is not where the rows and events end',
  counter_altered: 'a counter of the head is not what the rows add up to',
  reserved_altered: 'what the head holds back is not what open payments hold',
  intent_altered: "an intent's counts are not what its rows say",
  dispute_missing: 'a dispute is missing of which an event tells',
  dispute_altered: 'a dispute is not what its last event tells',
  terms_altered: 'budget or policy is not what its owner set',
} as const;

export type BookDamageKind = keyof typeof bookDamages;

/** The first place at which a book disagrees with itself. Holds no amount and no name: it is logged. */
export interface BookDamage {
  readonly what: BookDamageKind;
  /** A seq for rows and their receipts, a position for events, the column for the head. */
  readonly place: number | string;
}

/** What an operator does about a book that contradicts itself. */
const WAY_ON = 'Restore its rows, events and head: a round that finds all of it sound opens it again';

export function bookDamageSentence(agent_id: number, { what, place }: BookDamage): string {
  return `book ${agent_id} is damaged: ${bookDamages[what]} (${what} at ${place}). It is closed. ${WAY_ON}`;
}
