import type { AtomicAmount } from '../../../schema/amount.ts';
import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { AgentId, TaskId } from '../../../schema/ids.ts';
import type { NetworkName } from '../../../schema/network.ts';
import type { WaivedBy } from '../../../schema/receipt-payload.ts';
import type { ProviderCogs } from '../../../schema/receipt-shapes.ts';
import type { Collection } from '../../../subgraphs/book/ledger/collect.ts';
import type { WouldBlock } from '../../../subgraphs/book/ledger/would-block.ts';
import type { Lease } from '../../../subgraphs/receipt/claim/claim.ts';
import type { KeyCallHold } from '../../../subgraphs/receipt/claim/key-call/hold.ts';
import type { NamedAnswer } from '../../../subgraphs/receipt/claim/key-call/idempotency-names.ts';
import type { Receipt } from '../../../subgraphs/receipt/receipt/receipt.entity.ts';
import type { OmissionRule, Stamp, Work } from '../../../subgraphs/sale.ts';
import type { ClaimSession } from '../../../subgraphs/session/delegation/hold.ts';
import type { StampFact } from '../../../subgraphs/stamped-row.ts';
import type { RecordableOutcome } from '../../rails/outcome.ts';

/* The facts from which a record is made, the same for a waiting caller and for reconcile. */

/** Where a charge is recorded, and what its row contains. It is stored on the claim, so that reconcile needs nothing else. */
export interface Landing extends CallLanding {
  /** The delegated session that pays. Null or undefined without one. */
  readonly delegation: ClaimSession | null;
}

/** The landing of a call without its grant. */
export interface CallLanding extends JsonObject {
  readonly job_kind: string;
  /** URL of the purchase. Missing in old claims. */
  readonly resource: string | null;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  /** Task of the row that the call follows from, which was on the call's book before the claim. Missing in old claims. */
  readonly parent_ref: string | null;
  readonly api_key_hash: string | null;
  readonly model: string | null;
  readonly hub: string | null;
  /** The model that the hub named in its answer, or null. Missing in old claims, like the next two members. */
  readonly answered_model: string | null;
  readonly answered_catalogue_model: string | null;
  readonly output_covers: readonly string[] | null;
  readonly output_sha256: string | null;
  readonly omission_rule: OmissionRule | null;
  /** Cost of the work to this service. Null if no price is known. Missing in old claims. */
  readonly provider_cogs: ProviderCogs | null;
  /** The agent whose session came with the call. The answer is delivered again to this agent only. */
  readonly possessed_by: number | null;
  /** Keyed mark of the address from which the call was paid. */
  readonly paid_from_mark: string;
  /** Keyed mark of the router key with which the call was answered. Null without one. */
  readonly router_key_mark: string | null;
  /** Keyed mark of the Idempotency-Key. Null without one. */
  readonly idempotency_mark: string | null;
  /** Results of the book's policies in shadow mode. Missing in old claims. */
  readonly would_block: readonly WouldBlock[] | null;
  /**
   * Whether the session requests that this service adds nothing that identifies the caller. A text of the caller that identifies them still
   * reaches the hub.
   */
  readonly vendor_blind: boolean;
  /**
   * Salt of the request's hash. The payment is public once it is on the chain, and without the salt a short prompt could be guessed from
   * the hash.
   */
  readonly request_salt: string;
}

/** Facts that are recorded for every call. */
interface CallFacts {
  readonly task_id: TaskId;
  readonly request_hash: string;
  readonly agent_id: AgentId | null;
  readonly landing: Landing;
}

/** The facts of a claim that make its record, the same for a waiting caller and for reconcile. */
export interface SettledFacts extends CallFacts {
  readonly network: NetworkName;
  /** Which of this database's chains the payment moved on. Always 0 on real networks. */
  readonly chain_epoch: number;
  readonly payer: string;
  readonly pay_to: string;
  readonly payment_id: string;
  readonly amount_atomic: AtomicAmount;
  readonly reserved_atomic: AtomicAmount;
  readonly transfer: RecordableOutcome;
}

/** The facts of a call by API key. No money moved, and none will. */
export interface WaivedFacts extends CallFacts {
  /** Kind of the key. Null for a stamp, which has no receipt of its own: its row has one. */
  readonly waived_by: WaivedBy | null;
  readonly transfer: null;
}

/** Source of the answer that is stored for redelivery. */
export type AnswerSource =
  /** The answer was sealed with the claim before the payment was sent. */
  | { readonly kind: 'stored' }
  /** The work was done, or ended, after the payment had moved. */
  | { readonly kind: 'worked'; readonly answer: JsonObject }
  /** A stamp's effect. The record writes it with its row, from the facts that the stamp found before the payment was sent. */
  | StampAnswer;

interface StampAnswer {
  readonly kind: 'stamp';
  readonly paid: Stamp<JsonObject, JsonObject>;
  readonly args: JsonObject;
  /** The facts that the stamp has found. Null if it looks up none. */
  readonly found: StampFact<JsonObject> | null;
}

/** What entitles this process to record the call: its payment's claim, or its hold on the task. */
type Entitled =
  | { readonly lease: Lease; readonly settled: SettledFacts }
  | { readonly hold: KeyCallHold; readonly settled: WaivedFacts; readonly named: NamedAnswer | null };

/** A call that is to be recorded. */
export type Recordable = Entitled & { readonly answer: AnswerSource };

export type Recording = Recordable & {
  /**
   * Receipts and rows of the call, at least one. They are made before the log is locked, with all signatures except the JWS. The first is
   * the call's own, if it has one.
   */
  readonly collections: readonly Collection[];
  /** Claim key of the payment that was held until now and is recorded with this call. Null if there is none. */
  readonly sibling: string | null;
};

export interface Recorded {
  readonly receipt: Receipt;
  /** Null if the answer was sealed with the claim before. */
  readonly answer: JsonObject | null;
}

/** Label with which the facts that a stamp has found are sealed on its claim, until its answer replaces them. */
export const foundLabel = (task_id: string): string => `found:${task_id}`;

/** The work when the payment is sent: the whole answer, or only its source. */
export type InHand = Pick<Work<JsonObject>, 'route'> & Partial<Work<JsonObject>>;

/** Thrown for a stamp by API key if another call holds a slot that the stamp needs. No money is involved, so the record may refuse. */
export class SlotTaken extends Error {
  override name = 'SlotTaken';
}

/** Whether these are the facts that a stamp has found, instead of work. */
export function isFound(in_hand: InHand | StampFact<JsonObject> | null): in_hand is StampFact<JsonObject> {
  return in_hand !== null && 'fact' in in_hand;
}

/** The members that the work adds to the landing of its charge. */
export function workedLanding(in_hand: InHand | StampFact<JsonObject> | null): Partial<Landing> & JsonObject {
  if (in_hand === null || isFound(in_hand)) return {};
  const { route, output_sha256 = null, output_covers = null, omission_rule = null, provider_cogs = null } = in_hand;
  const { model, hub, answered_model = null, answered_catalogue_model = null } = route;
  const answered = { model, hub, answered_model, answered_catalogue_model };
  const worked = { ...answered, output_sha256, output_covers, omission_rule, provider_cogs };
  return { ...worked, ...(in_hand.fetched_there ? { vendor_blind: false } : {}) };
}
