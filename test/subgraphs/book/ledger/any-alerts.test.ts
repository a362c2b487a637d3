import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../schema/canonical-json.ts';
import { agentId } from '../../../../schema/ids.ts';
import { setAlerts } from '../../../../subgraphs/book/ledger/alert-settings.ts';
import type { Database } from '../../../../subgraphs/database.ts';
import { openAlertBooks, type StoredBookEvent } from '../../../harness/ledger/alert-books.ts';
import { freshStore } from '../../../harness/store.ts';

const HOUR_MS = 3_600_000;

let database: Database;
let books: Awaited<ReturnType<typeof openAlertBooks>>;
beforeAll(async () => {
  database = await freshStore();
  books = await openAlertBooks(database);
});

describe('any amounts, ceilings and hours', () => {
  const amount = fc.bigInt({ min: 1n, max: 400n });
  const ceiling = fc.option(fc.bigInt({ min: 1n, max: 1_500n }), { nil: null });
  const of = <K extends string, R extends object>(
    kind: K,
    weight: number,
    rest: { [M in keyof R]: fc.Arbitrary<R[M]> },
  ) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(kind), ...rest }) as unknown as fc.Arbitrary<{ readonly kind: K } & R>,
  });
  const percents = fc.uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 4 });
  const step = fc.oneof(
    of('batch', 5, { amounts: fc.array(amount, { minLength: 1, maxLength: 4 }) }),
    of('at_once', 3, { amounts: fc.array(amount, { minLength: 2, maxLength: 4 }) }),
    of('vouch', 2, { amount }),
    of('unseen', 2, {}),
    of('pass', 3, { hours: fc.integer({ min: 1, max: 30 }) }),
    of('hourly_cap', 1, { value: ceiling }),
    of('daily_cap', 1, { value: ceiling }),
    of('budget', 1, { value: ceiling }),
    of('thresholds', 1, { percents }),
  );
  type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

  it('are told each once in its period, by the very row that reached it, as a plain walk over the events says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 30 }), async steps => {
        const book = await books.openBook();
        await books.setCap(book, 'hourly_cap', '300');
        await books.setCap(book, 'daily_cap', '900');
        await books.setBudget(book, 2_000n);
        const pending: string[] = [];
        for (const taken of steps) await run(book, taken, pending);
        const all = await books.events(book);
        expect(all.filter(({ kind }) => kind === 'alert').map(nameOf)).toEqual(expected(all));
        const once = all.filter(({ kind }) => kind === 'alert').map(({ body }) => nameOfBody(body));
        const of_caps = once.filter(name => !name.startsWith('budget'));
        expect(new Set(of_caps).size).toBe(of_caps.length);
        await books.audit(book);
      }),
      { numRuns: 12 },
    );
  });

  async function run(book: number, taken: Step, pending: string[]): Promise<void> {
    switch (taken.kind) {
      case 'vouch':
        pending.push(await books.vouch(book, taken.amount));
        break;
      case 'unseen': {
        const task_id = pending.pop();
        if (task_id) await books.unverify(task_id);
        break;
      }
      case 'batch':
        await books.collect(...taken.amounts.map(one => books.rowOf(book, one)));
        break;
      case 'at_once':
        await Promise.all(taken.amounts.map(one => books.collect(books.rowOf(book, one))));
        break;
      case 'pass':
        await books.pass(taken.hours * HOUR_MS);
        break;
      case 'budget':
        await books.setBudget(book, taken.value);
        break;
      case 'thresholds':
        await setAlerts(database, agentId(book), null, {
          thresholds_percent: taken.percents.toSorted((a, b) => a - b),
        });
        break;
      default:
        await books.setCap(book, taken.kind, taken.value?.toString() ?? null);
    }
  }

  const nameOfBody = ({ ceiling, percent, period_start }: JsonObject) => `${ceiling} ${percent} ${period_start}`;
  const nameOf = ({ seq, body }: StoredBookEvent) => `${seq} ${nameOfBody(body)}`;
  const LENGTHS = { hourly_cap: HOUR_MS, daily_cap: 24 * HOUR_MS, budget: Number.POSITIVE_INFINITY } as const;
  type Ceiling = keyof typeof LENGTHS;

  /** The alerts that the rows, changes and transitions of a book require, computed from its events only. */
  function expected(all: readonly StoredBookEvent[]): string[] {
    const caps = new Map<Ceiling, bigint | null>();
    let percents: readonly number[] = [50, 80, 100];
    const rows: { seq: number | null; at: number; amount: bigint }[] = [];
    const told = new Set<string>();
    const names: string[] = [];
    for (const { kind, seq, body, at } of all) {
      if (kind === 'policy_changed') caps.set(body.policy_type as Ceiling, bigintOf(body.after));
      if (kind === 'budget_changed') {
        caps.set('budget', bigintOf(body.after));
        for (const name of told) if (name.startsWith('budget')) told.delete(name);
      }
      if (kind === 'alerts_changed') percents = (body.after as JsonObject).thresholds_percent as number[];
      if (kind === 'transition')
        rows.splice(
          rows.findIndex(row => row.seq === seq),
          1,
        );
      if (kind !== 'born') continue;
      rows.push({ seq, at: at.getTime(), amount: BigInt(String(body.amount)) });
      for (const [ceiling, length] of Object.entries(LENGTHS)) {
        const cap = caps.get(ceiling as Ceiling) ?? null;
        if (cap === null) continue;
        const start = Number.isFinite(length) ? Math.floor(at.getTime() / length) * length : null;
        const within = rows.filter(row => start === null || row.at >= start);
        const sum = within.reduce((total, row) => total + row.amount, 0n);
        for (const percent of percents) {
          const name = `${ceiling} ${percent} ${start === null ? null : new Date(start).toISOString()}`;
          if (sum * 100n < cap * BigInt(percent) || told.has(name)) continue;
          told.add(name);
          names.push(`${seq} ${name}`);
        }
      }
    }
    return names;
  }

  const bigintOf = (said: JsonObject[string] | undefined) => (typeof said === 'string' ? BigInt(said) : null);
});
