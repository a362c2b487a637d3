import type { JsonObject } from '../../../../schema/canonical-json.ts';
import type { Context } from '../../../context.ts';
import type { Charged } from '../../../paid.ts';
import { receiptDocument } from '../../receipt/document.ts';
import { receiptsByTask } from '../../receipt/find.ts';
import { receiptHeaders } from '../../receipt/headers.ts';
import type { Receipt } from '../../receipt/receipt.entity.ts';

/** Receipt of a charged task, as a node of the graph and as the `svc` document; the `x-svc-*` headers go out beside it. */
export async function receiptOf(
  { task_id, settlement_status }: Charged<JsonObject>,
  context: Context,
): Promise<{ readonly receipt: Receipt; readonly svc: JsonObject }> {
  const [receipt] = await receiptsByTask(context.database, [task_id]);
  if (!receipt) throw new Error(`${task_id} was charged and has no receipt`);
  const document = receiptDocument(receipt, context.base_url, context.profile);
  Object.assign(context.response.headers, receiptHeaders(document), { 'x-svc-settlement-status': settlement_status });
  return { receipt, svc: { ...document, settlement_status } };
}
