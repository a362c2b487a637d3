import { canonicalJson, type JsonObject, present } from '../../../schema/canonical-json.ts';
import { sha256Hex } from '../../../schema/digest.ts';
import { documents } from '../../../schema/documents.ts';
import {
  PAYLOAD_VERSION_CURRENT,
  type ReceiptPayload,
  type ReceiptPayment,
  type SettledBy,
  type WaivedBy,
} from '../../../schema/receipt-payload.ts';
import type { Ed25519Signature, Eip191Signature, Issuer } from '../issuer/keys.ts';
import { tolerance } from '../issuer/policy.ts';
import { leafHash } from '../log/merkle.ts';

/** Who called, as far as it is known: a wallet, a delegated agent's key, the SHA-256 of an API key. */
interface CallerBinding {
  readonly payer_wallet?: string;
  readonly agent_pubkey?: string;
  readonly api_key_hash?: string;
}

/** All that a receipt says of a call before it has a place in the log. */
export interface ReceiptFacts {
  readonly task_id: string;
  /** ISO 8601. */
  readonly issued_at: string;
  readonly hub: string;
  readonly model: string;
  readonly job_kind: string;
  readonly request_hash: string;
  /** The book on which the row lands; null where there is none. */
  readonly agent_id: number | null;
  readonly caller_binding: CallerBinding;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  readonly vendor_blind?: boolean;
  readonly fulfillment: JsonObject;
  /** Null where nothing was to be settled. */
  readonly settled_by: SettledBy | null;
  readonly payment: ReceiptPayment | null;
  /** The kind of key that stood in for a payment; left out where none did. */
  readonly waived_by?: WaivedBy | null;
  readonly profile: 'development' | 'production';
  /** Which development chain carried the payment; 0 where unset. */
  readonly chain_epoch?: number;
}

/** A receipt that lacks nothing but its place in the log: made, hashed and signed twice before the head is locked. */
export interface PreparedReceipt {
  readonly facts: ReceiptFacts;
  readonly payload: ReceiptPayload;
  /** The payload's canonical JSON: what is stored, and what the leaf is made of. */
  readonly canonical: string;
  readonly payload_hash: string;
  readonly leaf_hash: Buffer;
  /** Under way on other threads, and done long before a batch has locked the head. */
  readonly signed: Promise<readonly [value: string, signature: Ed25519Signature]>;
  readonly co_signature: Eip191Signature;
}

export function prepareReceipt(issuer: Issuer, facts: ReceiptFacts): PreparedReceipt {
  const payload = payloadOf(issuer, facts);
  const canonical = canonicalJson(payload);
  const payload_hash = sha256Hex(canonical);
  const signed = Promise.all([issuer.signCanonicalAside(canonical), issuer.signature(payload_hash)]);
  // Whoever places the receipt hears of a fault; of one that is never placed nobody has to.
  signed.catch(() => {});
  return {
    facts,
    payload,
    canonical,
    payload_hash,
    leaf_hash: leafHash(canonical),
    signed,
    co_signature: issuer.coSignature(payload_hash),
  };
}

function payloadOf(issuer: Issuer, facts: ReceiptFacts): ReceiptPayload {
  const where_it_applies = present({
    claim_id: facts.agent_id,
    payment: facts.payment && { ...facts.payment },
    settled_by: facts.settled_by,
    waived_by: facts.waived_by ?? null,
    intent_id: facts.intent_id,
    attempt_index: facts.attempt_index,
    vendor_blind: facts.vendor_blind || null,
    profile: facts.profile === 'development' ? facts.profile : null,
  });
  return {
    ...where_it_applies,
    schema: documents.receipt,
    payload_version: PAYLOAD_VERSION_CURRENT,
    task_id: facts.task_id,
    issued_at: facts.issued_at,
    hub: facts.hub,
    model: facts.model,
    job_kind: facts.job_kind,
    request_hash: facts.request_hash,
    caller_binding: present({ ...facts.caller_binding }),
    fulfillment: facts.fulfillment,
    tolerance,
    issuer_history: issuer.issuer_history,
    receipt_policy: issuer.receipt_policy,
  };
}
