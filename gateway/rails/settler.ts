import type { JsonObject } from '../../schema/canonical-json.ts';
import type { Random } from '../../subgraphs/clock.ts';
import type { Database, Tx } from '../../subgraphs/database.ts';
import { isRolledBack } from '../../subgraphs/outage.ts';
import type { Lease } from '../../subgraphs/receipt/claim/claim.ts';
import { isPosted } from '../../subgraphs/receipt/claim/settlement/write.ts';
import { beginSettling } from '../../subgraphs/receipt/claim/transitions.ts';
import type { NotSent, SettleOutcome } from './outcome.ts';
import type { Payment } from './payment.ts';
import { underStanding } from './standing-sessions.ts';

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

export type JournalledOne =
  | { readonly kind: 'journalled'; readonly settlement_id: string }
  /** The claim is not ours to settle any more. */
  | { readonly kind: 'lost' }
  /** Rolled back: nothing stands. */
  | { readonly kind: 'failed'; readonly cause: unknown }
  /** The commit was asked for and its answer was lost. */
  | { readonly kind: 'in_doubt'; readonly cause: unknown };

export interface JournalParts<I> {
  readonly database: Database;
  readonly random: Random;
  readonly commitSettling: CommitSettling<I>;
}

export function newSettlementId(random: Random): string {
  return `stl_${Buffer.from(random.bytes(16)).toString('hex')}`;
}

/**
 * The one commit of a payment that is settled by itself: its claim becomes `settling`, and `write` puts down, in the same
 * transaction, all that going on needs.
 */
export async function journalOne<I extends { readonly claim_key: string }>(
  { database, random, commitSettling }: JournalParts<I>,
  item: I,
  from_block: number,
  write: (tx: Tx, settlement_id: string) => Promise<void>,
): Promise<JournalledOne> {
  const settlement_id = newSettlementId(random);
  let moved: boolean | null = null;
  try {
    await database.transaction(async tx => {
      moved = null;
      const keys = await commitSettling(tx, [item], { settlement_id, from_block, replaces: [] });
      const held = keys.has(item.claim_key);
      if (held) await write(tx, settlement_id);
      moved = held;
    });
  } catch (cause) {
    if (moved === null || isRolledBack(cause)) return { kind: 'failed', cause };
    if (!(await isPosted(database, settlement_id).catch(() => false))) return { kind: 'in_doubt', cause };
  }
  return moved ? { kind: 'journalled', settlement_id } : { kind: 'lost' };
}

/** Of a payment that did not come to be journalled: whether it is known that nothing stands. */
export const unjournalled = {
  lost: { kind: 'not_sent', reason: 'claim_lost' },
  failed: { kind: 'not_sent', reason: 'journal_failed' },
  in_doubt: { kind: 'unknown', reason: 'journal_failed' },
} as const;
