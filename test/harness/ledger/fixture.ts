import { atomicAmount } from '../../../schema/amount.ts';
import type { InitialFacts } from '../../../schema/book-row.ts';
import { agentId } from '../../../schema/ids.ts';
import { type Collection, collect, openBook } from '../../../subgraphs/book/ledger/collect.ts';
import { type Reservation, type ReservationRequest } from '../../../subgraphs/book/ledger/reservation.ts';
import { systemRandom } from '../../../subgraphs/clock.ts';
import type { Database, Tx } from '../../../subgraphs/database.ts';
import { GroupCommit } from '../../../subgraphs/group-commit.ts';
import { openIssuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { lockLogHead } from '../../../subgraphs/receipt/log/head.ts';
import { KnownLog } from '../../../subgraphs/receipt/log/known-log.ts';
import { prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import { type Refuser } from '../../../subgraphs/receipt/refusal/sign-refusal.ts';
import { foreignPayment, paidCall } from '../vectors/receipt-facts.ts';

export const issuer = openIssuer(['11'.repeat(32)], {
  base_url: 'http://127.0.0.1:4000',
  now_ms: () => 1_760_000_000_000,
});

const payment = (number: number) => ({
  ref: `base:0x${number.toString(16).padStart(64, '0')}`,
  transfer_index: number,
});

export function collectedFactsOf(task_id: string, number: number): InitialFacts {
  return {
    task_id,
    evidence: 'collected',
    collected: true,
    payment_ref: payment(number).ref,
    transfer_index: number,
    rail: 'usdc',
    amount: atomicAmount(2000n),
    model: 'small-1',
    hub: 'north',
    intent_id: number % 2 === 0 ? 'even' : null,
    attempt_index: null,
    payer_wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    settled_by: 'observed_transfer',
    parent_ref: null,
    recorded_by: null,
    arrival_status: 'confirmed',
    fulfillment: null,
    facts: {},
  };
}

/** A collected call on a book, or on no book. */
export function collection(agent: number | null, number: number, amount = 2000n): Collection {
  const task_id = `task_${agent ?? 0}_${number}`;
  const paid = { ...paidCall.payment, gross_amount: String(amount), settled_amount: String(amount) };
  const facts = { ...paidCall, task_id, agent_id: agent, payment: { ...paid, ...payment(number) } };
  const prepared = prepareReceipt(issuer, facts as typeof paidCall);
  if (agent === null) return { prepared, landing: null };
  const born = { ...collectedFactsOf(task_id, number), amount: atomicAmount(amount) };
  return { prepared, landing: { agent_id: agentId(agent), birth: born, reserved: atomicAmount(0n) } };
}

/**
 * Disables the time-out of idle transactions, because on a busy machine the process may get no CPU time for longer than the service's limit
 * of a second.
 */
export const letIdle = (tx: Tx) => tx.query({ text: 'set local idle_in_transaction_session_timeout = 0' });

/** Collects as the recorder does: it locks the log's head first, then writes the whole batch. */
export const collectAll = async (tx: Tx, items: readonly Collection[]) =>
  collect(tx, issuer, await lockLogHead(tx, new KnownLog()), items);

export function collector(database: Database) {
  return new GroupCommit<Collection, number | null>(
    database,
    async (tx, items) => (await collectAll(tx, items)).collected.map(({ seq }) => seq),
    64,
  );
}

export async function withBooks(database: Database, ...agents: number[]): Promise<void> {
  await database.transaction(async tx => {
    for (const agent of agents) openBook(tx, agentId(agent));
  });
}

/** The issuer of a process that has not reached a chain yet. */
export const refuser: Refuser = {
  issuer,
  random: systemRandom,
  profile: 'production',
  anchor: () => ({ status: 'UNAVAILABLE' }),
};

/** A call that reserves its price on a book. */
type PricedCall = ReservationRequest & Reservation;

export function reservationFor(agent: number, number: number, differently: Partial<PricedCall> = {}): PricedCall {
  return {
    agent_id: agentId(agent),
    amount: atomicAmount(2000n),
    task_id: `task_${agent}_${number}`,
    payer_wallet: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    model: 'small-1',
    models: ['small-1'],
    field: 'Mutation.createChatCompletion',
    intent_id: null,
    attempt_index: null,
    parent_ref: null,
    owed: false,
    ...differently,
  };
}

/** A call that is recorded at settlement, before its transfer was seen. */
export function vouchedCollection(agent: number, number: number, amount = 2000n): Collection {
  const item = collection(agent, number, amount);
  if (item.landing === null) throw new Error('it lands on a book');
  const pending = {
    evidence: 'RECORDED_BY_SETTLE',
    collected: false,
    settled_by: 'receipt',
    recorded_by: 'settle',
    arrival_status: 'pending',
    transfer_index: null,
  } as const;
  return { ...item, landing: { ...item.landing, birth: { ...item.landing.birth, ...pending } } };
}

/** A payment to another seller as its chain shows it, by a payer that proved its wallet. */
export function ingestedCollection(agent: number, number: number): Collection {
  const task_id = `task_${agent}_${number}`;
  const { ref, transfer_index: index } = payment(number);
  const transaction = ref.slice('base:'.length);
  const observed_transfer = { ...foreignPayment.observed_transfer, transaction, index, amount: '2000' };
  const chained = { ...foreignPayment, observed_transfer };
  const prepared = prepareReceipt(issuer, { ...paidCall, task_id, agent_id: agentId(agent), payment: null, chained });
  const foreign = {
    ...collectedFactsOf(task_id, number),
    evidence: 'foreign_ingest',
    facts: { payer_proven: true },
  } as const;
  return { prepared, landing: { agent_id: agentId(agent), birth: foreign, reserved: atomicAmount(0n) } };
}
