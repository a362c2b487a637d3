import { isJsonObject, type JsonObject } from './canonical-json.ts';
import { networkNamed, networks } from './network.ts';
import type { DocumentOf } from './noun.ts';
import type { LocalCheckNoun, ReceiptNoun } from './receipt-shapes.ts';

/*
 * The lane of a receipt: unsigned facts that may change. Signer, graph, endpoints and verifier all compute it here,
 * from the facts of the receipt and the newest head of the log.
 */

/** The facts from which it is computed, by the names of the public receipt; null if absent. */
export interface LaneSubject {
  readonly tree_size: number;
  readonly book_seq: number | null;
  readonly settled_by: string | null;
  readonly proof_outcome: string;
  /** `{ref, confirmed_at}`. */
  readonly ingress_receipt: JsonObject | null;
  /** The signed payment, or the transfer that a book chain signs in its place. */
  readonly payment: JsonObject | null;
}

/** The computed facts. `local_check` is null for networks other than Base, and if nothing was paid. */
export type LaneFacts = Pick<
  DocumentOf<typeof ReceiptNoun>,
  'anchor_changed_since_binding' | 'freeze' | 'unverifiable_from_registry' | 'binding'
> & { readonly local_check: LocalCheck | null };
type LocalCheck = DocumentOf<typeof LocalCheckNoun>;

/** @param newest_size leaves under the newest head of the log; null if none is known */
export function laneFacts(subject: LaneSubject, newest_size: number | null): LaneFacts {
  // One log, which only grows: its heads differ if their sizes do.
  const anchor_changed_since_binding = newest_size !== null && newest_size > subject.tree_size;
  return {
    anchor_changed_since_binding,
    freeze: isFrozen(subject, anchor_changed_since_binding),
    unverifiable_from_registry: isUnverifiable(subject),
    local_check: localCheck(subject.payment),
    binding,
  };
}

/** The issuer asserts a settlement that it has not seen, the log has gone on since, and the row is not settled yet. */
export function isFrozen({ book_seq, settled_by, proof_outcome }: LaneSubject, anchor_changed: boolean): boolean {
  return book_seq !== null && settled_by === 'receipt' && anchor_changed && proof_outcome !== 'settled';
}

/**
 * Whether the four members are null that the specification requires to be null after an expiry. They are represented as follows. Expired:
 * the search for the transfer ended at the cutoff (`proof_outcome` is `unverified`). receipt_id: the ingress receipt that promotes a
 * vouched payment. observed_tx_hash and observed_transfer_id: a transfer that was seen, as `settled_by: observed_transfer` says. True does
 * not mean unpaid. `settled_by` is null only for calls with an API key, which wait for no transfer, so the result is false for those.
 */
export function isUnverifiable({ settled_by, proof_outcome, ingress_receipt }: LaneSubject): boolean {
  return proof_outcome === 'unverified' && settled_by === null && ingress_receipt === null;
}

/** The payment from which a lane is computed, as receipts sign it, or book chains. */
export function lanePayment({ payment, observed_transfer }: JsonObject): JsonObject | null {
  const signed = payment ?? observed_transfer;
  return isJsonObject(signed) ? signed : null;
}

/** Null for other networks, and if nothing was paid. */
export function localCheck(payment: JsonObject | null): LocalCheck | null {
  const { network, asset, pay_to: payee, gross_amount, amount = gross_amount } = payment ?? {};
  const texts = [asset, payee, amount].every(text => typeof text === 'string');
  if (typeof network !== 'string' || networkNamed(network) !== 'base' || !texts) return null;
  return {
    network: 'base',
    chain: networks.base.caip2,
    asset: String(asset),
    payee: String(payee),
    amount: String(amount),
  };
}

/**
 * Anchors of heads are transactions that can be read by all; no proof system on the chain has checked a commitment of
 * this service.
 */
const binding = { in_proof: false } as const;
