import type { JsonObject } from './canonical-json.ts';
import type { documents } from './documents.ts';
import type { WordOf, Words } from './words.ts';

/** The codes under which the issuer refuses a call for its book's sake. */
export const refusalCodes = {
  graph: 'RefusalCode',
  description: 'Why the issuer refused a call, as it is signed.',
  meanings: {
    policy_blocked: 'A policy of the book.',
    budget_exhausted: 'The budget of the book.',
    approval_ttl_expired: 'The book requires a fresh approval of such a call.',
  },
} as const satisfies Words;
export type RefusalCode = WordOf<typeof refusalCodes>;

/** The Base head that the issuer had seen when it refused; `UNAVAILABLE` where it had seen none lately. */
export type BaseAnchor =
  | {
      readonly status: 'AVAILABLE';
      readonly block_number: number;
      readonly block_hash: string;
      /** Left out where the node does not tell. */
      readonly state_root?: string;
    }
  | { readonly status: 'UNAVAILABLE' };

/**
 * What a signed refusal says, all of it signed: that the issuer refused this call at that anchor for that code. It is
 * neither a receipt nor spend. What the book holds stays with whoever possesses it: no sum and no cap stands here.
 * `requested_amount` (atomic USDC, digits) is left out where no money was asked for: a key stood in for the payment.
 */
export interface RefusalPayload extends JsonObject {
  readonly schema: typeof documents.refusal;
  readonly refusal_id: string;
  /** EIP-155. */
  readonly chain_id: number;
  readonly base_anchor: BaseAnchor & JsonObject;
  readonly refusal_code: RefusalCode;
  readonly policy_code: string;
  /** 16 random bytes, hex. */
  readonly nonce: string;
  /** ISO 8601, database time. */
  readonly timestamp: string;
  readonly agent_id: number;
  /** The book is its agent's: both names stand here. */
  readonly book_id: number;
  /** The blocked call's, and its row's. */
  readonly task_id: string;
  readonly policy_blocked_seq: number;
  readonly charged: false;
}
