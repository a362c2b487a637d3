import { atomicAmount } from '../../../schema/amount.ts';
import type { InitialFacts } from '../../../schema/book-row.ts';
import { canonicalHash, type JsonObject } from '../../../schema/canonical-json.ts';
import { networks } from '../../../schema/network.ts';
import type { ObservedTransfer } from '../../../schema/observed-transfer.ts';
import { noCommitment, outputCommitmentOf } from '../../../schema/output-commitment.ts';
import { answeredFacts, paymentFactsBy } from '../../../subgraphs/book/ledger/adopt-receipt.ts';
import { type Collection } from '../../../subgraphs/book/ledger/collect.ts';
import { type Clock, iso } from '../../../subgraphs/clock.ts';
import type { Issuer } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { prepareReceipt } from '../../../subgraphs/receipt/receipt/issue.ts';
import type { ReceiptFacts } from '../../../subgraphs/receipt/receipt/receipt-facts.ts';
import type { Stamp, StampContext } from '../../../subgraphs/sale.ts';
import type { StampedMoney, StampedRow } from '../../../subgraphs/stamped-row.ts';
import type { RecordableOutcome } from '../../rails/outcome.ts';
import type { Landing, Recordable, Recording, SettledFacts, WaivedFacts } from './facts.ts';

/* The contents of a record: the receipt and the row, both from the same facts. */

type Facts = SettledFacts | WaivedFacts;

/** The facts of the money in a row and a receipt, by the kind of transfer. */
const rests = {
  transferred: paymentFactsBy.observed_transfer,
  vouched: paymentFactsBy.receipt,
} as const satisfies Record<RecordableOutcome['kind'], Partial<InitialFacts>>;

/** Facts of a row if nothing was paid: no payer, no reference and no amount, which differs from an amount of 0. */
export const unpaid = {
  evidence: 'UNVERIFIED',
  collected: false,
  settled_by: null,
  recorded_by: null,
  arrival_status: null,
  payment_ref: null,
  transfer_index: null,
  rail: null,
  amount: null,
  payer_wallet: null,
} as const satisfies Partial<InitialFacts>;

export function paymentRef({ network, transfer }: Pick<SettledFacts, 'network' | 'transfer'>): string {
  return `${network}:${transfer.tx_hash}`;
}

/** The place in the block is known only for a transfer that was seen. */
function transferIndex({ transfer }: SettledFacts): number | null {
  return transfer.kind === 'transferred' ? transfer.transfer_index : null;
}

function paymentOf(settled: SettledFacts): ReceiptFacts['payment'] {
  return {
    ref: paymentRef(settled),
    transfer_index: transferIndex(settled),
    network: settled.network,
    rail: 'usdc',
    asset: networks[settled.network].usdc,
    gross_amount: settled.amount_atomic.toString(),
    settled_amount: settled.amount_atomic.toString(),
    payer: settled.payer,
    pay_to: settled.pay_to,
    payment_id: settled.payment_id,
  };
}

/** The fulfillment of a row, which is flat. */
function fulfillmentOf({ landing }: Facts): JsonObject {
  return { ...intentOf(landing), output_commitment: commitmentOf(landing) };
}

/** The fulfillment of a receipt: the paid-job envelope, which names who authorized what. */
function envelopeOf(facts: Facts): JsonObject {
  const [payer_wallet, payment_ref] = facts.transfer === null ? [null, null] : [facts.payer, paymentRef(facts)];
  const delegation_hash = facts.landing.delegation?.delegation_hash ?? null;
  const authorization = { payer_wallet, delegation_hash, payment_ref };
  return { intent: intentOf(facts.landing), authorization, output_commitment: commitmentOf(facts.landing) };
}

function intentOf({ job_kind, resource, intent_id, attempt_index }: Landing): JsonObject {
  return { job_kind, resource: resource ?? null, intent_id, attempt_index };
}

function commitmentOf({ output_sha256, output_covers, omission_rule }: Landing): JsonObject {
  return output_sha256 === null
    ? noCommitment(omission_rule ?? 'no_output')
    : outputCommitmentOf('service', output_sha256, output_covers ?? null);
}

export interface FormParts {
  readonly issuer: Issuer;
  readonly clock: Clock;
  readonly profile: 'development' | 'production';
}

/**
 * Everything that is recorded of a call, except for its place in log and book: its own receipt and row, and those of the purchase that a
 * stamp records.
 */
export function collectionsOf(
  parts: FormParts,
  { settled, answer }: Recordable,
): Pick<Recording, 'collections' | 'sibling'> {
  const stamp = answer.kind === 'stamp' ? answer : null;
  const chained = stamp?.paid.chained ?? null;
  const own = settled.transfer !== null || settled.waived_by !== null ? [ownCollection(parts, settled, chained)] : [];
  const row = stamp?.found && stamp.paid.row?.(stamp.args, stamp.found.fact, stampedBy(settled));
  const collections = [...own, ...(row ? [boughtCollection(parts, settled, row)] : [])];
  return { collections, sibling: row?.sibling ?? null };
}

/** The receipt and row of the call itself. A chained receipt names its book itself, so it may be on no row of it. */
function ownCollection(
  parts: FormParts,
  settled: Facts,
  chained: Stamp<JsonObject, JsonObject>['chained'] | null,
): Collection {
  const prepared = prepareReceipt(parts.issuer, {
    ...receiptFacts(parts, settled),
    ...(chained && settled.transfer !== null ? chainedOf(settled) : {}),
  });
  return { prepared, landing: chained === 'off_book' ? null : landingOf(settled) };
}

/** What a chained stamp signs of its payment in place of `payment`: the transfer, without the book. */
function chainedOf(settled: SettledFacts): Pick<ReceiptFacts, 'payment' | 'chained'> {
  return { payment: null, chained: { observed_transfer: transferOf(settled), payer_proven: true } };
}

function transferOf(settled: SettledFacts): ObservedTransfer {
  const { network, transfer, payer, pay_to, amount_atomic } = settled;
  const { usdc: asset } = networks[network];
  const moved = { rail: 'usdc', asset, payer, pay_to, amount: amount_atomic.toString() } as const;
  return { network, transaction: transfer.tx_hash, index: transferIndex(settled), ...moved };
}

/** Row and receipt of the purchase that a stamp records, from the facts that were sealed with the claim. */
function boughtCollection(
  { issuer, clock, profile }: FormParts,
  settled: Facts,
  { task_id, agent_id, birth, reserved_atomic, also_on, receipt }: StampedRow,
): Collection {
  const { money, ...facts } = receipt;
  const prepared = prepareReceipt(issuer, {
    ...facts,
    task_id,
    agent_id,
    profile,
    issued_at: iso(clock.now_ms()),
    request_hash: saltedHash(settled),
    settled_by: 'observed_transfer',
    ...signedOf(money),
    chain_epoch: money.kind === 'paid' && settled.transfer !== null ? settled.chain_epoch : 0,
  });
  return { prepared, landing: { agent_id, birth, reserved: reserved_atomic }, also_on };
}

/** The signed facts of the money. A payment to another party has no caller here, so its empty binding proves nothing. */
function signedOf(money: StampedMoney): Pick<ReceiptFacts, 'payment' | 'legs' | 'chained' | 'caller_binding'> {
  if (money.kind === 'paid') {
    const { payment, legs } = money;
    return { payment, legs, caller_binding: { payer_wallet: payment.payer } };
  }
  const { observed_transfer, payer_proven } = money;
  return { payment: null, chained: { observed_transfer, payer_proven }, caller_binding: {} };
}

/** The facts of a stamp's call, which its row and effect use. */
export function stampedBy(settled: Facts): Omit<StampContext, 'recorded_at_ms'> {
  const { task_id, agent_id } = settled;
  if (settled.transfer === null) return { task_id, agent_id, payer: null, payment_ref: null, transfer: null };
  const payer = { network: settled.network, wallet: settled.payer };
  return { task_id, agent_id, payer, payment_ref: paymentRef(settled), transfer: transferOf(settled) };
}

/** The salted hash of the request. Payments are public, and without the salt a short request could be guessed from the hash. */
function saltedHash({ request_hash, landing: { request_salt: salt } }: Facts): string {
  return canonicalHash({ request_hash, salt });
}

function receiptFacts({ clock, profile }: FormParts, facts: Facts): ReceiptFacts {
  const { landing } = facts;
  const session = sessionOf(landing, clock.now_ms());
  return {
    task_id: facts.task_id,
    issued_at: iso(clock.now_ms()),
    hub: landing.hub ?? '',
    model: landing.model ?? '',
    job_kind: landing.job_kind,
    request_hash: saltedHash(facts),
    agent_id: facts.agent_id,
    caller_binding: {
      ...(facts.transfer === null ? {} : { payer_wallet: facts.payer }),
      ...(session ? { agent_pubkey: session.agent_pubkey } : {}),
      ...(landing.api_key_hash ? { api_key_hash: landing.api_key_hash } : {}),
    },
    ...(session ? { session: session.facts } : {}),
    intent_id: landing.intent_id,
    attempt_index: landing.attempt_index,
    answered_model: landing.answered_model ?? null,
    answered_catalogue_model: landing.answered_catalogue_model ?? null,
    vendor_blind: landing.vendor_blind,
    provider_cogs: landing.provider_cogs ?? null,
    fulfillment: envelopeOf(facts),
    settled_by: facts.transfer === null ? unpaid.settled_by : rests[facts.transfer.kind].settled_by,
    payment: facts.transfer === null ? null : paymentOf(facts),
    waived_by: facts.transfer === null ? facts.waived_by : null,
    profile,
    chain_epoch: facts.transfer === null ? 0 : facts.chain_epoch,
  };
}

/** Margin for calls that take long to record, so that the log's time is still within the session. */
const RECORDED_WITHIN_SECONDS = 10;

/**
 * The session that a receipt names. If the session had ended when the receipt was signed, the receipt would not verify, so a late receipt
 * names the session as authorization only.
 */
function sessionOf({ delegation }: Landing, now_ms: number) {
  if (!delegation || now_ms / 1000 + RECORDED_WITHIN_SECONDS > delegation.session_expiry) return null;
  const { agent_pubkey, delegation_hash, valid_after, session_expiry } = delegation;
  return { agent_pubkey, facts: { delegation_hash, valid_after, session_expiry } };
}

function landingOf(settled: Facts): Collection['landing'] {
  const { agent_id, landing } = settled;
  if (agent_id === null) return null;
  const birth: InitialFacts = {
    task_id: settled.task_id,
    ...moneyOf(settled),
    model: landing.model,
    hub: landing.hub,
    intent_id: landing.intent_id,
    attempt_index: landing.attempt_index,
    parent_ref: landing.parent_ref ?? null,
    fulfillment: fulfillmentOf(settled),
    facts: answeredFacts(landing),
  };
  const reserved = settled.transfer === null ? atomicAmount(0n) : atomicAmount(settled.reserved_atomic);
  return { agent_id, birth, reserved, would_block: landing.would_block ?? [] };
}

function moneyOf(facts: Facts): Pick<InitialFacts, keyof typeof unpaid> {
  if (facts.transfer === null) return unpaid;
  return {
    ...rests[facts.transfer.kind],
    payment_ref: paymentRef(facts),
    transfer_index: transferIndex(facts),
    rail: 'usdc',
    amount: facts.amount_atomic,
    payer_wallet: facts.payer,
  };
}
