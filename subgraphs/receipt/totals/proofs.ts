import type { JsonObject } from '../../../schema/canonical-json.ts';
import { documents } from '../../../schema/documents.ts';
import type { AgentId } from '../../../schema/ids.ts';
import type { Database } from '../../database.ts';
import { readsOf } from '../../transaction.ts';
import { inclusionOf } from '../log/stored-proofs.ts';
import { paymentKey, totalKey } from '../verify/map-proof.ts';
import { type CountedReceipt, countedReceipt } from './collected-leaves.ts';
import { openMap } from './stored-map.ts';
import { noTotal, railTotals, sumNodes, sumNodesAt, sumPath } from './stored-sums.ts';

/**
 * The result of a query. `unstated`: no statement is signed yet. `halted`: the log is not the one that was signed. `uncounted`: the newest
 * statement does not count the receipt.
 */
export type TotalsProof =
  | { readonly kind: 'proven'; readonly document: JsonObject }
  | { readonly kind: 'unstated' | 'halted' | 'uncounted' };

type Queryable = Pick<Database, 'query'>;
type Reading = Pick<Database, 'query' | 'transaction'>;

/** The newest statement, as it was signed. */
export async function totalsStatement(database: Queryable): Promise<TotalsProof> {
  const [state] = await database.query<{ halted: boolean; statement: string | null }>({
    name: 'totals statement',
    text: 'select h.halted is not null as halted, s.statement from totals_state s cross join log_head h',
  });
  if (!state || state.halted) return { kind: 'halted' };
  if (state.statement === null) return { kind: 'unstated' };
  return { kind: 'proven', document: JSON.parse(state.statement) as JsonObject };
}

/** Rails whose total is stated, even if nothing was collected on them. */
const RAILS = ['usdc'];

/** A svc402.book_total.v1: the total of a book under the newest statement and, for a given task, the proof that its row is in it. */
export function bookTotal(database: Reading, agent_id: AgentId, task_id: string | null): Promise<TotalsProof> {
  return underStatement(database, async (reads, statement) => {
    const row = task_id === null ? undefined : await rowProof(reads, { agent_id, task_id, statement });
    if (row === null) return null;
    const rails = await railProofs(reads, agent_id);
    return { schema: documents.book_total, agent_id, rails, ...(row && { row }) };
  });
}

/** A svc402.payment_proof.v1: the proof that the payment of a receipt backs this receipt, and therefore no other. */
export function paymentProof(database: Reading, task_id: string): Promise<TotalsProof> {
  return underStatement(database, async (reads, statement) => {
    const counted = await countedReceipt(reads, task_id);
    if (!counted?.transfer) return null;
    const map = await openMap(reads, 'payments', [paymentKey(counted.transfer)]);
    const leaf = await leafProof(reads, counted, statement);
    const proof = map.prove(paymentKey(counted.transfer));
    return { schema: documents.payment_proof, task_id, payment: { ...counted.transfer }, ...leaf, ...shown(proof) };
  });
}

/**
 * Makes a proof under the newest statement. It reads one snapshot of the database, so that the trees belong to the statement.
 * @param prove returns null if the receipt is not counted
 */
function underStatement(
  database: Reading,
  prove: (reads: Queryable, statement: JsonObject) => Promise<JsonObject | null>,
): Promise<TotalsProof> {
  return database.transaction(async tx => {
    await tx.query('set transaction isolation level repeatable read read only');
    const reads = readsOf(tx);
    const stated = await totalsStatement(reads);
    if (stated.kind !== 'proven') return stated;
    const proof = await prove(reads, stated.document);
    if (proof === null) return { kind: 'uncounted' };
    const { verify_jwks } = stated.document;
    return { kind: 'proven', document: { ...proof, ...(verify_jwks && { verify_jwks }), statement: stated.document } };
  });
}

async function railProofs(reads: Queryable, agent_id: AgentId): Promise<JsonObject[]> {
  const known = await railTotals(reads, [agent_id]);
  const nothing = RAILS.filter(rail => !known.some(total => total.rail === rail)).map(noTotal);
  const totals = [...known, ...nothing].map(({ rail, rows, total, root }) => ({ rail, rows, total, root }));
  const map = await openMap(
    reads,
    'books',
    totals.map(({ rail }) => totalKey(agent_id, rail)),
  );
  return totals.map(total => ({ ...total, ...shown(map.prove(totalKey(agent_id, total.rail))) }));
}

interface RowQuery {
  readonly agent_id: AgentId;
  readonly task_id: string;
  readonly statement: JsonObject;
}

async function rowProof(reads: Queryable, { agent_id, task_id, statement }: RowQuery): Promise<JsonObject | null> {
  const counted = await countedReceipt(reads, task_id);
  if (counted?.agent_id !== agent_id || counted.row_index === null) return null;
  const { rail, row_index: row, amount } = counted;
  const rows = (await railTotals(reads, [agent_id])).find(total => total.rail === rail)?.rows ?? 0;
  const read = await sumNodesAt(
    reads,
    sumNodes(row, rows).map(at => ({ agent_id, rail, at })),
  );
  const path = sumPath(row, rows, at => read({ agent_id, rail }, at));
  return {
    task_id,
    rail,
    row,
    amount: amount.toString(),
    ...(await leafProof(reads, counted, statement)),
    path: path.map(({ sum, hash }) => ({ sum: sum.toString(), hash: hash.toString('hex') })),
  };
}

/** The text of a receipt, and the proof that it is in the log that the statement covers. */
async function leafProof(reads: Queryable, { leaf }: CountedReceipt, statement: JsonObject) {
  const { task_id, leaf_index, leaf_hash, payload } = leaf;
  const receipt = { taskId: task_id, leafIndex: leaf_index, payload };
  const { path } = await inclusionOf(reads, receipt, Number(statement.tree_size), null);
  return { preimage: payload, leaf_index, leaf_hash, inclusion: path.map(hash => hash.toString('hex')) };
}

/** A proof of a map as a JSON object. */
function shown({ siblings, instead }: ReturnType<Awaited<ReturnType<typeof openMap>>['prove']>): JsonObject {
  return { siblings: [...siblings], ...(instead && { instead: { ...instead } }) };
}
