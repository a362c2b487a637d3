import { hashMessage } from 'viem';
import { Refusal } from '../../../schema/errors.ts';
import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { openClaimsOf } from '../../../subgraphs/receipt/claim/funds.ts';
import { findSettlement } from '../../../subgraphs/receipt/claim/settlement/read.ts';
import { rejected } from '../../charge/authorized.ts';
import type { Presented } from '../../charge/claim-request.ts';
import type { ClaimItem } from '../../charge/settle-claim.ts';
import { chainUnreachable } from '../../charge/spent-elsewhere.ts';
import type { Till } from '../../charge/till.ts';
import { unsent } from '../../charge/unsent.ts';
import type { ExactEvmPayload } from '../../x402/envelope.ts';
import { rememberChain } from '../epoch.ts';
import { vouchFor } from '../facilitator/facilitated-chain.ts';
import { type FinalChain, recheckFinalized } from '../finality.ts';
import type { Decision } from '../outcome.ts';
import type { BasePayment } from '../payment.ts';
import type { Rail, Ready, Sent } from '../rail.ts';
import { map } from '../rpc.ts';
import type { Settler } from '../settler.ts';
import type { Hex } from './abi.ts';
import type { Authorization } from './authorization.ts';
import type { BaseChain } from './chain.ts';
import type { ChainHead } from './chain-head.ts';
import { epochChainOf } from './chain-identity.ts';
import { decidePayment, isOver, searchFrom } from './decide.ts';
import { carriedOnBase } from './facilitated.ts';
import { findMined, hashesOf } from './settle/rebroadcast.ts';
import { type Signature, signatureOf, signerOf } from './signature.ts';
import type { Unproven } from './unproven.ts';
import { compareAccepted, verifyAuthorization } from './verify-authorization.ts';
import { requireProof, walletTakes } from './wallets.ts';

export interface BaseRailParts {
  readonly database: Database;
  readonly chain: BaseChain;
  readonly chain_head: ChainHead;
  /** @throws while it is not known. */
  readonly chain_epoch: () => number;
  readonly settler: Settler<ClaimItem<BasePayment>>;
  readonly unproven: Unproven;
}

/** Who judges a payment on Base by itself. */
export const baseJudge: Pick<Rail<BasePayment>, 'compare' | 'verify'> = {
  compare: compareAccepted,
  verify: async (payload, offered) => verifyAuthorization(payload as ExactEvmPayload, offered),
};

/** USDC on Base, by EIP-3009. */
export function openBaseRail(parts: BaseRailParts): Rail<BasePayment> {
  const { database, chain, chain_head, chain_epoch, settler, unproven } = parts;
  const epoch_chain = epochChainOf(chain);
  const carried = carriedOnBase(chain);
  return {
    ...baseJudge,
    network: 'base',
    get chain_epoch() {
      return chain_epoch();
    },
    settler,
    prove: (payment, address) => unproven.prove(payment, address),
    ready: readyToPay,
    usedInTime,
    find: searchElsewhere,
    means: meansOf,
    isOver: ({ authorization }) => isOver(chain, authorization),
    async decide(_till, { authorization }, sent) {
      const { settlement_id } = sent;
      const from_block = sent.from_block ?? (await searchFrom(chain, unusedUntil(authorization, sent)));
      if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
      return reconcileSettlement({ database, chain }, { authorization, settlement_id, from_block });
    },
    vouch: (_till, payment, sent) => vouchFor(database, carried, payment, sent),
    signedBy,
    // One request for both.
    look: async () => {
      const epoch = chain_epoch();
      await Promise.all([chain_head.poll(), rememberChain(database, epoch_chain, epoch)]);
    },
    age_ms: () => chain_head.age_ms(),
    reachable: async () => (await chain.block('latest')).kind === 'ok',
    recheck: (_till, correct) => recheckFinalized(finalBase(database, chain), correct),
    close: () => settler.close(),
  };
}

export function finalBase(database: Database, chain: BaseChain): FinalChain {
  return {
    database,
    network: 'base',
    async finalized() {
      const block = await chain.block('finalized');
      return block.kind === 'ok' ? (block.value?.number ?? null) : null;
    },
    find: settlements => findMined(chain, settlements),
  };
}

/** For how long a payment may have been used before the claim that found it used. */
const SEEN_LATE_SECONDS_MAX = 24 * 3600;

/** It was looked at when it was first claimed; before `validAfter` no block can have taken it. */
function unusedUntil({ valid_after_seconds }: Authorization, { claimed_at }: Sent): number {
  const claimed_seconds = Math.floor(claimed_at.getTime() / 1_000);
  return Math.max(valid_after_seconds, claimed_seconds - SEEN_LATE_SECONDS_MAX);
}

/**
 * Asks the chain, before anything is claimed or worked for, whether the signature is the payer's and whether he can pay.
 * @throws chain_unavailable, payment_rejected; fee_too_high or unavailable while nothing is sent for anybody.
 */
async function readyToPay(till: Till, presented: Presented<BasePayment>): Promise<Ready<BasePayment>> {
  const { paid, payment } = presented;
  const { authorization } = payment;
  const ready = await till.chain.readiness(authorization);
  if (ready.kind === 'unreachable') throw chainUnreachable(ready.cause);
  const { used, balance_atomic, has_code, blacklisted } = ready.value;
  const signer = signerOf(payment.signature, has_code, till.wallet_factories);
  if (signer.kind === 'refused') throw rejected(till, paid, signer.reason);
  const { signature } = signer;
  if (used) return spentAlready(till, presented, signature);
  const pause = till.rails.base?.settler.pause;
  if (pause) throw unsent(pause);
  if (balance_atomic < authorization.amount_atomic) throw rejected(till, paid, 'insufficient_funds');
  if (blacklisted) throw rejected(till, paid, 'payer_blacklisted');
  if (signer.kind === 'code' && (await walletTakes(till, presented, signer.signature)) === 'spent')
    return spentAlready(till, presented, signature);
  return { spent: false, payment: { authorization, signature }, means: { balance_atomic, moved: [] } };
}

/**
 * The same of a payment that is out of time and that nobody has claimed here: null where it is not used. One that is was
 * submitted in time by somebody else, and the money may be here. @throws settlement_pending where the chain cannot say.
 */
async function usedInTime(till: Till, presented: Presented<BasePayment>): Promise<Ready<BasePayment> | null> {
  const { authorization, signature } = presented.payment;
  const ready = await till.chain.readiness(authorization);
  if (ready.kind === 'unreachable') throw new Refusal('settlement_pending', { cause: ready.cause });
  const { used, has_code } = ready.value;
  const signer = signerOf(signature, has_code, till.wallet_factories);
  return used && signer.kind !== 'refused' ? spentAlready(till, presented, signer.signature) : null;
}

async function spentAlready(
  till: Till,
  presented: Presented<BasePayment>,
  signature: Signature,
): Promise<Ready<BasePayment>> {
  const { payment } = presented;
  if (payment.signature.kind === 'contract') await requireProof(till, presented);
  return { spent: true, payment: { authorization: payment.authorization, signature }, means: null };
}

/** Whoever holds an authorization may submit it: what became of one that is spent stands in the logs since `validAfter`. */
async function searchElsewhere(till: Till, { authorization }: BasePayment): Promise<Decision> {
  const since_seconds = authorization.valid_after_seconds;
  const from_block = await searchFrom(till.chain, since_seconds);
  if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
  return decidePayment(till.chain, { authorization, attempts: [], from_block, since_seconds });
}

/** Open claims first, then the chain: one that moves between the two is seen as moved, and one after them in the balance. */
const meansOf: Rail['means'] = async (till, payer) => {
  const open = await openClaimsOf(till.database, payer);
  const nonces = open.map(({ payment_id }) => payment_id as Hex);
  const holdings = await till.chain.holdings(payer as Hex, nonces);
  return map(holdings, ({ balance_atomic, used }) => ({
    balance_atomic,
    moved: open.filter((_, index) => used[index]).map(({ claim_key }) => claim_key),
  }));
};

const BYTES = /^0x(?:[0-9a-fA-F]{2})+$/;

/**
 * Whether a wallet has signed a text (EIP-191). A key's signature is recovered here; only what is none asks the wallet's
 * code (ERC-1271), in the asker's line: whoever forges signatures keeps neither the payer nor anybody else waiting.
 */
export const signedBy: Rail['signedBy'] = async (till, { payer, text, signature, asker }) => {
  if (!BYTES.test(signature) || signature.length > limits.wallet_signature_chars_max) return false;
  const digest = hashMessage(text, 'bytes');
  if (signatureOf(payer as Hex, digest, signature as Hex).kind === 'ecdsa') return true;
  const asked = await till.searches.take(asker, async () => ({
    verdict: await till.wallets.verifies(payer, digest, signature, asker),
  }));
  return asked?.verdict === 'valid';
};

/** What a claim remembers of its payment; `settlement_id` is null where it was never submitted by us. */
export interface ClaimedPayment {
  readonly authorization: Authorization;
  readonly settlement_id: string | null;
  readonly from_block: number;
}

/** What became of a claim's payment, for whoever finds it unfinished: after a crash, a time-out, a restart. */
export async function reconcileSettlement(
  { database, chain }: { database: Pick<Database, 'query'>; chain: BaseChain },
  { authorization, settlement_id, from_block }: ClaimedPayment,
): Promise<Decision> {
  const attempts = settlement_id === null ? [] : await attemptsOf(database, settlement_id);
  return decidePayment(chain, { authorization, attempts, from_block });
}

/** Every transaction of a settlement, replacements included. */
async function attemptsOf(database: Pick<Database, 'query'>, settlement_id: string): Promise<readonly Hex[]> {
  const settlement = await findSettlement(database, settlement_id);
  return settlement ? hashesOf(settlement) : [];
}
