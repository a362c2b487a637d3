import { type AtomicAmount, parseAtomic } from '../../../schema/amount.ts';
import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { type SignedTransfer, settlementBasis, signedTransfer } from '../../../schema/receipt-payload.ts';
import type { Database } from '../../database.ts';
import { readsOf, type Tx } from '../../transaction.ts';
import { isTransferName, paymentKey, type TransferName } from '../verify/map-proof.ts';
import { leafHash } from '../verify/merkle-proof.ts';

/** A receipt whose transfer was seen. The totals consist of these. */
export interface CollectedLeaf {
  readonly task_id: string;
  readonly leaf_index: number;
  /** Hash of the receipt's payload, hex. */
  readonly payload_hash: string;
  /** The book that the receipt signs; null if it signs none. */
  readonly agent_id: number | null;
  readonly rail: string;
  readonly amount: AtomicAmount;
  /** Key of the payment in the map. Null if it is unknown which transfer of its transaction it was. */
  readonly payment_key: string | null;
}

interface StoredLeaf {
  readonly task_id: string;
  readonly leaf_index: number;
  readonly leaf_hash: string;
  readonly payload: string;
  readonly payment_ref?: string | null;
  readonly transfer_index?: number | null;
}

/** Receipts with leaf indexes from `from` to `to` (exclusive) whose transfer was seen before they were signed, in the order of the log. */
export async function collectedLeaves(tx: Tx, from: number, to: number): Promise<CollectedLeaf[]> {
  const leaves = await readsOf(tx).query<StoredLeaf & Columns>({
    name: 'leaves to count',
    text: `select r.task_id, r.leaf_index, encode(n.hash, 'hex') as leaf_hash, r.payload
      from receipt r join log_node n on n.level = 0 and n.index = r.leaf_index
      where r.leaf_index >= $1 and r.leaf_index < $2 and r.payment_ref is not null order by r.leaf_index`,
    values: [from, to],
  });
  return leaves.filter(isItsLeaf).flatMap(leaf => {
    const payload = JSON.parse(leaf.payload) as JsonObject;
    return settlementBasis(payload) === 'observed_transfer' ? collectedOf(leaf, payload) : [];
  });
}

/** Receipts among the first `tree_size` leaves whose transfer was seen after they were signed. It marks them as counted. */
export async function collectedSince(tx: Tx, tree_size: number, count_max: number): Promise<CollectedLeaf[]> {
  const seen = await readsOf(tx).query<StoredLeaf & Columns>({
    name: 'seen transfers to count',
    text: `with waiting as (
        select s.task_id from totals_seen s join receipt r using (task_id)
        where not s.counted and r.leaf_index < $1 order by s.task_id limit $2),
      taken as (
        update totals_seen s set counted = true from waiting w where s.task_id = w.task_id
        returning s.task_id, s.payment_ref, s.transfer_index)
      select t.*, r.leaf_index, encode(n.hash, 'hex') as leaf_hash, r.payload
      from taken t join receipt r using (task_id) join log_node n on n.level = 0 and n.index = r.leaf_index
      order by r.leaf_index`,
    values: [tree_size, count_max],
  });
  return seen.filter(isItsLeaf).flatMap(leaf => {
    const payload = JSON.parse(leaf.payload) as JsonObject;
    return settlementBasis(payload) === 'receipt' ? collectedOf(leaf, payload) : [];
  });
}

/** Whether a receipt matches its leaf. If it does not, or is missing, it is not counted, and the log's audit reports it. */
const isItsLeaf = ({ payload, leaf_hash }: StoredLeaf) => leafHash(payload).toString('hex') === leaf_hash;

/**
 * A receipt as a counted leaf; empty if it does not count. A payment that a receipt of the book chain signs is in no book's sum: a stamp
 * has no row there, and foreign spend was not collected here. Such a payment still backs its receipt and no other. If its payer is not
 * known to be the book's agent, the receipt does not count, because another receipt may replace it.
 */
function collectedOf(leaf: StoredLeaf, payload: JsonObject): CollectedLeaf[] {
  const signed = signedTransfer(payload);
  const amount = parseAtomic(String(signed?.amount));
  if (signed === null || amount === null || payload.payer_proven === false) return [];
  const transfer = transferOf(signed, leaf);
  const { task_id, leaf_index } = leaf;
  const payload_hash = sha256Hex(leaf.payload);
  const own = isJsonObject(payload.payment) && typeof payload.claim_id === 'number';
  const payment_key = transfer && isTransferName(transfer) ? paymentKey(transfer) : null;
  const agent_id = own ? Number(payload.claim_id) : null;
  return [{ task_id, leaf_index, payload_hash, agent_id, rail: String(signed.rail), amount, payment_key }];
}

/** The transfer as it was seen later, or else as it was signed. Null if it is unknown which transfer of its transaction it was. */
function transferOf(
  payment: SignedTransfer,
  seen: Pick<StoredLeaf, 'payment_ref' | 'transfer_index'>,
): TransferName | null {
  const ref = seen.payment_ref ?? payment.ref;
  const transfer_index = seen.payment_ref ? seen.transfer_index : payment.transfer_index;
  if (typeof transfer_index !== 'number') return null;
  return { network: String(payment.network), payment_ref: String(ref), transfer_index };
}

/** A counted receipt, with everything that a proof of it shows. */
export interface CountedReceipt {
  readonly leaf: Pick<StoredLeaf, 'task_id' | 'leaf_index' | 'leaf_hash' | 'payload'>;
  readonly agent_id: number | null;
  readonly rail: string;
  readonly row_index: number | null;
  readonly amount: AtomicAmount;
  readonly transfer: TransferName | null;
}

/** The counted receipt of a task; null if the task has no receipt, or none that counts. */
export async function countedReceipt(reads: Pick<Database, 'query'>, task_id: string): Promise<CountedReceipt | null> {
  // Postgres cannot store a text with this character, and querying for it within the transaction would fail.
  if (task_id.includes('\0')) return null;
  const [found] = await reads.query<StoredLeaf & Pick<CountedReceipt, 'agent_id' | 'rail' | 'row_index'> & Columns>({
    name: 'counted receipt',
    text: `select t.task_id, t.leaf_index, t.agent_id, t.rail, t.row_index, encode(n.hash, 'hex') as leaf_hash, r.payload,
        s.payment_ref, s.transfer_index
      from totals_row t join receipt r using (task_id) join log_node n on n.level = 0 and n.index = t.leaf_index
        left join totals_seen s on s.task_id = t.task_id and s.counted
      where t.task_id = $1`,
    values: [task_id],
  });
  if (!found) return null;
  const { agent_id, rail, row_index, payment_ref, transfer_index, ...leaf } = found;
  const paid = signedTransfer(JSON.parse(leaf.payload) as JsonObject);
  const amount = parseAtomic(String(paid?.amount));
  if (paid === null || amount === null) return null;
  const transfer = transferOf(paid, payment_ref ? { payment_ref, transfer_index: transfer_index ?? null } : {});
  return { leaf, agent_id, rail, row_index, amount, transfer };
}

type Columns = Readonly<Record<string, unknown>>;
