import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import { agentId } from '../../../schema/ids.ts';
import type { ReceiptFacts } from '../../../subgraphs/receipt/receipt/receipt-facts.ts';
import { integrate, type TotalsParts } from '../../../subgraphs/receipt/totals/integrate.ts';
import { bookTotal, paymentProof, type TotalsProof } from '../../../subgraphs/receipt/totals/proofs.ts';
import { issuer } from '../ledger/fixture.ts';
import { paidCall } from '../vectors/receipt-facts.ts';
import { type ReceiptDatabase, receiptDatabase } from './database.ts';

/** A paid call with its own transfer. */
export function paidCallOf(
  number: number,
  agent_id: number | null,
  amount: bigint,
  by: Partial<ReceiptFacts> = {},
): ReceiptFacts {
  const { payment } = paidCall;
  if (payment === null) throw new Error('it is paid');
  const transfer = { ref: `base:0x${(number >> 1).toString(16).padStart(64, '0')}`, transfer_index: number & 1 };
  const amounts = { gross_amount: String(amount), settled_amount: String(amount) };
  return { ...paidCall, task_id: `task_${number}`, agent_id, payment: { ...payment, ...transfer, ...amounts }, ...by };
}

/** A paid call whose payment was recorded at settlement and whose transfer was not seen yet. */
export function vouchedCall(number: number, agent_id: number | null, amount: bigint): ReceiptFacts {
  const { payment, ...call } = paidCallOf(number, agent_id, amount, { settled_by: 'receipt' });
  return { ...call, payment: payment && { ...payment, transfer_index: null } };
}

/** A log in a new database, with its totals. */
export async function openTotals() {
  const database: ReceiptDatabase = await receiptDatabase();
  const parts: TotalsParts = { database, issuer, profile: 'production', now_ms: () => issuer.now_ms() };
  return {
    database,
    parts,
    integrate: () => integrate(parts),
    /** Integrates until nothing is left. Returns the number of leaves and transfers. */
    async integrateAll(): Promise<number> {
      let all = 0;
      for (let taken = await integrate(parts); taken > 0; taken = await integrate(parts)) all += taken;
      return all;
    },
    total: async (agent_id: number, task_id: string | null = null) =>
      documentOf(await bookTotal(database, agentId(agent_id), task_id)),
    payment: async (task_id: string) => documentOf(await paymentProof(database, task_id)),
  };
}

function documentOf(proven: TotalsProof): JsonObject {
  if (proven.kind !== 'proven') throw new Error(`it is ${proven.kind}`);
  return proven.document;
}

/** Replaces the statement of a document by another one that the issuer signed too. */
export function replaceStatement(
  document: JsonObject,
  members: JsonObject,
  sign: (claims: JsonObject) => JsonObject,
): JsonObject {
  const { statement } = document;
  if (!isJsonObject(statement)) throw new Error('there is no statement');
  const { signature: _, ...claims } = statement;
  return { ...document, statement: sign({ ...claims, ...members }) };
}
