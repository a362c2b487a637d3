import { Refusal } from '../../../schema/errors.ts';
import { escrowLimits } from '../../../schema/limits.ts';
import { asEntity, selectList } from '../../columns.ts';
import type { BookContext } from '../context.ts';
import { lockBooks } from '../ledger/append.ts';
import { StoredA2aEscrow } from './a2a-escrow.entity.ts';
import { a2aEscrowMachine } from './a2a-escrow.machine.ts';
import { a2aEscrowAgain } from './a2a-find.ts';
import { a2aExpired, recordA2aSteps } from './a2a-phases.ts';
import { boundBooks, timeOf } from './a2a-step.ts';
import { StoredLedgerEscrow } from './ledger-escrow.entity.ts';
import { ledgerEscrowMachine } from './ledger-escrow.machine.ts';
import { expiredStep, recordSteps } from './ledger-escrow.ts';
import { ledgerEscrowAgain } from './ledger-find.ts';

/*
 * Records the expiry of escrows as the phase `expired` (an event, or rows), even if no client reads them. If two processes do this at
 * once, the second finds nothing to write.
 */

type Parts = Pick<BookContext, 'database' | 'clock' | 'random'>;

/** Errors of this round, by escrow id. A failed escrow is left for the next round and does not delay the others. */
type FailedEscrows = Map<string, unknown>;

/**
 * Records the expiry of escrows, oldest first, and returns their number. Their number is limited; the next round continues. @throws
 * AggregateError if some failed, after the others were recorded
 */
export async function expireEscrows(parts: Parts): Promise<number> {
  const failed: FailedEscrows = new Map();
  const ledger = await inBatches(() => expireLedger(parts, failed));
  const a2a = await inBatches(() => expireA2a(parts, failed));
  if (failed.size > 0) throw new AggregateError(failed.values(), `${failed.size} escrows could not be ended`);
  return ledger + a2a;
}

async function inBatches(batch: () => Promise<number>): Promise<number> {
  let expired = 0;
  while (expired < escrowLimits.expired_per_round_max) {
    const some = await batch();
    expired += some;
    // If a batch recorded nothing, nothing is left or another process records the rest.
    if (some === 0) break;
  }
  return expired;
}

/** SQL condition that the book is not closed. The escrows of a closed book wait until it is reopened, and do not delay the others. */
const sound = (column: string) =>
  `not exists (select 1 from book b where b.agent_id = e.${column} and b.damage is not null)`;
const max = escrowLimits.expired_per_batch_max;
/** statement_timestamp() is stable within a statement, unlike clock_timestamp(), so the index can be used. */
const OVER = 'expires_at <= statement_timestamp()';

const LEDGER = () => `select ${selectList(StoredLedgerEscrow)} from ledger_escrow e
  where state = 'open' and ${OVER} and ${sound('agent_id')} and escrow_id <> all($1)
  order by expires_at limit ${max}`;

async function expireLedger({ database }: Parts, failed: FailedEscrows): Promise<number> {
  const text = LEDGER();
  const over = await database.query({ name: 'ledger escrows that are over', text, values: [[...failed.keys()]] });
  const escrows = over.map(row => asEntity(StoredLedgerEscrow, row));
  return eachAlone(escrows, failed, read =>
    database.transaction(async tx => {
      await lockBooks(tx, [read.agentId]);
      const escrow = await ledgerEscrowAgain(tx, read);
      if (!ledgerEscrowMachine.expires.includes(escrow.state)) return false;
      await recordSteps(tx, escrow, [expiredStep]);
      return true;
    }),
  );
}

const A2A = () => `select ${selectList(StoredA2aEscrow)} from a2a_escrow e
  where state in ('open', 'funded') and ${OVER}
    and ${sound('principal_agent_id')}
    and escrow_id <> all($1) order by expires_at limit ${max}`;

async function expireA2a(parts: Parts, failed: FailedEscrows): Promise<number> {
  const { database } = parts;
  const text = A2A();
  const over = await database.query({ name: 'a2a escrows that are over', text, values: [[...failed.keys()]] });
  const escrows = over.map(row => asEntity(StoredA2aEscrow, row));
  return eachAlone(escrows, failed, read =>
    database.transaction(async tx => {
      const books = await lockBooks(tx, boundBooks(read, null));
      const escrow = await a2aEscrowAgain(tx, read);
      // If the counterparty has acted since the first read, its head is not locked, and the escrow does not expire in this round.
      const held = boundBooks(escrow, null).every(id => books.has(id));
      if (!held || !a2aEscrowMachine.expires.includes(escrow.state)) return false;
      await recordA2aSteps(tx, parts, escrow, { steps: [a2aExpired], at_ms: timeOf(books) });
      return true;
    }),
  );
}

/** Records each expiry in its own transaction, so that no head stays locked while another book is written. */
async function eachAlone<E extends { readonly escrowId: string }>(
  over: readonly E[],
  failed: FailedEscrows,
  expire: (escrow: E) => Promise<boolean>,
): Promise<number> {
  let expired = 0;
  for (const escrow of over)
    try {
      if (await expire(escrow)) expired++;
    } catch (error) {
      if (!isClosed(error)) failed.set(escrow.escrowId, error);
    }
  return expired;
}

/** Whether the book was closed by the audit after the escrow was read. */
function isClosed(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'book_damaged';
}
