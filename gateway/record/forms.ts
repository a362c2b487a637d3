import { atomicAmount } from '../../schema/amount.ts';
import type { RowBirth } from '../../schema/book-row.ts';
import { canonicalHash, type JsonObject } from '../../schema/canonical-json.ts';
import { networks } from '../../schema/network.ts';
import { bornBy } from '../../subgraphs/book/ledger/adopt-receipt.ts';
import { type Collection } from '../../subgraphs/book/ledger/collect.ts';
import { type Clock, iso } from '../../subgraphs/clock.ts';
import type { Issuer } from '../../subgraphs/receipt/issuer/signing-keys.ts';
import { type PreparedReceipt, prepareReceipt, type ReceiptFacts } from '../../subgraphs/receipt/receipt/issue.ts';
import type { Moved } from '../rails/outcome.ts';
import type { Landing, Recording, Settled, Waived } from './facts.ts';

/* What a record says: the receipt's form of it and the row's, made from the same facts. */

type Facts = Settled | Waived;

/** What a row and a receipt say of the money. */
const rests = {
  transferred: bornBy.observed_transfer,
  vouched: bornBy.receipt,
} as const satisfies Record<Moved['kind'], Partial<RowBirth>>;

/** Nothing was paid: no payer, no ref and no amount, which is not the same as an amount of nothing. */
const unpaid = {
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
} as const satisfies Partial<RowBirth>;

export function paymentRef({ network, transfer }: Pick<Settled, 'network' | 'transfer'>): string {
  return `${network}:${transfer.tx_hash}`;
}

/** Where in its block it stands is known only of what was seen. */
function transferIndex({ transfer }: Settled): number | null {
  return transfer.kind === 'transferred' ? transfer.transfer_index : null;
}

function paymentOf(settled: Settled): ReceiptFacts['payment'] {
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

/** The row's form: flat. */
function fulfillmentOf({ landing }: Facts): JsonObject {
  return { ...intentOf(landing), output_commitment: commitmentOf(landing) };
}

/** The receipt's form: the paid-job envelope, which names who authorised what. */
function envelopeOf(facts: Facts): JsonObject {
  const [payer_wallet, payment_ref] = facts.transfer === null ? [null, null] : [facts.payer, paymentRef(facts)];
  const authorization = { payer_wallet, delegation_hash: null, payment_ref };
  return { intent: intentOf(facts.landing), authorization, output_commitment: commitmentOf(facts.landing) };
}

function intentOf({ job_kind, resource, intent_id, attempt_index }: Landing): JsonObject {
  return { job_kind, resource: resource ?? null, intent_id, attempt_index };
}

function commitmentOf({ output_sha256, omission_rule }: Landing): JsonObject {
  return output_sha256 === null
    ? { status: 'UNVERIFIED', hash: null, kind: null, omission_rule: omission_rule ?? 'no_output' }
    : { status: 'committed', hash: output_sha256, kind: 'sha256', omission_rule: null };
}

export interface FormParts {
  readonly issuer: Issuer;
  readonly clock: Clock;
  readonly profile: 'development' | 'production';
}

/** Everything about the receipt that does not depend on its place in log and book. */
export function prepareRecord({ issuer, clock, profile }: FormParts, facts: Facts): PreparedReceipt {
  const { landing } = facts;
  return prepareReceipt(issuer, {
    task_id: facts.task_id,
    issued_at: iso(clock.now_ms()),
    hub: landing.hub ?? '',
    model: landing.model ?? '',
    job_kind: landing.job_kind,
    request_hash: canonicalHash({ request_hash: facts.request_hash, salt: landing.request_salt }),
    agent_id: facts.agent_id,
    caller_binding: {
      ...(facts.transfer === null ? {} : { payer_wallet: facts.payer }),
      ...(landing.api_key_hash ? { api_key_hash: landing.api_key_hash } : {}),
    },
    intent_id: landing.intent_id,
    attempt_index: landing.attempt_index,
    vendor_blind: landing.vendor_blind,
    provider_cogs: landing.provider_cogs ?? null,
    fulfillment: envelopeOf(facts),
    settled_by: facts.transfer === null ? unpaid.settled_by : rests[facts.transfer.kind].settled_by,
    payment: facts.transfer === null ? null : paymentOf(facts),
    waived_by: facts.transfer === null ? facts.waived_by : null,
    profile,
    chain_epoch: facts.transfer === null ? 0 : facts.chain_epoch,
  });
}

export function collectionOf({ prepared, settled }: Recording): Collection {
  const { agent_id, landing } = settled;
  if (agent_id === null) return { prepared, landing: null };
  const birth: RowBirth = {
    task_id: settled.task_id,
    ...moneyOf(settled),
    model: landing.model,
    hub: landing.hub,
    intent_id: landing.intent_id,
    attempt_index: landing.attempt_index,
    parent_ref: landing.parent_ref ?? null,
    fulfillment: fulfillmentOf(settled),
    facts: {},
  };
  const reserved = settled.transfer === null ? atomicAmount(0n) : atomicAmount(settled.reserved_atomic);
  return { prepared, landing: { agent_id, birth, reserved, would_block: landing.would_block ?? [] } };
}

function moneyOf(facts: Facts): Pick<RowBirth, keyof typeof unpaid> {
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
