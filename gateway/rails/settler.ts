import type { Logger } from 'pino';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type Random, systemRandom } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { isRolledBack } from '../../subgraphs/outage.ts';
import type { Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { isJournalled } from '../../subgraphs/receipt/claim/settlement/write.ts';
import { beginSettling, lockUnsettled } from '../../subgraphs/receipt/claim/transitions.ts';
import { shareLockRevocations } from '../../subgraphs/session/delegation/share-lock.ts';
import { type NotSent, notSent, type SettleOutcome, type Unknown, unknown } from './outcome.ts';
import type { Payment } from './payment.ts';
import type { ChainAnswer } from './rpc.ts';

/** A payment to be settled with its claim, and the data that reconciliation needs to finish it without the caller. */
export type ClaimItem<P extends Payment = Payment> = P & {
  readonly claim_key: string;
  readonly lease: Lease;
  readonly answer_box: Buffer | null;
  readonly worked: JsonObject;
  /** Hashes of the session that pays and of all its parents; undefined without a session. */
  readonly path?: readonly string[];
};

/** Members that the claims of a batch store when they become `settling`. */
export interface Sending {
  readonly settlement_id: string;
  /** First block in which any of the payments may have moved. */
  readonly from_block: number;
  /**
   * Settlements that failed as a whole and whose claims are partly sent again. A claim that is `settling` by one of these
   * settlements, and by no other, moves to the new settlement. Empty for claims that are sent for the first time.
   */
  readonly replaces: readonly string[];
}

/**
 * Moves the claims of these items to `settling`, in the database transaction that stores the signed bytes. Returns the keys of the
 * claims that moved; the others are left out of the batch. It locks the claims, before any lock of the settler.
 */
export type CommitSettling<I> = (tx: Tx, items: readonly I[], sending: Sending) => Promise<ReadonlySet<string>>;

/**
 * `CommitSettling` for claims. `settlement_id` is null if someone else submitted the payment. A claim whose session was revoked
 * does not move, unless its payment already has.
 */
export async function commitSettling(
  tx: Tx,
  items: readonly ClaimItem[],
  { settlement_id, from_block, replaces }: Omit<Sending, 'settlement_id'> & { settlement_id: string | null },
): Promise<Set<string>> {
  const standing = settlement_id === null ? items : await underStanding(tx, items);
  return beginSettling(
    tx,
    standing.map(({ lease, answer_box, worked }) => ({ ...lease, answer_box, worked, settlement_id, from_block })),
    replaces,
  );
}

/** Submits payments. Never throws: every result is a `SettleOutcome`. */
export interface Settler<I = ClaimItem> {
  /** Concurrency: items that arrive while a transaction is open are sent together in the next one. */
  settle(item: I): Promise<SettleOutcome>;
  /** Sends committed transactions of any process again that were not seen mined. Called at the start and by a timer. */
  rebroadcast(): Promise<void>;
  /** Why no payment would be sent now, so that no purchase is worked on; null if no reason is known. */
  readonly pause?: NotSent['reason'] | null;
  /** Whether the other service that settling needs is reachable. */
  reachable?(): Promise<boolean>;
  /** Stops watching. Payments that were not sent end as `not_sent`, those that were sent as `unknown`. */
  close(): Promise<void>;
}

/** Points at which a test may stop the process. */
export interface SettlerFaults {
  reach(name: 'in_settling' | 'after_settling' | 'after_broadcast'): Promise<void>;
}

export const settlerDefaults = { wait_ms: 20_000, poll_ms: 500, nudge_ms: 2_000, stuck_ms: 15_000 } as const;

/** Dependencies of every settler. */
export interface SettlerParts<I> {
  readonly database: Database;
  readonly random: Random;
  readonly commitSettling: CommitSettling<I>;
  readonly faults?: SettlerFaults | null;
  /** Logs errors that changed no outcome. */
  readonly trouble?: (error: unknown) => void;
}

/** Dependencies of a settler of claims. `message` is logged with its errors. */
export function claimSettlerParts(
  { database, faults, logger }: { database: Database; faults: SettlerFaults | null; logger: Logger },
  message: string,
): SettlerParts<ClaimItem> {
  const trouble = (error: unknown) => logger.warn({ err: error }, message);
  return { database, random: systemRandom, commitSettling, faults, trouble };
}

/** Times of a settler that uses this service's own keys. */
export interface SettlerTimes {
  /** Time after which a caller gets `unknown`. The transaction is still followed. */
  readonly wait_ms: number;
  /** Longest interval between two polls of the chain; the first ones after a transaction is sent are shorter. */
  readonly poll_ms: number;
  /** Time after which a transaction that is in no block is sent again, together with those that block its key's nonces. */
  readonly nudge_ms: number;
}

/** Result of the commit of a settlement. Nothing may be broadcast before the commit, and any process may broadcast afterwards. */
export type JournalOutcome<T> =
  | { readonly kind: 'journalled'; readonly journalled: T }
  /** No claim was left to settle, because other processes own them. */
  | { readonly kind: 'lost' }
  /** The commit was rolled back, so nothing was stored. */
  | { readonly kind: 'failed'; readonly cause: unknown }
  /** The commit was requested, but its response was lost. */
  | { readonly kind: 'in_doubt'; readonly cause: unknown };

export function newSettlementId(random: Random): string {
  return `stl_${Buffer.from(random.bytes(16)).toString('hex')}`;
}

/**
 * Commits a settlement. `write` moves the claims and stores the settlement with that id; it returns null, and writes nothing, if no
 * claim was left.
 */
export async function journal<T extends object>(
  database: Database,
  settlement_id: string,
  write: (tx: Tx) => Promise<T | null>,
): Promise<JournalOutcome<T>> {
  // Any failure before the end of `write` is a rollback. A later failure is one only if the server reported it as such.
  let written: T | null = null;
  try {
    await database.transaction(async tx => {
      written = null;
      written = await write(tx);
    });
  } catch (cause) {
    if (written === null || isRolledBack(cause)) return { kind: 'failed', cause };
    if (!(await isJournalled(database, settlement_id).catch(() => false))) return { kind: 'in_doubt', cause };
  }
  return written === null ? { kind: 'lost' } : { kind: 'journalled', journalled: written };
}

/** Commits a single payment. `write` stores all data that are needed to continue, together with its claim. */
export function journalOne<I extends { readonly claim_key: string }>(
  { database, random, commitSettling }: SettlerParts<I>,
  item: I,
  from_block: number,
  write: (tx: Tx, settlement_id: string) => Promise<void>,
): Promise<JournalOutcome<{ readonly settlement_id: string }>> {
  const settlement_id = newSettlementId(random);
  return journal(database, settlement_id, async tx => {
    const moved = await commitSettling(tx, [item], { settlement_id, from_block, replaces: [] });
    if (!moved.has(item.claim_key)) return null;
    await write(tx, settlement_id);
    return { settlement_id };
  });
}

/** Result of a payment whose commit did not succeed. `unknown` if the commit may have happened. */
export function outcomeWithoutJournal(
  outcome: Exclude<JournalOutcome<unknown>, { kind: 'journalled' }>,
  { trouble }: Pick<SettlerParts<never>, 'trouble'>,
): NotSent | Unknown {
  if (outcome.kind !== 'lost') trouble?.(outcome.cause);
  return unsettled[outcome.kind];
}

const unsettled = {
  lost: notSent('claim_lost'),
  failed: notSent('journal_failed'),
  in_doubt: unknown('journal_failed'),
} as const;

/**
 * Broadcasts a committed transaction. The node's response does not matter: a block decides, and a transaction that the node loses
 * is sent again.
 */
export async function broadcastCommitted<R extends string>(
  chain: { broadcast(raw: R): Promise<ChainAnswer<{ readonly kind: string }>> },
  raw: R,
  { faults, trouble }: Pick<SettlerParts<never>, 'faults' | 'trouble'>,
): Promise<void> {
  await faults?.reach('after_settling');
  const answer = await chain.broadcast(raw);
  if (answer.kind !== 'ok' || answer.value.kind !== 'taken') trouble?.(answer);
  await faults?.reach('after_broadcast');
}

interface UnderSession {
  readonly lease: Lease;
  /** Hashes of the session that pays and of all its parents; undefined without a session. */
  readonly path?: readonly string[];
}

/**
 * The items whose sessions are not revoked when they settle. A revocation stops all items except those that are already settling.
 * Locks all claims of the batch first, then the sessions by hash.
 */
async function underStanding<I extends UnderSession>(tx: Tx, items: readonly I[]): Promise<readonly I[]> {
  if (!items.some(({ path }) => path)) return items;
  const unsettled = await lockUnsettled(
    tx,
    items.map(({ lease }) => lease),
  );
  const asked = items.flatMap(({ lease, path = [] }) => (unsettled.has(lease.claim_key) ? path : []));
  const revoked = await shareLockRevocations(tx, [...new Set(asked)]);
  return items.filter(
    ({ lease, path = [] }) => !unsettled.has(lease.claim_key) || !path.some(name => revoked.has(name)),
  );
}
