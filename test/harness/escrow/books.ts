import { agentId } from '../../../schema/ids.ts';
import type { A2aName, A2aOpen, LedgerOpen } from '../../../schema/requests/escrow.ts';
import { auditStart } from '../../../subgraphs/book/audit/audit.ts';
import { auditStep } from '../../../subgraphs/book/audit/audit-database.ts';
import type { A2aMove } from '../../../subgraphs/book/escrow/a2a-escrow.machine.ts';
import { openA2aEscrow } from '../../../subgraphs/book/escrow/a2a-open.ts';
import { a2aEscrow, moveA2aEscrow } from '../../../subgraphs/book/escrow/a2a-step.ts';
import { expireEscrows } from '../../../subgraphs/book/escrow/expire.ts';
import type { LedgerMove } from '../../../subgraphs/book/escrow/ledger-escrow.machine.ts';
import { ledgerEscrow, moveLedgerEscrow, openLedgerEscrow } from '../../../subgraphs/book/escrow/ledger-escrow.ts';
import { systemClock, systemRandom } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { collectAll, collection, withBooks } from '../ledger/fixture.ts';

/** The output commitment of the receipts on these books. */
export const COMMITTED = `sha256:${'b'.repeat(64)}`;
export const SPEC_HASH = '5'.repeat(64);
export const CLAIM = { claim_type: 'output_missing', evidence: { seen: 'nothing' } } as const;

export interface EscrowRow {
  readonly agent_id: number;
  readonly seq: number;
  readonly task_id: string;
  readonly parent_ref: string | null;
  readonly amount: bigint | null;
  readonly facts: Readonly<Record<string, string | number | undefined>>;
}

const BATCH = 25;

/** Books 1 to `books` of a database, each with `calls` collected calls of 2,000 atomic units. Their task ids are `task_<book>_<number>`. */
export async function openEscrowBooks(database: Database, books: number, calls: number) {
  const acting = { database, clock: systemClock, random: systemRandom };
  const agents = Array.from({ length: books }, (_, index) => index + 1);
  await withBooks(database, ...agents);
  for (const agent of agents) {
    // All receipts are signed before a transaction begins, and a transaction records only a few, because the server ends a session that is
    // idle within a transaction.
    const bought = Array.from({ length: calls }, (_, index) => collection(agent, agent * 10_000 + index));
    for (let from = 0; from < calls; from += BATCH)
      await database.transaction(tx => collectAll(tx, bought.slice(from, from + BATCH)));
  }
  let delivered = calls;
  return {
    acting,
    taskOf: (agent: number, number: number) => `task_${agent}_${agent * 10_000 + number}`,
    open: (agent: number, counterparty: number, terms: Partial<A2aOpen> = {}) =>
      openA2aEscrow(acting, agentId(agent), {
        job_spec_hash: SPEC_HASH,
        amount: '2000',
        parties: { counterparty_agent_id: counterparty },
        ...terms,
      }),
    /** A receipt of a call that this agent pays for now, with its output commitment. */
    async delivery(agent = 2, output_commitment = COMMITTED) {
      const number = delivered++;
      const bought = collection(agent, agent * 10_000 + number);
      await database.transaction(tx => collectAll(tx, [bought]));
      return { fulfillment_receipt_id: `task_${agent}_${agent * 10_000 + number}`, output_commitment };
    },
    move: (agent: number, name: A2aName, action: A2aMove, said = {}) =>
      moveA2aEscrow(acting, agentId(agent), name, { action, said }),
    read: (agent: number, name: A2aName) => a2aEscrow(acting, agentId(agent), name),
    openLedger: (agent: number, request: LedgerOpen) => openLedgerEscrow(acting, agentId(agent), request),
    moveLedger: (agent: number, escrow_id: string, action: LedgerMove, said = {}) =>
      moveLedgerEscrow(acting, agentId(agent), { escrow_id }, { action, said }),
    readLedger: (agent: number, escrow_id: string) => ledgerEscrow(acting, agentId(agent), { escrow_id }),
    expire: () => expireEscrows(acting),
    /** Moves the end of an escrow into the past, by the database's clock. */
    async pass(table: 'a2a_escrow' | 'ledger_escrow', escrow_id: string): Promise<void> {
      const text = `update ${table} set expires_at = clock_timestamp() - interval '1 second' where escrow_id = $1`;
      await database.query({ text, values: [escrow_id] });
    },
    /** All rows of escrows between agents, ordered by book. */
    rows: () =>
      database.query<EscrowRow & Record<string, unknown>>({
        text: `select agent_id, seq, task_id, parent_ref, amount, facts->'a2a_escrow' as facts from book_row
          where evidence = 'a2a_escrow' order by agent_id, seq`,
      }),
    /** Audits all books as the service does, from the first event to the last. */
    async audit(): Promise<void> {
      for (const agent of agents)
        for (let walked = auditStart; ; ) {
          const step = await auditStep(database, agentId(agent), walked);
          if (step.kind !== 'sound') throw new Error(`the audit of book ${agent} found ${JSON.stringify(step)}`);
          if (step.ended) break;
          walked = step.walked;
        }
    },
  };
}

export type EscrowBooks = Awaited<ReturnType<typeof openEscrowBooks>>;

/** An escrow of agent 1 with agent 2 in that state. */
export async function bringTo(
  books: EscrowBooks,
  job_id: string,
  state: 'open' | 'funded' | 'submitted' | 'challenged',
  call: number,
) {
  const name = { job_id };
  let view = await books.open(1, 2, { job_id });
  if (state !== 'open') view = await books.move(1, name, 'fund', { task_id: books.taskOf(1, call) });
  if (state === 'submitted' || state === 'challenged') await books.move(2, name, 'submit', await books.delivery());
  if (state === 'challenged') await books.move(1, name, 'challenge', CLAIM);
  return view;
}
