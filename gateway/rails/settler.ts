import type { Logger } from 'pino';
import type { JsonObject } from '../../schema/canonical-json.ts';
import { type Random, systemRandom } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { isRolledBack } from '../../subgraphs/outage.ts';
import type { Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { isJournalled } from '../../subgraphs/receipt/claim/settlement/write.ts';
import { beginSettling, lockUnsettled } from '../../subgraphs/receipt/claim/transitions.ts';
import { revokedUnder } from '../../subgraphs/session/delegation/revoked-under.ts';
import { type NotSent, notSent, type SettleOutcome, type Unknown, unknown } from './outcome.ts';
import type { Payment } from './payment.ts';
import type { ChainAnswer } from './rpc.ts';

/** A claim on its way to the chain, with what reconcile needs to finish it alone. */
export type ClaimItem<P extends Payment = Payment> = P & {
  readonly claim_key: string;
  readonly lease: Lease;
  readonly answer_box: Buffer | null;
  readonly worked: JsonObject;
  /** The session that it is paid under and all that stand over it; absent where it is under none. */
  readonly path?: readonly string[];
};

/** What the claims of a batch are told when they become `settling`. */
export interface Sending {
  readonly settlement_id: string;
  /** The block before which none of them can have moved. */
  readonly from_block: number;
  /**
   * Settlements that failed as a whole, some of whose claims are sent again in this one: a claim that is `settling` by
   * one of them (and by no other) is pointed at the new one. Empty for claims that are sent for the first time.
   */
  readonly replaces: readonly string[];
}

/**
 * Moves the claims of these items to `settling`, in the transaction that journals the signed bytes; returns the keys
 * that moved. The others are left out of the batch. It locks claims, and runs before anything of the settler's is locked.
 */
export type CommitSettling<I> = (tx: Tx, items: readonly I[], sending: Sending) => Promise<ReadonlySet<string>>;

/**
 * As `CommitSettling`, of claims; `settlement_id` is null where somebody else has submitted the payment. One whose session
 * was revoked does not move, unless its money has.
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

/** Submits payments. Never throws: every way in which it can end is a Settlement. */
export interface Settler<I = ClaimItem> {
  /** Concurrency: what is handed in while a transaction is under way goes together in the next one. */
  settle(item: I): Promise<SettleOutcome>;
  /** Sends again what was committed and not seen mined, by whichever process; for a timer, and at start. */
  rebroadcast(): Promise<void>;
  /** Why nothing at all would be sent just now, so that nobody is worked for; null where that is not known. */
  readonly pause?: NotSent['reason'] | null;
  /** Where somebody else has to be reached for it, beside the chain: whether that one is. */
  reachable?(): Promise<boolean>;
  /** Stops watching: what was not sent is `not_sent`, what was is `unknown`. */
  close(): Promise<void>;
}

/** Named points at which a test may stop the process. */
export interface SettlerFaults {
  reach(name: 'in_settling' | 'after_settling' | 'after_broadcast'): Promise<void>;
}

export const settlerDefaults = { wait_ms: 20_000, poll_ms: 500, nudge_ms: 2_000, stuck_ms: 15_000 } as const;

/** What every settler stands on. */
export interface SettlerParts<I> {
  readonly database: Database;
  readonly random: Random;
  readonly commitSettling: CommitSettling<I>;
  readonly faults?: SettlerFaults | null;
  /** For the log: what went wrong without changing any outcome. */
  readonly trouble?: (error: unknown) => void;
}

/** Those of a settler that settles claims; `message` stands in the log before what goes wrong. */
export function claimSettlerParts(
  { database, faults, logger }: { database: Database; faults: SettlerFaults | null; logger: Logger },
  message: string,
): SettlerParts<ClaimItem> {
  const trouble = (error: unknown) => logger.warn({ err: error }, message);
  return { database, random: systemRandom, commitSettling, faults, trouble };
}

/** When a settler with keys of its own looks after what it has sent. */
export interface SettlerTimes {
  /** After this a caller is told `unknown`; the transaction is looked after all the same. */
  readonly wait_ms: number;
  /** The chain is asked for it at this interval, and faster in a transaction's first moments. */
  readonly poll_ms: number;
  /** A transaction that is in no block after this is sent again, and with it what holds up its key's nonces. */
  readonly nudge_ms: number;
}

/** What came of the commit before which nothing may be broadcast, and after which anybody may broadcast what it holds. */
export type JournalOutcome<T> =
  | { readonly kind: 'journalled'; readonly journalled: T }
  /** No claim was left to settle: other processes hold them now. */
  | { readonly kind: 'lost' }
  /** Rolled back: nothing stands. */
  | { readonly kind: 'failed'; readonly cause: unknown }
  /** The commit was asked for and its answer was lost. */
  | { readonly kind: 'in_doubt'; readonly cause: unknown };

export function newSettlementId(random: Random): string {
  return `stl_${Buffer.from(random.bytes(16)).toString('hex')}`;
}

/** @param write moves the claims and writes the settlement of that id down; null where no claim was left, and nothing is written */
export async function journal<T extends object>(
  database: Database,
  settlement_id: string,
  write: (tx: Tx) => Promise<T | null>,
): Promise<JournalOutcome<T>> {
  // Until the work is done a failure is a rollback; after that it is one where the server said so.
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

/** The one commit of a payment that is settled by itself: with its claim `write` puts down all that going on needs. */
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

/** What a payment comes to that was not journalled: whether it is known that nothing stands. */
export function unjournalled(
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

/** Sends what was committed. Whatever the node says: what is in a block decides, and what it lost is sent again. */
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
  /** The session that it is paid under and all that stand over it; absent where it is under none. */
  readonly path?: readonly string[];
}

/**
 * Those whose sessions stand as they are about to settle: a revocation outlives nothing but what is settling by then. What
 * is settling already is not asked again. Locks all claims of the batch first, then sessions by hash.
 */
async function underStanding<I extends UnderSession>(tx: Tx, items: readonly I[]): Promise<readonly I[]> {
  if (!items.some(({ path }) => path)) return items;
  const unsettled = await lockUnsettled(
    tx,
    items.map(({ lease }) => lease),
  );
  const asked = items.flatMap(({ lease, path = [] }) => (unsettled.has(lease.claim_key) ? path : []));
  const revoked = await revokedUnder(tx, [...new Set(asked)]);
  return items.filter(
    ({ lease, path = [] }) => !unsettled.has(lease.claim_key) || !path.some(name => revoked.has(name)),
  );
}
