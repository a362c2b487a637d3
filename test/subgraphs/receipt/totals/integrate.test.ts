import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { noteTransfer, totalsFigures } from '../../../../subgraphs/receipt/totals/payments.ts';
import { totalsStatement } from '../../../../subgraphs/receipt/totals/proofs.ts';
import { verifyTotals } from '../../../../subgraphs/receipt/verify/totals.ts';
import { programOf } from '../../../harness/gateway.ts';
import { issuer } from '../../../harness/ledger/fixture.ts';
import { withParentDeathSignal } from '../../../harness/parent-death-signal.ts';
import { openTotals, paidCallOf, vouchedCall } from '../../../harness/receipt/totals.ts';
import { atEnd } from '../../../harness/release.ts';
import { waivedCall } from '../../../harness/vectors/receipt-facts.ts';

type Totals = Awaited<ReturnType<typeof openTotals>>;
let totals: Totals;
beforeAll(async () => {
  totals = await openTotals();
  atEnd(() => totals.database.close());
});

let number = 0;
/** Rows and total of each book, computed by plain addition. */
const model = new Map<number, { rows: string[]; total: bigint }>();
const unbooked: string[] = [];

/** Issues calls, with one transaction for each list, and adds them to the model. */
async function collect(
  ...batches: readonly (readonly (readonly [agent: number | null, amount: bigint])[])[]
): Promise<void> {
  for (const batch of batches) {
    const calls = batch.map(([agent, amount]) => paidCallOf(++number, agent, amount));
    await totals.database.issueCalls(issuer, calls);
    for (const [at, { task_id }] of calls.entries()) note(batch[at]?.[0] ?? null, task_id, batch[at]?.[1] ?? 0n);
  }
}

function note(agent: number | null, task_id: string, amount: bigint): void {
  if (agent === null) return void unbooked.push(task_id);
  const book = model.get(agent) ?? { rows: [], total: 0n };
  model.set(agent, { rows: [...book.rows, task_id], total: book.total + amount });
}

function requireValid(document: JsonObject): JsonObject {
  expect(verifyTotals(document, issuer.jwks)).toMatchObject({ kind: 'valid', report: { unsigned: { unknown: [] } } });
  return document;
}

async function statement(): Promise<JsonObject> {
  const stated = await totalsStatement(totals.database);
  if (stated.kind !== 'proven') throw new Error(stated.kind);
  return requireValid(stated.document);
}

/** Checks that every total is equal to the model's, and that every row, payment and empty book has a valid proof. */
async function requireModel(): Promise<void> {
  await statement();
  for (const [agent, { rows, total }] of model) {
    const rails = [{ rail: 'usdc', rows: rows.length, total: total.toString() }];
    for (const task_id of rows) expect(requireValid(await totals.total(agent, task_id))).toMatchObject({ rails });
  }
  for (const task_id of [...[...model.values()].flatMap(({ rows }) => rows), ...unbooked])
    requireValid(await totals.payment(task_id));
  expect(requireValid(await totals.total(9_999))).toMatchObject({ rails: [{ rail: 'usdc', rows: 0, total: '0' }] });
}

const calls = fc.array(
  fc.array(fc.tuple(fc.constantFrom(1, 1, 2, 3, null), fc.bigInt({ min: 0n, max: 10n ** 24n })), {
    minLength: 1,
    maxLength: 8,
  }),
  { maxLength: 6 },
);

describe('the totals behind the log', () => {
  it('say nothing before the first leaf', async () => {
    expect(await totals.integrate()).toBe(0);
    expect(await totalsStatement(totals.database)).toEqual({ kind: 'unstated' });
  });

  it('come to the sum of what was collected, with a proof of each row and payment, however the leaves came', async () => {
    await fc.assert(
      fc.asyncProperty(calls, async batches => {
        await collect(...batches);
        expect(await totals.integrateAll()).toBe(batches.flat().length);
      }),
      { numRuns: 6 },
    );
    await collect([[1, 5n]]);
    expect(await totals.integrateAll()).toBe(1);
    await requireModel();
  });

  it('count nothing that was not paid', async () => {
    await totals.database.issueCalls(issuer, [{ ...waivedCall, agent_id: 1 }]);
    const before = (await statement()).books_root;
    expect(await totals.integrateAll()).toBe(1);
    expect((await statement()).books_root).toBe(before);
    await expect(totals.payment(waivedCall.task_id)).rejects.toThrow('uncounted');
  });

  it('count what was vouched for once it is seen, by the transfer that was seen', async () => {
    const [one, two] = [vouchedCall(++number, 1, 70n), vouchedCall(++number, null, 80n)];
    await totals.database.issueCalls(issuer, [one, two]);
    await totals.integrateAll();
    await expect(totals.total(1, one.task_id)).rejects.toThrow('uncounted');
    for (const [index, { task_id }] of [one, two].entries())
      await totals.database.transaction(async tx =>
        noteTransfer(tx, { task_id, payment_ref: `base:0x${'ee'.repeat(32)}`, transfer_index: index }),
      );
    expect(await totals.integrateAll()).toBe(2);
    expect(await totals.integrateAll()).toBe(0);
    note(1, one.task_id, 70n);
    note(null, two.task_id, 80n);
    await requireModel();
  });

  it('count what was seen once the log is caught up with', async () => {
    const vouched = vouchedCall(++number, 1, 90n);
    await totals.database.issueCalls(issuer, [vouched]);
    await totals.database.transaction(async tx =>
      noteTransfer(tx, { task_id: vouched.task_id, payment_ref: `base:0x${'ef'.repeat(32)}`, transfer_index: 0 }),
    );
    const leaves = (): (readonly [number, bigint])[] => Array.from({ length: 200 }, () => [5, 1n]);
    await collect(leaves(), leaves());
    // First the vouched leaf and two hundred others, then two hundred others and the transfer that was seen.
    expect([await totals.integrate(), await totals.integrate(), await totals.integrate()]).toEqual([201, 201, 0]);
    model.delete(5);
    note(1, vouched.task_id, 90n);
    await requireModel();
  });

  it('count each leaf once where several do it at once', async () => {
    await collect([[1, 1n]], [[2, 2n]], [[1, 3n]]);
    const taken = await Promise.all([totals.integrate(), totals.integrate(), totals.integrate()]);
    expect(taken.reduce((sum, each) => sum + each, 0) + (await totals.integrateAll())).toBe(3);
    await requireModel();
  });

  it('go on where a kill -9 left them, with nothing counted twice', async () => {
    await collect(
      [
        [1, 1n],
        [4, 2n],
      ],
      [[null, 3n]],
    );
    const before = await statement();
    const program = [...programOf('test/harness/receipt/integrate-and-die.child.ts'), totals.database.url];
    const child = spawn(...withParentDeathSignal(process.execPath, program), {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL']);
    expect(await statement()).toEqual(before);
    // Rows that the dead session has locked are skipped until Postgres notices its end.
    await expect.poll(() => totals.integrateAll()).toBe(3);
    await requireModel();
  });

  it('begin anew behind a log that has another head in the place that they had come to', async () => {
    await totals.database.query({ text: `update totals_state set root_hash = '${'0'.repeat(64)}'` });
    expect(await totals.integrate()).toBe(0);
    expect(await totalsStatement(totals.database)).toEqual({ kind: 'unstated' });
    await totals.integrateAll();
    await requireModel();
  });

  describe('altered where they are stored', () => {
    const altered = (text: string) => totals.database.query({ text });
    beforeAll(async () => {
      await collect([[6, 10n]], [[6, 20n]], [[6, 30n]]);
      await totals.integrateAll();
    });

    it.each([
      ['a sum on a book’s way', 'update totals_node set sum = sum + 5 where agent_id = 6'],
      ['a book’s total', 'update totals_book set total = total + 5 where agent_id = 6'],
      ['a book that is gone', 'delete from totals_book where agent_id = 6'],
      ['its rows', 'delete from totals_node where agent_id = 6 and level = 1'],
      ['a map’s first page', `update totals_page set page = '{}' where map = 'books' and prefix = ''`],
      ['a page that is gone', `delete from totals_page where map = 'payments' and prefix <> ''`],
      [
        'a page',
        `update totals_page set page = jsonb_build_object('0', page->(select min(k) from jsonb_object_keys(page) k))
          where map = 'payments' and length(prefix) = 1`,
      ],
      ['the statement', `update totals_state set statement = replace(statement, '"log_id":1', '"log_id":2')`],
    ])('are never signed over, and built again from the log: %s', async (_, alter) => {
      await altered(alter);
      const more = Array.from({ length: 24 }, (): [number, bigint] => [6, 1n]);
      await collect(more);
      await expect(totals.integrate()).rejects.toMatchObject({ name: 'TotalsAltered' });
      expect(await totalsStatement(totals.database)).toEqual({ kind: 'unstated' });
      expect(await totals.integrate()).toBe(0);
      await totals.integrateAll();
      await statement();
      const { rows = [], total } = model.get(6) ?? {};
      const rails = [{ rail: 'usdc', rows: rows.length, total: String(total) }];
      for (const task_id of rows.slice(-3))
        expect(requireValid(await totals.total(6, task_id))).toMatchObject({ rails });
    });
  });

  it('pass over a text that is not what its leaf is of, be it JSON or not', async () => {
    for (const text of [
      '{',
      '{"payment":{"settled_amount":"9","rail":"usdc"},"settlement_basis":"observed_transfer"}',
    ]) {
      const { task_id, ...call } = paidCallOf(++number, 1, 9n);
      await totals.database.issueCalls(issuer, [{ ...call, task_id }]);
      await totals.database.query({
        text: 'update receipt set payload = $1 where task_id = $2',
        values: [text, task_id],
      });
      expect(await totals.integrateAll()).toBe(1);
      await expect(totals.payment(task_id)).rejects.toThrow('uncounted');
    }
  });

  it('say nothing while the log is halted', async () => {
    await totals.database.query({ text: `update log_head set halted = '{}'` });
    expect(await totalsStatement(totals.database)).toEqual({ kind: 'halted' });
    await totals.database.query({ text: 'update log_head set halted = null' });
    await statement();
  });

  it('sign nothing over a payment that two receipts name, and say which leaves they are', async () => {
    const before = await statement();
    const { payment, ...call } = paidCallOf(++number, 2, 9n);
    const leaf = Number(before.tree_size);
    await totals.database.issueCalls(issuer, [{ ...call, payment }]);
    await totals.database.issueCalls(issuer, [{ ...call, task_id: 'task_again', agent_id: 1, payment }]);
    await expect(totals.integrate()).rejects.toMatchObject({
      name: 'PaymentUsedTwice',
      message: `one payment backs two receipts: leaves ${leaf} and ${leaf + 1} of the log`,
    });
    expect(await totalsFigures(totals.database)).toEqual({ leaves: leaf, conflicts: 1 });
    expect(await statement()).toEqual(before);
    await expect(totals.integrate()).rejects.toThrow('one payment backs two receipts');
  });
});
