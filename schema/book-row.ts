import type { AtomicAmount } from './amount.ts';
import type { Camel } from './camel.ts';
import type { JsonObject } from './canonical-json.ts';
import { arrivalStatuses, evidences, rowEvents } from './evidence.ts';
import { inflowLimits, limits, rowLimits } from './limits.ts';
import type { RowFact } from './row-fact.ts';
import { wordList } from './words.ts';

export const REPLAYS = `The newest ${rowLimits.replays_shown_max} replays of the payment of the row, oldest first. After ${limits.replay_events_per_hour_max} replays in an hour, one entry a minute represents the further ones.`;

/**
 * The facts of a row, each defined once. Column, GraphQL field, REST member, OpenAPI schema, hash, what an arrival may change and
 * what the audit compares are derived from this table. REST and OpenAPI show the facts in this order.
 */
export const rowFacts = {
  agent_id: { from: 'place', type: 'integer', rest: 'none', description: 'Id of the agent whose book it is.' },
  seq: { from: 'place', type: 'integer', description: 'Number of the row in its book: from 1, without gaps.' },
  task_id: {
    from: 'birth',
    type: 'text',
    description: 'Task id of the row, such as that of the call that it records.',
  },
  evidence: {
    from: 'birth',
    type: 'text',
    one_of: wordList(evidences),
    moves: true,
    description: 'Evidence that the row rests on, such as `collected`, `foreign_ingest` or `policy_blocked`.',
  },
  payment_ref: {
    from: 'birth',
    type: 'text',
    nullable: true,
    moves: true,
    group: ['payment', 'ref'],
    description:
      'Payment as `network:transaction`. Several rows may share a transaction. Null if the row records no payment, as with an API key or for a refused call.',
  },
  rail: {
    from: 'birth',
    type: 'text',
    nullable: true,
    group: ['payment', 'rail'],
    description:
      'Rail of the payment: `usdc` or `xno`. Null if the row records no payment, as with an API key or for a refused call.',
  },
  amount: {
    from: 'birth',
    type: 'amount',
    nullable: true,
    moves: true,
    group: ['payment', 'amount'],
    description:
      'Amount in atomic units of the rail. Null if the row records no payment, or one that does not count: its transfer was not found, its payer is not proven, or the agent received it.',
  },
  transfer_index: {
    from: 'birth',
    type: 'integer',
    nullable: true,
    moves: true,
    description:
      'Position of the transfer of this row: the index of its log in the block on base, of its instruction in the transaction on solana, from 0. With payment.ref it identifies the transfer where several share a transaction. Null or absent on nano, and if the transfer was not observed or its payer is not proven.',
  },
  collected_at: {
    from: 'place',
    type: 'time',
    description:
      'Time the row was recorded (RFC 3339, UTC); for a call that was paid before the book existed, the time of its receipt.',
  },
  collected: {
    from: 'birth',
    type: 'boolean',
    moves: true,
    description: 'True if the payment of the row was collected or, for an ingested payment, if its payer is proven.',
  },
  model: {
    from: 'birth',
    type: 'text',
    nullable: true,
    group: ['route', 'model'],
    description:
      'Model that the hub was asked for; if no hub was asked, a name of what was sold, such as `board`; for a refused call, the model that the caller asked for. For a payment to somebody else and for an inflow, as the owner of the book named it. Null or empty if there is none.',
  },
  hub: {
    from: 'birth',
    type: 'text',
    nullable: true,
    group: ['route', 'hub'],
    description:
      'Hub that answered: its name, `router` for a third-party router, or `svc` for an act of this service. For a payment to somebody else and for an inflow, the hub as the owner of the book named it. Null or empty if there is none.',
  },
  answered_model: {
    from: 'facts',
    type: 'text',
    common: true,
    group: ['route', 'answered_model'],
    description:
      'Model that the hub named in its answer. Null if it named none, if no hub was asked, and on rows whose receipt is under policies 1 to 8.',
  },
  intent_id: {
    from: 'birth',
    type: 'text',
    nullable: true,
    description: 'Id of the intent that the call names. Null or absent if it names none.',
  },
  attempt_index: {
    from: 'birth',
    type: 'integer',
    nullable: true,
    description: 'Number of the attempt at the intent, from 0. Null or absent if the call names no attempt.',
  },
  payer_wallet: {
    from: 'birth',
    type: 'text',
    nullable: true,
    rest: 'null',
    description:
      'Wallet that paid or, for a refused call, would have paid. It stays the same when the session of the book is rotated. Null if there is none.',
  },
  settled_by: {
    from: 'birth',
    type: 'text',
    nullable: true,
    rest: 'none',
    description: 'What made the payment count as settled when the row was recorded. Null if no payment is known.',
  },
  replay_count: {
    from: 'counted',
    type: 'integer',
    description: 'Number of times that the payment of the row was sent again, from 0.',
  },
  replay_events: {
    from: 'events',
    type: 'json_list',
    rest_description: REPLAYS,
  },
  parent_ref: {
    from: 'birth',
    type: 'text',
    nullable: true,
    description:
      'Task id of the parent row. For a redeemed hand-off, the task id of the receipt that was handed off, which is on another book. Null or absent if there is no parent.',
  },
  delegation_hash: {
    from: 'session',
    type: 'text',
    description:
      'Delegation hash of the session that the call was made under. Null or absent if it was made under none.',
  },
  event: {
    from: 'facts',
    type: 'text',
    one_of: wordList(rowEvents),
    description:
      'What the row records, if not a served call: `policy_blocked` for a call that the book refused. Null or absent for all other rows.',
  },
  refusal_id: {
    from: 'facts',
    type: 'text',
    description: 'Id of the signed refusal of the call. Null if the call was not refused.',
    rest_description:
      'Id of the signed refusal, which GET /refusal/{refusal_id} returns. Absent if the call was not refused.',
  },
  policy_code: {
    from: 'facts',
    type: 'text',
    description:
      'Rule of the book that refused the call, as a code, such as `daily_cap_exceeded`. Null or absent if the call was not refused.',
  },
  reason: {
    from: 'facts',
    type: 'text',
    description: 'Reason for the refusal or the correction, in a sentence. Null or absent for all other rows.',
  },
  policy_key: {
    from: 'facts',
    type: 'text',
    description: 'Cap that refused the call: `hourly_cap` or `daily_cap`. Null or absent if no such cap did.',
  },
  spent_atomic: {
    from: 'facts',
    type: 'digits',
    description:
      'Amount that counted when the call was refused, in atomic USDC: what was collected or is RECORDED_BY_SETTLE, in the hour or day of the cap, or in the whole book for any other rule, without ingested payments. Null or absent if the call was not refused.',
  },
  cap_atomic: {
    from: 'facts',
    type: 'digits',
    description:
      'Cap, budget or approval threshold that refused the call, in atomic USDC. Null or absent if no such amount did.',
  },
  period_start: {
    from: 'facts',
    type: 'text',
    description:
      'Start of the hour or day of the cap that refused the call (RFC 3339, UTC). Null or absent if no such cap did.',
  },
  recorded_by: {
    from: 'birth',
    type: 'text',
    nullable: true,
    description:
      'Always `settle` for a row that was recorded on settlement, before its transfer was seen. Null or absent for any other row.',
  },
  arrival_status: {
    from: 'birth',
    type: 'text',
    one_of: wordList(arrivalStatuses),
    nullable: true,
    moves: true,
    description:
      'Whether the transfer that pays the row was seen. `pending`: not yet. `confirmed`: it was seen. `unverified`: not seen by the cutoff, or no longer on its chain. Null or absent if the row has no transfer.',
  },
  omission_rule: {
    from: 'later',
    type: 'text',
    nullable: true,
    description:
      'Why the payment of the row no longer counts, as a code, such as `no_ingress_receipt_at_cutoff`. Null or absent if it counts, if there is no payment, or if it never counted.',
  },
  ingress_receipt: {
    from: 'later',
    type: 'json',
    nullable: true,
    rest_description:
      'Transfer that was seen after the row was recorded: `{ref, confirmed_at}`. Absent if none was, or if it is no longer on its chain.',
  },
  bucket: {
    from: 'facts',
    type: 'text',
    description:
      'For an inflow or its correction: what the money is for, in words of the owner. Null or absent for any other row.',
  },
  allocation: {
    from: 'facts',
    type: 'digits',
    description:
      'For an inflow or its correction: amount set aside, in atomic USDC. It is not spend and counts in no sum. Null or absent for any other row.',
  },
  corrects: {
    from: 'facts',
    type: 'text',
    description:
      'Task id of the row that this row corrects: an inflow, an earlier correction, a row whose payment was not found on its chain, or a row that yields to another. Null or absent if this row is not a correction.',
  },
  yielded_to: {
    from: 'facts',
    type: 'text',
    description:
      'For a correction of a row whose transfer another row records with a proven payer: task id of that other row, which may be on another book. Null or absent for any other row.',
  },
  merges: {
    from: 'facts',
    type: 'text_list',
    description:
      'Task ids of the fork branches that this correction merges, oldest first. Null or absent if it merges none.',
  },
  inflow_claim: {
    from: 'facts',
    type: 'json',
    description:
      'For an inflow or its correction: claim of bucket and allocation, signed by this service. Null or absent for any other row.',
  },
  a2a_escrow: {
    from: 'facts',
    type: 'json',
    description:
      'For an escrow between agents: its id, its terms, and the phase that the row records. Null or absent for any other row.',
  },
  payer_proven: {
    from: 'facts',
    type: 'boolean',
    description:
      'For an ingested payment: true if the payer is proven to belong to this book. If false, the payment counts in no sum. Null or absent for any other row.',
  },
  merchant_signed: {
    from: 'facts',
    type: 'boolean',
    description:
      'For an ingested payment: true if the wallet that was paid has signed that the payment was for this resource. Null or absent if it has not, and for any other row.',
  },
  pay_to: {
    from: 'facts',
    type: 'text',
    description:
      'For an ingested payment or the price of a job: wallet that was paid. Null or absent for any other row.',
  },
  observed_amount: {
    from: 'facts',
    type: 'digits',
    description:
      'For a payment that the agent received, or whose payer is not proven: amount that the chain shows, in atomic units of the rail. Null or absent for any other row.',
  },
  paid_by_agent: {
    from: 'facts',
    type: 'integer',
    description:
      'For a payment that the agent received for a job: id of the agent that paid. The receipt is on the book of that agent, and this row counts in no sum. Null or absent for any other row.',
  },
  description: {
    from: 'facts',
    type: 'text',
    description: 'For an ingested payment of XNO: what the payment was for. Null or absent for any other row.',
  },
  inflow_corrections: {
    from: 'rows',
    type: 'json_list',
    cost: 5,
    description: `For an inflow: its newest corrections, oldest first, at most ${inflowLimits.corrections_shown_max} and ${inflowLimits.corrections_shown_bytes_max / 1_024} KiB in total. Each is also a row of its own. Null or absent for any other row.`,
  },
  inflow_corrections_count: {
    from: 'rows',
    type: 'integer',
    cost: 2,
    description:
      'For an inflow: number of its corrections, including those that inflow_corrections does not show. Null or absent for any other row.',
  },
  merged_by: {
    from: 'rows',
    type: 'text',
    cost: 2,
    description:
      'For a correction of an inflow: task id of the newest correction that merges it with other corrections of the same inflow. Null or absent if none does, and for any other row.',
  },
  fulfillment: {
    from: 'birth',
    type: 'json',
    nullable: true,
    rest_description:
      'What was bought, and the commitment to what was delivered, as the receipt states them. Absent if the row has no receipt of this service.',
  },
  facts: { from: 'birth', type: 'json', hidden: true },
  prev_row_hash: {
    from: 'place',
    type: 'text',
    rest: 'none',
    description: '`rowHash` of the previous row in the book. Empty for the first row.',
  },
  row_hash: {
    from: 'place',
    type: 'text',
    rest: 'none',
    description:
      'SHA-256 (hex) of the canonical JSON of the row as it was recorded, with its `seq` and `prevRowHash`, which makes the rows of a book a hash chain. It cannot be computed from these members: some facts are not shown, and others may have changed since.',
  },
} as const satisfies Record<string, RowFact>;

type Facts = typeof rowFacts;
export type RowFactName = keyof Facts;
type From<F extends RowFact['from']> = {
  [K in RowFactName]: Facts[K]['from'] extends F ? K : never;
}[RowFactName];

/** Facts that are columns of the table. All others are read from a column, from the events, or from later rows. */
export type RowColumn = From<'place' | 'birth' | 'later' | 'counted'>;
/** Each column by the name of its property. */
export type RowColumns = { [K in RowColumn as Camel<K>]: ColumnValue<K> };
/** Columns that a row is recorded with and that an arrival may change. */
export type MovableColumn = {
  [K in RowFactName]: Facts[K] extends { readonly moves: true } ? K : never;
}[RowFactName];
export type LaterColumn = From<'later'>;

interface Values {
  readonly text: string;
  readonly digits: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly amount: AtomicAmount;
  readonly time: Date;
  readonly json: JsonObject;
  readonly json_list: readonly JsonObject[];
  readonly text_list: readonly string[];
}
/** The same values as JSON, as the ledger writes and hashes them. */
interface JsonValues extends Omit<Values, 'amount' | 'time'> {
  readonly amount: string;
  readonly time: string;
}

type ValueIn<V extends Record<RowFact['type'], unknown>, F extends RowFact> =
  | (F extends { readonly one_of: readonly (infer T)[] } ? T : V[F['type']])
  | (F extends { readonly nullable: true } ? null : never);
/** Value of a column as Postgres returns it. */
export type ColumnValue<K extends RowFactName> = ValueIn<Values & Record<RowFact['type'], unknown>, Facts[K]>;
/** Value of a column as JSON. */
export type ColumnJson<K extends RowFactName> = ValueIn<JsonValues & Record<RowFact['type'], unknown>, Facts[K]>;

/** A row as it is recorded. Unknown facts are null and never left out, because the hash covers every member. */
export type InitialFacts = { readonly [K in From<'birth'>]: ColumnValue<K> };
/** A row as it is inserted and hashed. `row_hash` is the hash of all other members. */
export type RowRecord = { readonly [K in From<'birth' | 'place'>]: ColumnJson<K> };
/** Facts of a row that an arrival may change, as JSON. */
export type MovableFacts = { readonly [K in MovableColumn]: ColumnJson<K> };
export type LaterFacts = { readonly [K in LaterColumn]: ColumnJson<K> };

function namesWhere<K extends RowFactName>(holds: (fact: RowFact) => boolean): readonly K[] {
  return Object.entries<RowFact>(rowFacts).flatMap(([name, fact]) => (holds(fact) ? [name as K] : []));
}

export const rowColumns = namesWhere<RowColumn>(({ from }) => !['facts', 'events', 'rows', 'session'].includes(from));
/** Columns that the row hash covers: all that the row is recorded with and its place, except the hash itself. */
export const hashedColumns = namesWhere<From<'birth' | 'place'>>(
  ({ from }) => from === 'birth' || from === 'place',
).filter(name => name !== 'row_hash');
const addedColumns: readonly string[] = namesWhere(({ added }) => added === true);

/** The members of these facts that the row hash covers. */
export function hashedFacts(facts: JsonObject, added = addedColumns): JsonObject {
  return Object.fromEntries(Object.entries(facts).filter(([name, value]) => value !== null || !added.includes(name)));
}

export const movableColumns = namesWhere<MovableColumn>(({ moves }) => moves === true);
export const laterColumns = namesWhere<LaterColumn>(({ from }) => from === 'later');

type Unknown = {
  readonly [K in From<'birth'>]: Facts[K] extends { readonly nullable: true } ? K : never;
}[From<'birth'>];
/** Start value for a new row: every nullable fact is unknown. */
export const unknownFacts = Object.fromEntries(
  namesWhere<Unknown>(({ from, nullable }) => from === 'birth' && nullable === true).map(name => [name, null]),
) as { readonly [K in Unknown]: null };
