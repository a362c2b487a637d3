import type { JsonObject } from '../../../schema/canonical-json.ts';

/* The result of a verification, as `spend-receipt-gateway/verify` returns it. */

/** A check that held. */
export interface HeldCheck {
  readonly sentence: string;
}

/** A check that did not hold: `code` stays the same for programs, `sentence` is for people. */
export interface VerifiedFault {
  readonly code: string;
  readonly sentence: string;
}

/** What a valid document leaves open. None of this makes the document invalid, and none of it is proven. */
export interface Report {
  /**
   * Paths of members that no signature covers, so that the sender of the document could have changed them. `lane`: known members, which may
   * change after signing. `unknown`: members that such a document does not have.
   */
  readonly unsigned: { readonly lane: readonly string[]; readonly unknown: readonly string[] };
  /** Signatures that are present but do not verify, while another one does. */
  readonly broken: readonly string[];
  /** A sentence for each fact that was not checked, with the way to check it. */
  readonly unchecked: readonly string[];
}

/** The result for a document; serialisable as JSON. */
export interface VerifiedDocument {
  readonly kind:
    | 'receipt'
    | 'refusal'
    | 'export'
    | 'receipt_audit'
    | 'refusal_audit'
    | 'inflow'
    | 'verdict'
    | 'reconciliation'
    | 'totals'
    | 'issuer_history'
    | 'receipt_policy_history'
    | 'revocations'
    /** The answer that foreign spend was recorded. */
    | 'ingest_record'
    /** The `allowance` of a book. */
    | 'allowance'
    /** An audit pack is unsigned, so never valid: its fault is `not_signed`, or names a contradiction. */
    | 'audit_pack'
    /** The coverage of an export, without the export. */
    | 'export_coverage'
    /** The declaration of a break of the log, and the list of all declarations. */
    | 'log_break'
    | 'log_breaks'
    /** A signed head of the log, alone or with an inclusion proof. */
    | 'tree_head'
    /** The card of the agent (A2A). */
    | 'agent_card'
    /** Artifacts of x402's offer-and-receipt extension: the offers of a 402, and the receipt in PAYMENT-RESPONSE. */
    | 'offer'
    | 'delivery'
    /** Messages that a payer or the key of a session signed (EIP-712), and a text that a wallet signed. */
    | 'session_grant'
    | 'session_act'
    | 'session_revocation'
    | 'wallet_text'
    /** A message of a webhook: only its receiver can check it. */
    | 'webhook_message'
    /** An unsigned document, which is never valid: its fault is `not_signed`. */
    | 'unsigned';
  readonly valid: boolean;
  /** The checks that held, in order. */
  readonly checks: readonly HeldCheck[];
  /** The first check that did not hold; null if the document is valid. */
  readonly fault: VerifiedFault | null;
  /** What was signed. Null if the document is not valid, because then nothing in it can be trusted. */
  readonly claims: JsonObject | null;
  /** What a valid document leaves open; null if it is not valid. */
  readonly report: Report | null;
}
