import { atomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import { agentId } from '../../../schema/ids.ts';
import { parsePolicy } from '../../../schema/requests/policy.ts';
import { auditStart } from '../../../subgraphs/book/audit/audit.ts';
import { auditStep } from '../../../subgraphs/book/audit/audit-database.ts';
import { arrive } from '../../../subgraphs/book/ledger/arrive.ts';
import type { Collection } from '../../../subgraphs/book/ledger/collect.ts';
import { setBudget, setPolicy } from '../../../subgraphs/book/policy/set.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { collectAll, collection, vouchedCollection, withBooks } from './fixture.ts';

const DAY_MS = 24 * 3_600_000;

export interface StoredBookEvent {
  readonly position: number;
  readonly kind: string;
  readonly seq: number | null;
  readonly task_id: string | null;
  readonly body: JsonObject;
  readonly at: Date;
}

/** Books of one database at noon of tomorrow (UTC). Only `pass` moves the time of their log forward. */
export async function openAlertBooks(database: Database) {
  let agent = 0;
  let number = 0;
  let now_ms = Math.floor(Date.now() / DAY_MS) * DAY_MS + 1.5 * DAY_MS;
  const events = (book: number) =>
    database.query<StoredBookEvent & Record<string, unknown>>({
      text: 'select position, kind, seq, task_id, body, at from book_event where agent_id = $1 order by position',
      values: [book],
    });
  const collect = (...items: Collection[]) => database.transaction(tx => collectAll(tx, items));
  /** Moves the log's time forward. That time never goes back, so a later collection gets the new time. */
  async function pass(ms: number): Promise<void> {
    now_ms += ms;
    await database.query({ text: 'update log_head set last_at_ms = $1', values: [now_ms] });
  }
  await pass(0);
  return {
    events,
    collect,
    pass,
    today_ms: () => Math.floor(now_ms / DAY_MS) * DAY_MS,
    alerts: async (book: number) => (await events(book)).filter(({ kind }) => kind === 'alert'),
    async openBook(): Promise<number> {
      await withBooks(database, ++agent);
      return agent;
    },
    rowOf: (book: number, amount: bigint) => collection(book, ++number, amount),
    /** Records a call before its transfer was seen. Returns its task. */
    async vouch(book: number, amount: bigint): Promise<string> {
      await collect(vouchedCollection(book, ++number, amount));
      return `task_${book}_${number}`;
    },
    async unverify(task_id: string): Promise<void> {
      const unseen = { to: 'ARRIVAL_UNVERIFIED', omission_rule: 'no_ingress_receipt_at_cutoff' } as const;
      await database.transaction(tx => arrive(tx, [{ task_id, ...unseen }]));
    },
    setCap: (book: number, cap: 'hourly_cap' | 'daily_cap', value: string | null) =>
      setPolicy(database, agentId(book), parsePolicy(cap, value)),
    setBudget: (book: number, value: bigint | null) =>
      setBudget(database, agentId(book), value === null ? null : atomicAmount(value)),
    /** Audits the book as the service does, from the first event to the last. */
    async audit(book: number): Promise<void> {
      for (let walked = auditStart; ; ) {
        const step = await auditStep(database, agentId(book), walked);
        if (step.kind !== 'sound') throw new Error(`the audit found ${JSON.stringify(step)}`);
        if (step.ended) return;
        walked = step.walked;
      }
    },
  };
}
