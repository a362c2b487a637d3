import { canonicalJson, isJsonObject, type JsonObject } from '../../../../schema/canonical-json.ts';
import { type SignedTransfer, signedTransfer } from '../../../../schema/receipt-payload.ts';
import { leafHash } from '../../../../subgraphs/receipt/verify/merkle-proof.ts';
import { verifyReceipt } from '../../../../subgraphs/receipt/verify/receipt.ts';
import type { LeafFile } from '../catch-up.ts';
import type { WalletPayment } from './match.ts';

export interface WrongReceipt {
  readonly kind: 'wrong';
  readonly task_id: string;
  readonly code: string;
  readonly sentence: string;
  readonly leaf_index: number;
}

/** Result of checking a receipt. `elsewhere`: it was paid on a network that is not read here. */
export type CheckedReceipt =
  | WrongReceipt
  | { readonly kind: 'paid'; readonly receipt: WalletPayment; readonly leaf_index: number }
  | { readonly kind: 'elsewhere'; readonly task_id: string; readonly leaf_index: number };

interface CheckedAgainst {
  readonly jwks: JsonObject;
  /** In lower case. */
  readonly wallet: string;
  readonly url: string;
  /** The log's leaves, as this witness has proven them. */
  readonly leaves: LeafFile;
}

/**
 * Checks that a receipt is signed, belongs to this wallet, and is at its leaf in the log. The payment is taken from the signed
 * claims.
 */
export async function checkedReceipt(
  document: JsonObject,
  { jwks, wallet, url, leaves }: CheckedAgainst,
): Promise<CheckedReceipt> {
  const verified = verifyReceipt(document, jwks, { base_url: url });
  const shown = Number.isSafeInteger(document.leaf_index) ? Number(document.leaf_index) : -1;
  const task_id = String(document.task_id);
  const wrong = (code: string, sentence: string) =>
    ({ kind: 'wrong', task_id, code, sentence, leaf_index: shown }) as const;
  if (verified.kind === 'invalid') return wrong(verified.code, verified.sentence);
  const { claims } = verified;
  const leaf_index = Number(claims.leaf_index);
  const leaf = leafHash(canonicalJson(document.payload ?? null));
  if (!(await isLeaf(leaf, leaf_index, leaves)))
    return wrong('not_in_log', 'The log does not have this receipt at the leaf_index that it signs.');
  const payment = signedTransfer(claims);
  if (payment === null) return wrong('not_paid', 'The receipt names no payment.');
  if (payment.network !== 'base') return { kind: 'elsewhere', task_id, leaf_index };
  if (String(payment.payer).toLowerCase() !== wallet)
    return wrong('another_payer', 'The receipt names another wallet as payer.');
  return { kind: 'paid', receipt: paidOf(task_id, payment, document), leaf_index };
}

async function isLeaf(leaf: Buffer, leaf_index: number, leaves: LeafFile): Promise<boolean> {
  if (!(leaf_index >= 0 && leaf_index < leaves.count)) return false;
  for await (const kept of leaves.read(leaf_index, leaf_index + 1)) return leaf.equals(kept);
  return false;
}

/**
 * The payment of a receipt. If only a facilitator had reported it at signing, its transaction is the one that the service has named
 * since then.
 */
export function paidOf(task_id: string, payment: SignedTransfer, { ingress_receipt }: JsonObject): WalletPayment {
  const seen = isJsonObject(ingress_receipt) ? ingress_receipt.ref : undefined;
  const ref = String(payment.transfer_index === null ? (seen ?? payment.ref) : payment.ref);
  return {
    task_id,
    tx_hash: ref.slice(ref.indexOf(':') + 1).toLowerCase(),
    transfer_index: typeof payment.transfer_index === 'number' ? payment.transfer_index : null,
    pay_to: String(payment.pay_to).toLowerCase(),
    amount: BigInt(/^\d{1,78}$/.test(String(payment.amount)) ? String(payment.amount) : '0'),
  };
}
