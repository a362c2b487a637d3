import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSales } from '../../../../gateway/parts.ts';
import { everyDoor } from '../../../../rest-compat/every-door.ts';
import { atomicAmount } from '../../../../schema/amount.ts';
import { evidences } from '../../../../schema/evidence.ts';
import { agentId, type TaskId } from '../../../../schema/ids.ts';
import { limits } from '../../../../schema/limits.ts';
import { endpointsOf, paidOperations, stampOperations } from '../../../../schema/paid-operations.ts';
import { type JournalUnit, journalUnits } from '../../../../schema/requests/export.ts';
import {
  type AccountNames,
  kindOfSale,
  type SpendKind,
  spendKinds,
} from '../../../../schema/requests/journal-accounts.ts';
import { BOARD_MODEL, REGISTER_MODEL } from '../../../../schema/route-words.ts';
import { wordList } from '../../../../schema/words.ts';
import { legsOf } from '../../../../subgraphs/board/job/legs.ts';
import { feeLeg, winnersLeg } from '../../../../subgraphs/board/job/pay.paid.ts';
import { payoutRow } from '../../../../subgraphs/board/job/payout-row.ts';
import { arrive } from '../../../../subgraphs/book/ledger/arrive.ts';
import { spendKind } from '../../../../subgraphs/book/ledger/spend-kind.ts';
import { systemClock, systemRandom } from '../../../../subgraphs/clock.ts';
import { openHubs } from '../../../../subgraphs/receipt/inference/hubs/open.ts';
import type { AnyPaid } from '../../../../subgraphs/sale.ts';
import { openVault } from '../../../../subgraphs/vault.ts';
import type { RowChanges } from '../../../harness/export/book.ts';
import { journalsOf, transactionsOf } from '../../../harness/export/journal.ts';
import { transferOf } from '../../../harness/ingest/transfer-source.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';
import { freshStore } from '../../../harness/store.ts';

/* GET and POST /v1/agents/{agent_id}/book/export/journal: each amount is debited to the account for its kind of spending. */

const hubs = openHubs([], { clock: systemClock, timeout_ms: 1, answer_bytes_max: 1 });
afterAll(() => hubs.close());
const sold = openSales({ hubs, vault: openVault('22'.repeat(32)), random: systemRandom, issuer });

let store: Awaited<ReturnType<typeof freshStore>>;
let journals: ReturnType<typeof journalsOf>;
beforeAll(async () => {
  store = await freshStore();
  journals = journalsOf(store);
});

const STAMP = limits.stamp_price_atomic;
const PRICES = [1n, 99n, 100n, 101n, 1_500_001n, 25_000_000n].map(atomicAmount);

/** The fee for a job of that price, from the terms of the sale. */
function feeFor(price: bigint): bigint {
  const legs = legsOf({ priceAtomic: atomicAmount(price), network: 'base', payTo: '0x1' });
  if (legs === null) throw new Error('a picked bid has two payments');
  const asked = { legs, delivery: { jobId: 'job_1', deliveriesRetired: 0 }, resource: undefined };
  expect(winnersLeg(asked).price_atomic).toBe(price);
  return feeLeg(asked).price_atomic ?? 0n;
}

/** The two rows that the payment of a job of that price writes on the poster's book, and the row on the winner's. */
function jobRows(price: bigint) {
  const transfer = transferOf({ amount: String(price) });
  const leg = { claim_key: 'k', task_id: 'task_1' as TaskId, transfer, payment_id: '0x1', reserved_atomic: '0' };
  const fact = {
    leg,
    winner_agent_id: agentId(2),
    output_sha256: '0'.repeat(64),
    resource: 'http://127.0.0.1/graphql',
  };
  const stamped = { task_id: 'task_2' as TaskId, payer: null, agent_id: agentId(1), payment_ref: null, transfer };
  const { birth, also_on } = payoutRow({ agent_id: agentId(1), job_id: 'job_1' }, fact, stamped);
  const { task_id: _task, ...differently } = birth;
  const [
    {
      birth: { task_id: _other, ...income },
    } = { birth },
  ] = also_on;
  return { paid: differently, income };
}

/** Members that an ingest records. Its stamp is on no book. */
const foreign = { evidence: 'foreign_ingest', facts: { pay_to: '0x1', payer_proven: true } } as const;

/**
 * Changes of a row as the recording of this sale writes them, one for each amount or route that is tested. For a sale that is on no book:
 * the row of an ingest.
 */
function rowsOf(paid: AnyPaid): RowChanges[] {
  if (paid.order === 'leg') return PRICES.map(price => jobRows(price).paid);
  if (paid.order !== 'stamp') return [{}, { hub: null, model: null }, { hub: '', model: '' }, { model: 'board' }];
  if (paid.chained === 'off_book') return [foreign];
  const amounts = paid.price_atomic === null ? PRICES.map(feeFor) : [paid.price_atomic];
  return amounts.map(amount => ({ ...paid.route, amount: atomicAmount(amount) }));
}

async function recordsOf(agent_id: number, unit: JournalUnit = 'row', names: Partial<AccountNames> = {}) {
  const text = await journals.journal(agentId(agent_id), 'csv', unit, {}, names);
  return parse(text, { columns: true }) as Record<string, string>[];
}
const debited = async (agent_id: number, unit: JournalUnit = 'row') =>
  (await recordsOf(agent_id, unit)).flatMap(({ debit, account }) => (debit ? [account] : []));

const word = fc.oneof(fc.constantFrom(BOARD_MODEL, REGISTER_MODEL), fc.string());
const row = fc.record({
  evidence: fc.constantFrom(...wordList(evidences)),
  stamped: fc.option(word),
  has_payee: fc.boolean(),
  against_stamp: fc.constantFrom(-1, 0, 1),
});

describe('the kind of a spend', () => {
  it('is known by a fact that only rows of that kind have', () => {
    fc.assert(
      fc.property(row, one => {
        const kind = spendKind(one);
        expect(Object.keys(spendKinds)).toContain(kind);
        expect(kind === 'foreign').toBe(one.evidence === 'foreign_ingest');
        const here = ['collected', 'RECORDED_BY_SETTLE', 'ARRIVAL_UNVERIFIED'].includes(one.evidence);
        expect(kind === 'inference').toBe(here && one.stamped === null);
        const on_board = here && one.stamped === BOARD_MODEL;
        expect(kind === 'jobs').toBe(on_board && one.has_payee);
        const registered = here && one.stamped === REGISTER_MODEL;
        expect(kind === 'fees').toBe(registered || (on_board && !one.has_payee && one.against_stamp > 0));
        expect(kind === 'stamps').toBe(on_board && !one.has_payee && one.against_stamp === 0);
      }),
    );
  });

  it('stays when the amount of its row is given up', () => {
    fc.assert(
      fc.property(row, one => {
        const recorded = spendKind({ ...one, evidence: 'RECORDED_BY_SETTLE' });
        for (const evidence of ['collected', 'ARRIVAL_UNVERIFIED'] as const)
          expect(spendKind({ ...one, evidence })).toBe(recorded);
      }),
    );
  });
});

describe('every sale', () => {
  it('is of exactly one kind, and nothing else is', () => {
    expect(Object.keys(kindOfSale).toSorted()).toEqual([...sold.keys()].toSorted());
  });

  it.each([...sold.keys()])('%s: its row is debited to the account of its kind', async field => {
    const paid = sold.get(field) as AnyPaid;
    const rows = rowsOf(paid);
    const kind = (kindOfSale as Readonly<Record<string, SpendKind>>)[field] as SpendKind;
    for (const unit of wordList(journalUnits)) {
      const found = await debited(await journals.newBook(rows), unit);
      expect(new Set(found)).toEqual(new Set([spendKinds[kind].account]));
    }
  });

  it('that is a paid endpoint of the table has one kind, but for a job, whose two payments have one each', () => {
    const priced = everyDoor.filter(({ price }) => price !== null);
    const endpoints = { ...paidOperations, ...stampOperations };
    expect(new Set(Object.values(endpoints).map(({ path }) => path))).toEqual(new Set(priced.map(({ path }) => path)));
    for (const name of Object.keys(endpoints)) {
      const kinds = Object.entries(kindOfSale).flatMap(([field, kind]) =>
        endpointsOf(field).includes(name) ? [kind] : [],
      );
      expect([name, [...new Set(kinds)].toSorted()]).toEqual([
        name,
        name === 'pay_job' ? ['fees', 'jobs'] : [kinds[0]],
      ]);
    }
  });
});

describe('a row that no sale leaves', () => {
  it('is foreign where it was ingested, whatever its hub is called', async () => {
    const agent_id = await journals.newBook([
      foreign,
      { ...foreign, hub: 'svc', model: 'board' },
      { ...foreign, rail: 'xno' },
    ]);
    expect(await debited(agent_id)).toEqual(Array.from({ length: 3 }, () => 'expenses:foreign'));
  });

  it.each<[string, RowChanges]>([
    ['less than a stamp on the board', { hub: 'svc', model: 'board', amount: atomicAmount(STAMP - 1n) }],
    ['a stamp of a name that is not known', { hub: 'svc', model: 'constructor' }],
    ['a stamp without a name', { hub: 'svc', model: null }],
    ['an amount that no evidence of a payment has', { evidence: 'inflow_claimed' }],
  ])('is not classified, and says so: %s', async (_, row) => {
    const agent_id = await journals.newBook([row]);
    const [first] = await recordsOf(agent_id);
    expect(first).toMatchObject({ account: 'expenses:other', memo: expect.stringMatching(/^Unclassified: /) });
    const [day] = await recordsOf(agent_id, 'day');
    expect(day).toMatchObject({ account: 'expenses:other', memo: '1 paid unclassified payment' });
  });

  it('has no entry where it is what a winner was paid', async () => {
    expect(await debited(await journals.newBook([jobRows(1_500_001n).income]))).toEqual([]);
  });
});

const board = { hub: 'svc', model: 'board' } as const;
const job = { ...board, amount: atomicAmount(1_500_001n), facts: { pay_to: '0x1' } };
const fee = { ...board, amount: atomicAmount(17_001n) };

it('per day there is one entry for each rail, status and kind, with the sum of its rows', async () => {
  const agent_id = await journals.newBook([{}, board, {}, board, job, fee, { hub: 'svc', model: 'register' }]);
  // All rows get the same time, because midnight could otherwise fall between them.
  await store.query({
    text: `update book_row set collected_at = '2026-01-02T03:04:05Z' where agent_id = $1`,
    values: [agent_id],
  });
  const entries = (await recordsOf(agent_id, 'day')).flatMap(({ debit, account, memo }) =>
    debit ? [[account, debit, memo]] : [],
  );
  expect(entries).toEqual([
    ['expenses:inference', '0.004000', '2 paid calls'],
    ['expenses:stamps', '0.004000', '2 paid stamps'],
    ['expenses:jobs', '1.500001', '1 paid job'],
    ['expenses:fees', '0.019001', '2 paid fees'],
  ]);
});

it.each(wordList(journalUnits))('a reversal is booked to the account of the first entry, per %s', async unit => {
  const pending = { evidence: 'RECORDED_BY_SETTLE', collected: false, arrival_status: 'pending' } as const;
  const agent_id = await journals.newBook([board, fee, job, {}].map(row => ({ ...row, ...pending })));
  const given_up = [0, 1, 2, 3].map(index => {
    const task_id = `task_${agent_id}_${agent_id * 100_000 + index}`;
    return { task_id, to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt' } as const;
  });
  await store.transaction(tx => arrive(tx, given_up));
  const records = await recordsOf(agent_id, unit);
  const expenses = (status: string) =>
    records.flatMap(({ account = '', debit, credit, ...it }) =>
      it.status === status && account.startsWith('expenses:') ? [`${account} ${debit || credit}`] : [],
    );
  expect(expenses('reversed')).toEqual([
    'expenses:stamps 0.002000',
    'expenses:fees 0.017001',
    'expenses:jobs 1.500001',
    'expenses:inference 0.002000',
  ]);
  expect(expenses('reversal')).toEqual(expenses('reversed'));
  const sums = new Map<string, bigint>();
  for (const { postings } of transactionsOf(await journals.journal(agentId(agent_id), 'ledger', unit)))
    for (const { account, amount } of postings) sums.set(account, (sums.get(account) ?? 0n) + amount);
  expect([...sums.values()]).toEqual([...sums.values()].map(() => 0n));
});

it.each(wordList(journalUnits))(
  'accounts have the names that are set, in both forms, and the others their default, per %s',
  async unit => {
    const agent_id = await journals.newBook([{}, board, { rail: 'xno', evidence: 'foreign_ingest' }]);
    const names = {
      inference: 'Expenses:AI:Größe',
      foreign: 'Ausgaben:Fremde (alle)',
      wallet: 'Assets:Crypto:<currency>',
    };
    const accounts = [
      'Expenses:AI:Größe',
      'Assets:Crypto:usdc',
      'expenses:stamps',
      'Assets:Crypto:usdc',
      'Ausgaben:Fremde (alle)',
      'Assets:Crypto:xno',
    ];
    expect((await recordsOf(agent_id, unit, names)).map(({ account }) => account)).toEqual(accounts);
    const text = await journals.journal(agentId(agent_id), 'ledger', unit, {}, names);
    expect(transactionsOf(text).flatMap(({ postings }) => postings.map(({ account }) => account))).toEqual(accounts);
    expect(text.split('\n\n')[0]?.split('\n').slice(1)).toEqual([
      '; account_inference=Expenses:AI:Größe',
      '; account_stamps=expenses:stamps',
      '; account_foreign=Ausgaben:Fremde (alle)',
      '; account_jobs=expenses:jobs',
      '; account_fees=expenses:fees',
      '; account_other=expenses:other',
      '; account_wallet=Assets:Crypto:<currency>',
    ]);
  },
);
