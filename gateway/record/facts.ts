import type { AtomicAmount } from '../../schema/amount.ts';
import type { JsonObject } from '../../schema/canonical-json.ts';
import type { AgentId, TaskId } from '../../schema/ids.ts';
import type { NetworkName } from '../../schema/network.ts';
import type { WaivedBy } from '../../schema/receipt-payload.ts';
import type { ProviderCogs } from '../../schema/receipt-shapes.ts';
import type { Collection } from '../../subgraphs/book/ledger/collect.ts';
import type { WouldBlock } from '../../subgraphs/book/ledger/would-block.ts';
import type { Lease } from '../../subgraphs/receipt/claim/claim.ts';
import type { KeyCallHold } from '../../subgraphs/receipt/claim/key-call/hold.ts';
import type { NamedAnswer } from '../../subgraphs/receipt/claim/key-call/idempotent.ts';
import type { SignedTreeHead } from '../../subgraphs/receipt/log/tree-head.ts';
import type { Receipt } from '../../subgraphs/receipt/receipt/receipt.entity.ts';
import type { OmissionRule, Stamp, Work } from '../../subgraphs/sale.ts';
import type { PaidUnder } from '../../subgraphs/session/delegation/hold.ts';
import type { Found } from '../../subgraphs/stamped-row.ts';
import type { Moved } from '../rails/outcome.ts';

/* The facts that a record is made from, whoever makes it: the caller who waited, or reconcile. */

/** Where a charge lands and what stands on it; kept on the claim, so that reconcile needs nobody's memory. */
export interface Landing extends CallLanding {
  /** The delegated session that it is paid under; null or left out where there is none. */
  readonly delegation: PaidUnder | null;
}

/** The same of a call without a grant. */
export interface CallLanding extends JsonObject {
  readonly job_kind: string;
  /** The URL at which it was bought; claims of old name none. */
  readonly resource: string | null;
  readonly intent_id: string | null;
  readonly attempt_index: number | null;
  /** The task of the row that it follows from, which stood on its book before it was claimed; claims of old say nothing of it. */
  readonly parent_ref: string | null;
  readonly api_key_hash: string | null;
  readonly model: string | null;
  readonly hub: string | null;
  /** As the hub named it; null where it named none. Claims of old say nothing of it, as of the next two. */
  readonly answered_model: string | null;
  readonly answered_catalogue_model: string | null;
  readonly output_covers: readonly string[] | null;
  readonly output_sha256: string | null;
  readonly omission_rule: OmissionRule | null;
  /** Null where no price is known; claims of old say nothing of it. */
  readonly provider_cogs: ProviderCogs | null;
  /** The agent whose session came with the call: its answer is delivered again to nobody else. */
  readonly possessed_by: number | null;
  /** Of the address from which it was paid. */
  readonly paid_from_mark: string;
  /** Of the router key under which it is answered; null where none is. */
  readonly router_key_mark: string | null;
  /** Of the Idempotency-Key under which it came; null where none did. */
  readonly idempotency_mark: string | null;
  /** What policies of its book in shadow mode said of the call; claims of old say nothing of it. */
  readonly would_block: readonly WouldBlock[] | null;
  /**
   * Promised with the session: this service adds nothing that says who asks. Text of the caller that names the caller reaches the hub
   * all the same.
   */
  readonly vendor_blind: boolean;
  /** The payment is public once it is on the chain; without the salt a short prompt could be guessed from its hash. */
  readonly request_salt: string;
}

/** What is recorded of any call. */
interface Landed {
  readonly task_id: TaskId;
  readonly request_hash: string;
  readonly agent_id: AgentId | null;
  readonly landing: Landing;
}

/** The facts of a claim that its record is made from: the same, whether the caller waited or reconcile came later. */
export interface Settled extends Landed {
  readonly network: NetworkName;
  /** Which chain of this database's life it moved on; 0 for ever on the real ones. */
  readonly chain_epoch: number;
  readonly payer: string;
  readonly pay_to: string;
  readonly payment_id: string;
  readonly amount_atomic: AtomicAmount;
  readonly reserved_atomic: AtomicAmount;
  readonly transfer: Moved;
}

/** The same of a call that a key stood in for: no money moved, and none ever will. */
export interface Waived extends Landed {
  /** Null of a stamp: what it is bought for has a receipt, and nothing else happened that one could be of. */
  readonly waived_by: WaivedBy | null;
  readonly transfer: null;
}

/** Where the answer comes from that is kept for redelivery. */
export type Answered =
  /** It was sealed with the claim before the payment was sent. */
  | { readonly kind: 'stored' }
  /** The work was done, or came to its end, after the payment had moved. */
  | { readonly kind: 'worked'; readonly answer: JsonObject }
  /** A stamp's effect, written with its row, from what it has found out before the payment was sent. */
  | StampAnswer;

export interface StampAnswer {
  readonly kind: 'stamp';
  readonly paid: Stamp<JsonObject, JsonObject>;
  readonly args: JsonObject;
  /** Null where it looks for nothing. */
  readonly found: Found<JsonObject> | null;
}

/** By what this process may record the call, and nobody else: its payment's claim, or its hold on the task. */
type Entitled =
  | { readonly lease: Lease; readonly settled: Settled }
  | { readonly hold: KeyCallHold; readonly settled: Waived; readonly named: NamedAnswer | null };

/** A call that is to be recorded. */
export type Recordable = Entitled & { readonly answer: Answered };

export type Recording = Recordable & {
  /** Made outside the lock, with all signatures but the JWS: at least one. The first is the call's own, where it has one. */
  readonly collections: readonly Collection[];
  /** Key of a payment that was held until now, and is recorded with it; null where there is none. */
  readonly sibling: string | null;
};

export interface Recorded {
  readonly receipt: Receipt;
  /** Null where it was sealed with the claim before. */
  readonly answer: JsonObject | null;
  readonly tree_head: SignedTreeHead;
}

/** Under which what a stamp has found is sealed on its claim, until its answer takes the place of it. */
export const foundLabel = (task_id: string): string => `found:${task_id}`;

/** What is in hand when the payment is sent: the whole answer, or as yet nothing but where it comes from. */
export type InHand = Pick<Work<JsonObject>, 'route'> & Partial<Work<JsonObject>>;

/** Of a stamp that a key stands in for: another call holds what it found. No money is in it, so the record may refuse. */
export class SlotTaken extends Error {
  override name = 'SlotTaken';
}

/** What a stamp has in hand in place of work. */
export function isFound(in_hand: InHand | Found<JsonObject> | null): in_hand is Found<JsonObject> {
  return in_hand !== null && 'fact' in in_hand;
}

/** What the work adds to where its charge lands. */
export function workedLanding(in_hand: InHand | Found<JsonObject> | null): Partial<Landing> & JsonObject {
  if (in_hand === null || isFound(in_hand)) return {};
  const { route, output_sha256 = null, output_covers = null, omission_rule = null, provider_cogs = null } = in_hand;
  const { model, hub, answered_model = null, answered_catalogue_model = null } = route;
  const answered = { model, hub, answered_model, answered_catalogue_model };
  const worked = { ...answered, output_sha256, output_covers, omission_rule, provider_cogs };
  return { ...worked, ...(in_hand.fetched_there ? { vendor_blind: false } : {}) };
}
