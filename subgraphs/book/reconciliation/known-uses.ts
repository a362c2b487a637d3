import { transferSlot } from '../../../schema/observed-transfer.ts';
import type { SentTransfer, TransferUse } from '../../../schema/reconciliation-rule.ts';
import type { Database } from '../../database.ts';
import { takenSlots } from '../../receipt/claim/slots.ts';
import { type BackedReceipt, receiptsOfTransfers } from '../../receipt/totals/payments.ts';

/** Record that names a transfer, and the facts about it that the requester may see. */
export interface KnownUse extends TransferUse {
  /** Whose book has the record. Null for a receipt without a book. */
  readonly book: 'own' | 'another' | null;
  /** Null if the record belongs to others. Then only its existence is reported. */
  readonly task_id: string | null;
}

export interface Asker {
  readonly agent_id: number;
  /** True if the wallet signed the request. Then all receipts of the wallet may be named. */
  readonly signed: boolean;
}

type Queryable = Pick<Database, 'query'>;

/**
 * Returns all records that name these transfers: rows of the requester's book, receipts by payment, and taken slots. For records of
 * others only the existence is reported.
 */
export async function knownUses(
  database: Queryable,
  asker: Asker,
  transfers: readonly SentTransfer[],
): Promise<KnownUse[]> {
  if (transfers.length === 0) return [];
  const slots = new Map(transfers.map(transfer => [slotOf(transfer), transfer]));
  const [rows, receipts, held] = await Promise.all([
    rowsOf(database, asker.agent_id, transfers),
    receiptsOfTransfers(database, transfers),
    takenSlots(database, [...slots.keys()]),
  ]);
  const ingests = await ingestedAmong(database, receipts);
  const placed = new Map(transfers.map(transfer => [placeOf(transfer.tx_hash, transfer.log_index), transfer]));
  const others = receipts.flatMap(receipt => {
    const transfer = placed.get(placeOf(receipt.tx_hash, receipt.transfer_index));
    if (!transfer) return [];
    const book = bookOf(receipt, asker);
    if (ingests.has(receipt.task_id)) return [ofTransfer(transfer, { kind: 'ingest', book, task_id: null })];
    const task_id = book !== 'another' || asker.signed ? receipt.task_id : null;
    return [ofTransfer(transfer, { kind: 'receipt', book, task_id })];
  });
  const taken = [...slots].flatMap(([slot, transfer]) =>
    held.has(slot) ? [ofTransfer(transfer, { kind: 'ingest', book: 'another', task_id: null })] : [],
  );
  // If several records name one transfer, the first is used, so those with the most detail come first.
  return [...rows, ...others, ...taken];
}

const bookOf = ({ agent_id }: BackedReceipt, asker: Asker) =>
  agent_id === null ? null : agent_id === asker.agent_id ? 'own' : 'another';
const placeOf = (tx_hash: string, index: number) => `${tx_hash}/${index}`;
const slotOf = ({ tx_hash, log_index }: SentTransfer) =>
  transferSlot({ network: 'base', transaction: tx_hash, index: log_index });

function ofTransfer(
  { tx_hash, log_index, to, amount }: SentTransfer,
  use: Pick<KnownUse, 'kind' | 'book' | 'task_id'>,
): KnownUse {
  return { ...use, tx_hash, transfer_index: log_index, pay_to: to, amount };
}

/**
 * Rows of the requester's book, read by the index of unique payments. A payment to others with an unproven payer is not included,
 * because its row may yield.
 */
async function rowsOf(database: Queryable, agent_id: number, transfers: readonly SentTransfer[]): Promise<KnownUse[]> {
  const rows = await database.query<{
    task_id: string;
    evidence: string;
    payment_ref: string;
    transfer_index: number | null;
    amount: bigint;
  }>({
    name: 'rows of transfers',
    text: `select task_id, evidence, payment_ref, transfer_index, amount from book_row
      where agent_id = $1 and payment_ref = any($2) and amount is not null and facts->'payer_proven' is distinct from 'false'
      order by payment_ref, seq`,
    values: [agent_id, [...new Set(transfers.map(({ tx_hash }) => `base:${tx_hash}`))]],
  });
  return rows.map(({ evidence, payment_ref, ...row }) => ({
    ...row,
    book: 'own',
    pay_to: null,
    tx_hash: payment_ref.slice(payment_ref.indexOf(':') + 1),
    kind: evidence === 'foreign_ingest' ? 'ingest' : 'receipt',
  }));
}

/** Task ids of those receipts that record payments to others, which are not purchases here. */
async function ingestedAmong(database: Queryable, receipts: readonly BackedReceipt[]): Promise<ReadonlySet<string>> {
  const found = await database.query<{ task_id: string }>({
    name: 'ingested receipts',
    text: `select r.task_id from unnest($1::int[], $2::int[]) as place(agent_id, seq)
      join book_row r using (agent_id, seq) where r.evidence = 'foreign_ingest'`,
    values: [receipts.map(({ agent_id }) => agent_id), receipts.map(({ book_seq }) => book_seq)],
  });
  return new Set(found.map(({ task_id }) => task_id));
}
