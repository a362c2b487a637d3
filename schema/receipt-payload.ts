import type { Json, JsonObject } from './canonical-json.ts';
import type { documents } from './documents.ts';

/**
 * What each payload version signs beyond the one before it. New receipts are version 11; all of them verify.
 */
export const payloadVersions = {
  8: { signs: [], legacy: true },
  9: { signs: ['tree_head_hash', 'tolerance'], legacy: false },
  10: { signs: ['tree_head_hash', 'tolerance', 'issuer_history', 'payload_hash'], legacy: false },
  11: { signs: ['tree_head_hash', 'tolerance', 'issuer_history', 'payload_hash', 'receipt_policy'], legacy: false },
} as const satisfies Record<number, { signs: readonly string[]; legacy: boolean }>;

export type PayloadVersion = keyof typeof payloadVersions;
export const PAYLOAD_VERSION_CURRENT = 11 satisfies PayloadVersion;

export function isPayloadVersion(value: unknown): value is PayloadVersion {
  return typeof value === 'number' && value in payloadVersions;
}

/** `observed_transfer`: the USDC was seen on chain. `receipt`: the issuer asserts it without having looked. */
export type SettledBy = 'observed_transfer' | 'receipt';

/**
 * On what the issuer took a payment for settled as it signed: null where none was. What is known of that since is the
 * lane's unsigned `settled_by`; before receipt policy 4 this fact was signed under that very name.
 */
export function settlementBasis({ settlement_basis, settled_by }: JsonObject): Json {
  return settlement_basis ?? settled_by ?? null;
}

/** What stood in for a payment, where nothing was paid: a key of a customer, or one to try the service with. */
export const waivers = ['live_key', 'demo_key'] as const;
export type WaivedBy = (typeof waivers)[number];

/**
 * `pending` until the transfer has been seen; `unverified` where it was looked for in vain until the cutoff. The first of
 * the facts beside a receipt that may change after it was signed. `none`: nothing was paid, nothing is there to prove.
 */
export const proofOutcomes = ['settled', 'pending', 'unverified', 'none'] as const;
export type ProofOutcome = (typeof proofOutcomes)[number];

/** What is known of a payment once it has moved. Amounts are decimal strings of atomic units. */
export interface ReceiptPayment {
  /** `base:0x<hash>`; several payments may share one transaction: `transfer_index` tells them apart. */
  readonly ref: string;
  /** Log index of the Transfer event inside its block (EVM); null where nobody has looked. */
  readonly transfer_index: number | null;
  readonly network: string;
  readonly rail: 'usdc';
  readonly asset: string;
  readonly gross_amount: string;
  readonly settled_amount: string;
  readonly payer: string;
  readonly pay_to: string;
  /** The EIP-3009 nonce, the Solana message hash, or the client's payment identifier. */
  readonly payment_id: string;
}

/** What the work cost the issuer, and at what price it marks that: atomic USDC, the scale of payment.gross_amount. */
export interface ProviderCogs extends JsonObject {
  readonly actual: number;
  readonly usd_mark: number;
}

/** How far a verifier may let facts drift from what is signed; the receipt policy says what each bound means. */
export interface Tolerance extends JsonObject {
  readonly amount_atomic: string;
  readonly clock_seconds: number;
}

/** Which snapshot of the issuer's keys held when this was signed, and which of its entries signed. */
export interface IssuerHistoryRef extends JsonObject {
  readonly hash: string;
  readonly version: number;
  readonly seq: number;
}

/** Which receipt policy governs this receipt: SHA-256 of its canonical form, and its version. */
export interface ReceiptPolicyRef extends JsonObject {
  readonly hash: string;
  readonly version: number;
}

/**
 * The stored canonical object: its SHA-256 is `payload_hash`, its RFC 6962 leaf hash stands in the log.
 * Holds neither tree head nor signatures, so it can be made before the log's head is locked.
 * Left out where they do not apply, never null: `claim_id`, `payment`, `settlement_basis`, `waived_by`, `intent_id`,
 * `attempt_index`, `vendor_blind`, `provider_cogs`, `profile`.
 */
export interface ReceiptPayload extends JsonObject {
  readonly schema: typeof documents.receipt;
  readonly payload_version: PayloadVersion;
  readonly task_id: string;
  readonly issued_at: string;
  readonly hub: string;
  readonly model: string;
  readonly job_kind: string;
  /** SHA-256 of (field coordinate, canonical arguments): which request this pays for. */
  readonly request_hash: string;
  /** `payer_wallet`, `agent_pubkey`, `api_key_hash`: those that are known. */
  readonly caller_binding: JsonObject;
  readonly fulfillment: JsonObject;
  readonly tolerance: Tolerance;
  readonly issuer_history: IssuerHistoryRef;
  readonly receipt_policy: ReceiptPolicyRef;
}
