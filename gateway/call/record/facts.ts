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

/* The facts of which a record is made, for a waiting caller and for reconcile. */

/** Where a charge is recorded and what its row says; stored on the claim, so that reconcile needs nothing else. */
export interface Landing extends CallLanding {
  /** The delegated session that pays; null or undefined without one. */
  readonly delegation: ClaimSession | null;
}

/** The same for a call without a grant. */
export interface CallLanding extends JsonObject {
  readonly job_kind: string;
  /** URL of the purchase; missing in old claims. */
  readonly resource: string | null;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  /** The task of the row that it follows from, which was on its book before the claim; missing in old claims. */
  readonly parent_ref: string | null;
  readonly api_key_hash: string | null;
  readonly model: string | null;
  readonly hub: string | null;
  /** As the hub named it, or null. Missing in old claims, like the next two. */
  readonly answered_model: string | null;
  readonly answered_catalogue_model: string | null;
  readonly output_covers: readonly string[] | null;
  readonly output_sha256: string | null;
  readonly omission_rule: OmissionRule | null;
  /** Null if no price is known; missing in old claims. */
  readonly provider_cogs: ProviderCogs | null;
  /** The agent whose session came with the call; its answer is delivered again to nobody else. */
  readonly possessed_by: number | null;
  /** Keyed mark of the address from which it was paid. */
  readonly paid_from_mark: string;
  /** Keyed mark of the router key with which it was answered; null without one. */
  readonly router_key_mark: string | null;
  /** Keyed mark of the Idempotency-Key; null without one. */
  readonly idempotency_mark: string | null;
  /** Results of the book's policies in shadow mode; missing in old claims. */
  readonly would_block: readonly WouldBlock[] | null;
  /**
   * Requested with the session: this service adds nothing that identifies the caller. Text of the caller that does so reaches the
   * hub all the same.
   */
  readonly vendor_blind: boolean;
  /** The payment is public once it is on the chain; without the salt a short prompt could be guessed from its hash. */
  readonly request_salt: string;
}

/** Recorded for every call. */
interface CallFacts {
  readonly task_id: TaskId;
  readonly request_hash: string;
  readonly agent_id: AgentId | null;
  readonly landing: Landing;
}

/** The facts of a claim that make its record, the same for a waiting caller and for reconcile. */
export interface SettledFacts extends CallFacts {
  readonly network: NetworkName;
  /** Which of this database's chains it moved on; always 0 on real networks. */
  readonly chain_epoch: number;
  readonly payer: string;
  readonly pay_to: string;
  readonly payment_id: string;
  readonly amount_atomic: AtomicAmount;
  readonly reserved_atomic: AtomicAmount;
  readonly transfer: RecordableOutcome;
}

/** The same for a call by API key: no money moved, and none ever will. */
export interface WaivedFacts extends CallFacts {
  /** Null for a stamp, whose own row has the receipt. */
  readonly waived_by: WaivedBy | null;
  readonly transfer: null;
}

/** Source of the answer that is stored for redelivery. */
export type AnswerSource =
  /** It was sealed with the claim before the payment was sent. */
  | { readonly kind: 'stored' }
  /** The work was done, or ended, after the payment had moved. */
  | { readonly kind: 'worked'; readonly answer: JsonObject }
  /** A stamp's effect, written with its row, from what it found before the payment was sent. */
  | StampAnswer;

export interface StampAnswer {
  readonly kind: 'stamp';
  readonly paid: Stamp<JsonObject, JsonObject>;
  readonly args: JsonObject;
  /** Null if it looks up nothing. */
  readonly found: StampFact<JsonObject> | null;
}

/** What entitles this process to record the call: its payment's claim, or its hold on the task. */
type Entitled =
  | { readonly lease: Lease; readonly settled: SettledFacts }
  | { readonly hold: KeyCallHold; readonly settled: WaivedFacts; readonly named: NamedAnswer | null };

/** A call that is to be recorded. */
export type Recordable = Entitled & { readonly answer: AnswerSource };

export type Recording = Recordable & {
  /** Made outside the lock, with all signatures but the JWS; at least one. The first is the call's own, if it has one. */
  readonly collections: readonly Collection[];
  /** Key of a payment that was held until now and is recorded with it; null if there is none. */
  readonly sibling: string | null;
};

export interface Recorded {
  readonly receipt: Receipt;
  /** Null if it was sealed with the claim before. */
  readonly answer: JsonObject | null;
}

/** Label with which a stamp's finding is sealed on its claim, until its answer replaces it. */
export const foundLabel = (task_id: string): string => `found:${task_id}`;

/** In hand when the payment is sent: the whole answer, or only its source. */
export type InHand = Pick<Work<JsonObject>, 'route'> & Partial<Work<JsonObject>>;

/** For a stamp by API key: another call holds what it found. No money is involved, so the record may refuse. */
export class SlotTaken extends Error {
  override name = 'SlotTaken';
}

/** What a stamp has in hand instead of work. */
export function isFound(in_hand: InHand | StampFact<JsonObject> | null): in_hand is StampFact<JsonObject> {
  return in_hand !== null && 'fact' in in_hand;
}

/** What the work adds to the landing of its charge. */
export function workedLanding(in_hand: InHand | StampFact<JsonObject> | null): Partial<Landing> & JsonObject {
  if (in_hand === null || isFound(in_hand)) return {};
  const { route, output_sha256 = null, output_covers = null, omission_rule = null, provider_cogs = null } = in_hand;
  const { model, hub, answered_model = null, answered_catalogue_model = null } = route;
  const answered = { model, hub, answered_model, answered_catalogue_model };
  const worked = { ...answered, output_sha256, output_covers, omission_rule, provider_cogs };
  return { ...worked, ...(in_hand.fetched_there ? { vendor_blind: false } : {}) };
}
