import { isJsonObject, type JsonObject } from './canonical-json.ts';
import { networkNamed, networks } from './network.ts';

/*
 * The lane of a receipt: what is known of it beside what was signed, and may change. Signer, graph, doors and verifier all
 * compute it here, from the receipt's facts and the newest head of the log; nobody signs it.
 */

/** What it is computed from, by the names of the public receipt; null where there is none. */
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

/** A transfer of USDC on Base that a stranger can look for. It does not claim that it took place. */
export interface LocalCheck extends JsonObject {
  readonly network: 'base';
  /** CAIP-2. */
  readonly chain: string;
  readonly asset: string;
  readonly payee: string;
  /** Atomic USDC, digits. */
  readonly amount: string;
}

export interface LaneFacts {
  /** A later head of the log differs from the one that bound the leaf. */
  readonly anchor_changed_since_binding: boolean;
  readonly freeze: boolean;
  readonly unverifiable_from_registry: boolean;
  readonly local_check: LocalCheck | null;
  readonly binding: { readonly in_proof: boolean } & JsonObject;
}

/** @param newest_size leaves under the newest head of the log; null where none is known */
export function laneFacts(subject: LaneSubject, newest_size: number | null): LaneFacts {
  // One log, which only grows: its heads differ where their sizes do.
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
 * The specification asks for four nulls behind an expiry; these are the facts of ours that stand for them.
 * Past expiry: the transfer was looked for until the cutoff, and given up (`proof_outcome` is `unverified`).
 * receipt_id: the ingress receipt that promotes a vouched payment. observed_tx_hash and observed_transfer_id: of a transfer
 * that was seen, which only `settled_by: observed_transfer` says. It does not mean unpaid. As long as this issuer vouches for
 * every payment that it signs, `settled_by` is null for calls by key alone, and those wait for nothing: it is false then.
 */
export function isUnverifiable({ settled_by, proof_outcome, ingress_receipt }: LaneSubject): boolean {
  return proof_outcome === 'unverified' && settled_by === null && ingress_receipt === null;
}

/** What a lane is computed from of the money: as receipts sign it, or book chains. */
export function lanePayment({ payment, observed_transfer }: JsonObject): JsonObject | null {
  const signed = payment ?? observed_transfer;
  return isJsonObject(signed) ? signed : null;
}

/** Null for other networks, and where nothing was paid. */
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

/** Heads are anchored by transactions that anybody can read; no proof system on the chain has checked a commitment of ours. */
const binding = { in_proof: false } as const;
