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
 * Records expiries of escrows, which end at their time even if nobody reads them: the phase `expired`, as an event or rows. A
 * process that comes second finds nothing to write.
 */

type Parts = Pick<BookContext, 'database' | 'clock' | 'random'>;

/** Escrows that failed in this round, by id. Each is left for the next round and delays no other. */
type FailedEscrows = Map<string, unknown>;

/**
 * Records expired escrows, oldest first, and returns their number. Bounded; the next round continues. @throws AggregateError after
 * the others are written, if some failed
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
    // If nothing of a batch was left, another process has taken the rest too.
    if (some === 0) break;
  }
  return expired;
}

/** A closed book accepts nothing: its escrows wait until it is reopened and delay no others. */
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
      // If the counterparty has acted in between on a book whose head is not locked, it does not expire now.
      const held = boundBooks(escrow, null).every(id => books.has(id));
      if (!held || !a2aEscrowMachine.expires.includes(escrow.state)) return false;
      await recordA2aSteps(tx, parts, escrow, { steps: [a2aExpired], at_ms: timeOf(books) });
      return true;
    }),
  );
}

/** Each in its own transaction, so that no head is locked because of another book. */
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

/** The audit closed the book between the two reads. */
function isClosed(error: unknown): boolean {
  return error instanceof Refusal && error.code === 'book_damaged';
}
