import type { JsonObject } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import { verifyUrl } from '../../../schema/links.ts';
import type { ChargedAnswer, ChargedStream } from '../../charge-port.ts';
import type { Context } from '../../context.ts';
import type { ShowsReceipts } from '../context.ts';
import { receiptDocument } from '../receipt/document.ts';
import { receiptHeaders } from '../receipt/headers.ts';
import { Receipt } from '../receipt/receipt.entity.ts';
import { ROUTER } from './catalogue.ts';
import { isVendorBlind } from './vendor-blind.ts';

export interface Svc {
  readonly receipt: Receipt;
  readonly svc: JsonObject;
}

/** Receipt of a charged task, as a node of the graph and as the `svc` document. */
export function svcOf(
  { task_id, settlement_status, receipt, rerun = null }: ChargedAnswer<JsonObject>,
  context: ShowsReceipts,
): Svc {
  if (!(receipt instanceof Receipt)) throw new Error(`${task_id} was charged and has no receipt`);
  const document = receiptDocument(receipt, context.base_url, context.profile, context.newestSize());
  return { receipt, svc: { ...document, settlement_status, ...(rerun === null ? {} : { rerun }) } };
}

/**
 * Receipt of a charged task, as `svcOf` returns it. Also sets the `x-svc-*` headers of the response, which name the hub and model of this
 * answer even if the receipt is that of an earlier attempt.
 */
export function receiptOf(charged: ChargedAnswer<JsonObject>, context: ShowsReceipts): Svc {
  const { receipt, svc } = svcOf(charged, context);
  Object.assign(
    context.response.headers,
    receiptHeaders({ ...svc, ...receipt.answeredAgain }),
    settlementHeader(charged),
  );
  return { receipt, svc };
}

/** Hub and model that answer, which are known when a stream begins. */
interface AnsweringModel {
  readonly hub: string;
  readonly model: string;
}

/** Sets the `x-svc-*` headers that are known when a stream begins: they are sent before the receipt exists. */
export function announceStream(charged: ChargedStream<JsonObject & AnsweringModel>, context: Context): void {
  const { task_id, payment_ref, begun } = charged;
  const verify_url = verifyUrl(context.base_url, task_id);
  const { hub, model } = begun;
  const amount = payment_ref === null ? null : limits.call_price_atomic.toString();
  const vendor_blind = promisedNow(charged) && isVendorBlind(context, hub === ROUTER);
  const known = receiptHeaders({ task_id, verify_url, payment_ref, hub, model, amount, vendor_blind });
  Object.assign(context.response.headers, known, settlementHeader(charged));
}

/**
 * Whether the promise of `vendor_blind` can be stated now. For a replay it cannot: it was made to the first buyer and is in the receipt at
 * the end.
 */
function promisedNow({ settlement_status }: Pick<ChargedStream<JsonObject>, 'settlement_status'>): boolean {
  return settlement_status !== 'idempotent_replay';
}

function settlementHeader({
  settlement_status,
  rerun = null,
}: Pick<ChargedAnswer<JsonObject>, 'settlement_status' | 'rerun'>): Readonly<Record<string, string>> {
  return {
    'x-svc-settlement-status': settlement_status,
    ...(rerun === null ? {} : { 'x-svc-rerun': String(rerun) }),
  };
}
