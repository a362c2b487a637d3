import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { atomicAmount } from '../../../../schema/amount.ts';
import { agentId } from '../../../../schema/ids.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { type Collection } from '../../../../subgraphs/book/ledger/collect.ts';
import { replay } from '../../../../subgraphs/book/ledger/replay.ts';
import { reserve } from '../../../../subgraphs/book/ledger/reserve.ts';
import { setPolicy } from '../../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import {
  collectAll,
  collection,
  refuser,
  reservationFor,
  vouchedCollection,
  withBooks,
} from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

let database: Database;
beforeAll(async () => {
  database = await freshStore();
});

const INTENTS = ['bill-1', 'bill-2', null] as const;

/** What can happen to an attempt, and what its intent counts for it. */
const kinds = ['collected', 'vouched', 'by_key', 'blocked', 'blocked_by_key'] as const;
type Kind = (typeof kinds)[number];
type Later = 'nothing' | 'replayed' | 'confirmed' | 'unverified';
const laters = ['nothing', 'replayed', 'confirmed', 'unverified'] as const satisfies readonly Later[];

interface Attempt {
  readonly kind: Kind;
  readonly intent: number;
  readonly later: Later;
}

const attempts = fc.array(
  fc.record({
    kind: fc.constantFrom(...kinds),
    intent: fc.nat(INTENTS.length - 1),
    later: fc.constantFrom(...laters),
  }),
  { minLength: 1, maxLength: 24 },
);

/** A row of a call by key, which was not paid for. */
const unpaid = {
  evidence: 'UNVERIFIED',
  collected: false,
  payment_ref: null,
  transfer_index: null,
  rail: null,
  amount: null,
  payer_wallet: null,
  settled_by: null,
  arrival_status: null,
} as const;

function landing(book: number, number: number, kind: Kind, intent_id: string | null): Collection {
  const item = kind === 'vouched' ? vouchedCollection(book, number) : collection(book, number);
  if (item.landing === null) throw new Error('it lands on a book');
  const birth = { ...item.landing.birth, intent_id, attempt_index: number };
  return { ...item, landing: { ...item.landing, birth: kind === 'by_key' ? { ...birth, ...unpaid } : birth } };
}

async function attempt(book: number, number: number, { kind, intent, later }: Attempt): Promise<void> {
  const intent_id = INTENTS[intent] ?? null;
  const task_id = `task_${book}_${number}`;
  if (kind === 'blocked' || kind === 'blocked_by_key') {
    const named = { ...reservationFor(book, number), intent_id, attempt_index: number };
    const asked = kind === 'blocked' ? named : { ...named, amount: null, payer_wallet: null };
    await setPolicy(database, agentId(book), { policy_type: 'kill_switch', value: true });
    const [outcome] = await database.transaction(tx => reserve(tx, refuser, [asked]));
    await setPolicy(database, agentId(book), { policy_type: 'kill_switch', value: null });
    expect(outcome?.kind).toBe('blocked');
    return;
  }
  await database.transaction(tx => collectAll(tx, [landing(book, number, kind, intent_id)]));
  const ingress_receipt = { ref: `base:0x${number}`, confirmed_at: '2026-01-02T03:04:05.000Z' };
  await database.transaction(async tx => {
    if (later === 'replayed') await replay(tx, [task_id]);
    if (later === 'confirmed') await arrive(tx, [{ task_id, to: 'collected', ingress_receipt }]);
    if (later === 'unverified') await arrive(tx, [{ task_id, to: 'ARRIVAL_UNVERIFIED', omission_rule: 'unseen' }]);
  });
}

const isCollected = ({ kind, later }: Attempt) => kind === 'collected' || (kind === 'vouched' && later === 'confirmed');
const isBlocked = ({ kind }: Attempt) => kind === 'blocked' || kind === 'blocked_by_key';

let books = 500;

describe('the counters of an intent', () => {
  it('are what its rows say, whatever was collected, came late, never came, was blocked, replayed or done by key', async () => {
    await fc.assert(
      fc.asyncProperty(attempts, async taken => {
        const book = ++books;
        await withBooks(database, book);
        for (const [index, one] of taken.entries()) await attempt(book, index + 1, one);
        const counted = await database.query<{ intent_id: string; collected_count: number; blocked_count: number }>({
          text: 'select intent_id, collected_count, blocked_count from book_intent where agent_id = $1 order by 1',
          values: [book],
        });
        const scanned = await database.query({
          text: `select intent_id, count(*) filter (where collected)::int as collected_count,
              count(*) filter (where evidence = 'policy_blocked')::int as blocked_count
            from book_row where agent_id = $1 and intent_id is not null group by 1 order by 1`,
          values: [book],
        });
        expect(counted).toEqual(scanned);
        const expected = INTENTS.flatMap((intent_id, intent) => {
          const mine = taken.filter(one => one.intent === intent);
          if (intent_id === null || mine.length === 0) return [];
          const [collected_count, blocked_count] = [mine.filter(isCollected).length, mine.filter(isBlocked).length];
          return [{ intent_id, collected_count, blocked_count }];
        });
        expect(counted).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });
});

describe('a row that a key stood in for the payment of', () => {
  it('counts in no total, on no rail and under no cap, and holds nothing', async () => {
    const book = ++books;
    await withBooks(database, book);
    for (const number of [1, 2]) await attempt(book, number, { kind: 'by_key', intent: 0, later: 'nothing' });
    await attempt(book, 3, { kind: 'collected', intent: 0, later: 'nothing' });
    const [head] = await database.query({ text: 'select * from book where agent_id = $1', values: [book] });
    expect(head).toMatchObject({ seq: 3, position: 3, spent_atomic: 2000n, reserved_atomic: atomicAmount(0n) });
    expect(head).toMatchObject({ hour_atomic: 2000n, day_atomic: 2000n, by_rail: { usdc: { count: 1 } } });
  });
});
