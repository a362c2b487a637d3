import { limits } from '../../../schema/limits.ts';
import { type BlockedTooOften } from '../../../subgraphs/book/ledger/block.ts';
import { type BlockedCalls } from '../../../subgraphs/book/ledger/blocked-calls.ts';
import { appendRepeats, countRepeats } from '../../../subgraphs/book/ledger/repeated-events.ts';
import { type ReservationRequest } from '../../../subgraphs/book/ledger/reservation.ts';
import { refusedTooOften } from '../../../subgraphs/book/ledger/reserve.ts';
import { type Database } from '../../../subgraphs/database.ts';
import { DatabaseAway } from '../../../subgraphs/outage.ts';
import { type Tx } from '../../../subgraphs/transaction.ts';

/**
 * Finds calls that their books keep refusing, each with its response. It only reads, and only for books that this process knows to have
 * refused calls. `askingOf` returns null for a call that is not to be checked.
 */
export async function refusedAlready<I>(
  tx: Tx,
  blocked_calls: BlockedCalls,
  items: readonly I[],
  askingOf: (item: I) => ReservationRequest | null,
): Promise<ReadonlyMap<I, BlockedTooOften>> {
  const suspects = items.flatMap(item => {
    const asked = askingOf(item);
    return asked && !asked.owed && blocked_calls.suspects(asked.agent_id) ? [{ item, asked }] : [];
  });
  if (suspects.length === 0) return new Map();
  const found = await refusedTooOften(
    tx,
    suspects.map(({ asked }) => asked),
  );
  return new Map(
    suspects.flatMap(({ item, asked }, index) => {
      const too_often = found[index];
      if (too_often) return [[item, too_often] as const];
      blocked_calls.acquit(asked.agent_id);
      return [];
    }),
  );
}

/** Calls `run` for the items that are not in `away`. Returns the outcomes of all items in their order. */
export async function runOthers<I, O>(
  items: readonly I[],
  away: ReadonlyMap<I, BlockedTooOften>,
  run: (others: readonly I[]) => Promise<readonly O[]>,
): Promise<readonly (O | BlockedTooOften)[]> {
  const others = items.filter(item => !away.has(item));
  const outcomes = others.length === 0 ? [] : await run(others);
  const outcomeOf = new Map(others.map((item, index) => [item, outcomes[index] as O]));
  return items.map(item => away.get(item) ?? (outcomeOf.get(item) as O));
}

interface Counting {
  readonly database: Database;
  readonly blocked_calls: BlockedCalls;
}

/** Stores the counts of this process, and turns counts that have waited long enough into events. */
export async function appendCounts(counting: Counting): Promise<void> {
  await storeCounts(counting);
  while ((await counting.database.transaction(tx => appendRepeats(tx))) === limits.counted_per_transaction_max);
}

/**
 * Stores the counts of this process. If the response to the commit was lost, they are not counted again: missing some is better than
 * counting some twice.
 */
export async function storeCounts({ database, blocked_calls }: Counting): Promise<void> {
  const counts = blocked_calls.take();
  if (counts.length === 0) return;
  try {
    await database.transaction(async tx => countRepeats(tx, counts));
  } catch (error) {
    if (!(error instanceof DatabaseAway && error.in_doubt)) blocked_calls.giveBack(counts);
    throw error;
  }
}
