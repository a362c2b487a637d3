import { isJsonObject, type Json, type JsonObject } from './canonical-json.ts';
import type { WordOf, Words } from './words.ts';

interface PayloadVersionRow {
  /** `book_chain`: of lanes that no payment of ours pays for; book and reference of the payment are signed side by side. */
  readonly family: 'receipt' | 'book_chain';
  /** The claims that a token of that version must have. */
  readonly signs: readonly string[];
  /** A fact that it does not sign yet cannot disagree with it: it is reported as unsigned. */
  readonly signs_less: boolean;
  /** A missing claim_id is reported as legacy, and its second signatures may be missing. */
  readonly legacy: boolean;
}

const tree_head = ['tree_head_hash', 'tolerance'] as const;
const history = [...tree_head, 'issuer_history', 'payload_hash'] as const;
const policy = [...history, 'receipt_policy'] as const;

/** Every defined payload version. New receipts are version 11, or 4 in lanes without a payment; all of them verify. */
export const payloadVersions = {
  4: {
    family: 'book_chain',
    signs: [...policy, 'book_id', 'payment_ref', 'task_id'],
    signs_less: false,
    legacy: false,
  },
  8: { family: 'receipt', signs: [], signs_less: true, legacy: true },
  9: { family: 'receipt', signs: tree_head, signs_less: true, legacy: false },
  10: { family: 'receipt', signs: history, signs_less: false, legacy: false },
  11: { family: 'receipt', signs: policy, signs_less: false, legacy: false },
} as const satisfies Record<number, PayloadVersionRow>;

export type PayloadVersion = keyof typeof payloadVersions;
export const PAYLOAD_VERSION_CURRENT = 11 satisfies PayloadVersion;
export const BOOK_CHAIN_VERSION = 4 satisfies PayloadVersion;

function isPayloadVersion(value: unknown): value is PayloadVersion {
  return typeof value === 'number' && Object.hasOwn(payloadVersions, value);
}

/** Row of the version that the claims name. Null if no such version is defined. */
export function payloadVersionOf({ payload_version: version }: JsonObject): PayloadVersionRow | null {
  return isPayloadVersion(version) ? payloadVersions[version] : null;
}

export const settledByWords = {
  graph: 'SettledBy',
  description: 'What makes a payment count as settled.',
  meanings: {
    observed_transfer: 'The issuer has seen the transfer on the chain.',
    receipt: 'The issuer asserts the settlement by a receipt, and has not seen the transfer.',
  },
} as const satisfies Words;
export type SettledBy = WordOf<typeof settledByWords>;

/**
 * On what basis the issuer counted a payment as settled when it signed; null if there was no payment. What has become known since is the
 * lane's unsigned `settled_by`; before receipt policy 4 this fact was signed under that very name.
 */
export function settlementBasis({ settlement_basis, settled_by }: JsonObject): Json {
  return settlement_basis ?? settled_by ?? null;
}

/** The kind of key that replaced a payment, if nothing was paid: of a customer, or for trying out the service. */
export const waivers = {
  graph: 'WaivedBy',
  description: 'Kind of API key that was used in place of a payment.',
  meanings: {
    live_key: 'A live key: the API key of a customer.',
    demo_key: 'A demo key: a shared API key for trying out the service. It cannot write.',
  },
} as const satisfies Words;
export type WaivedBy = WordOf<typeof waivers>;

/**
 * Whether the receipt states that this service was not paid: an API key was used, others reported the work, or the
 * receipt was handed on.
 */
export function namesNoPayment({ waived_by, reported, target_agent }: JsonObject): boolean {
  return (waived_by ?? reported ?? target_agent ?? null) !== null;
}

/**
 * `pending` until the transfer has been seen; `unverified` if it was not found by the cutoff. The first of the facts besides a receipt that
 * may change after it was signed. `none`: nothing was paid, so there is nothing to prove.
 */
export const proofOutcomes = {
  graph: 'ProofOutcome',
  description: 'What is known of the payment for a task.',
  meanings: {
    settled: 'The issuer has seen the transfer on its chain.',
    pending: 'The issuer asserts the payment, and has not seen its transfer yet.',
    unverified: 'The transfer had not been seen by the cutoff.',
    none: 'There is no payment to prove: nothing was paid, or the payment was only reported.',
  },
} as const satisfies Words;
export type ProofOutcome = WordOf<typeof proofOutcomes>;

export const commitmentMakers = {
  graph: 'CommitmentMaker',
  description: 'Who made an output commitment: the hash of what was delivered.',
  meanings: {
    service: 'This service, which had the output itself.',
    winner: 'The winner of a job of the board, on delivery. This service had not seen the output.',
    reporter: 'The party that recorded or reported the work. This service has not seen the output.',
  },
} as const satisfies Words;
export type CommitmentMaker = WordOf<typeof commitmentMakers>;

export const commitmentStatuses = {
  graph: 'CommitmentStatus',
  description: 'Whether there is a hash with which an output can be compared.',
  meanings: {
    committed: 'There is a hash of the output.',
    UNVERIFIED: 'There is no hash. `omission_rule` states why.',
  },
} as const satisfies Words;

/**
 * The payment that a receipt signs, member by member as `payment` has them; of a book chain it is the transfer that was looked up, which
 * has no `payment_id`. Null if it signs none. A foreign token may have anything in place of each fact.
 */
export function signedPayment({ payment, payment_ref, observed_transfer }: JsonObject): JsonObject | null {
  if (isJsonObject(payment)) return payment;
  if (!isJsonObject(observed_transfer)) return null;
  const { transaction: _, index = null, amount = null, ...moved } = observed_transfer;
  return { ...moved, ref: payment_ref ?? null, transfer_index: index, gross_amount: amount };
}

/** The transfer that a receipt signs: a payment to this service, or in a book chain one that was looked up. */
export interface SignedTransfer {
  readonly network: Json;
  /** `network:transaction`. */
  readonly ref: Json;
  /** Null if it is unknown which transfer of the transaction it was. */
  readonly transfer_index: Json;
  readonly rail: Json;
  readonly payer: Json;
  readonly pay_to: Json;
  /** What its payee received, as digits of atomic units. */
  readonly amount: Json;
}

/** Null if it signs none. A foreign token may have anything in place of each fact. */
export function signedTransfer({ payment, payment_ref, observed_transfer }: JsonObject): SignedTransfer | null {
  if (isJsonObject(payment)) {
    const { network = null, ref = null, transfer_index = null, rail = null, payer = null, pay_to = null } = payment;
    return { network, ref, transfer_index, rail, payer, pay_to, amount: payment.settled_amount ?? null };
  }
  if (!isJsonObject(observed_transfer)) return null;
  const { network = null, index = null, rail = null, payer = null, pay_to = null, amount = null } = observed_transfer;
  return { network, ref: payment_ref ?? null, transfer_index: index, rail, payer, pay_to, amount };
}
