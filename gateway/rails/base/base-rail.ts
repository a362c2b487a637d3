import { hashMessage } from 'viem';
import { limits } from '../../../schema/limits.ts';
import type { Clock } from '../../../subgraphs/clock.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { type Funds, openClaimsOf } from '../../../subgraphs/receipt/claim/funds.ts';
import { findSettlement } from '../../../subgraphs/receipt/claim/settlement/read.ts';
import type { Semaphore } from '../../../subgraphs/semaphore.ts';
import type { WalletProofs } from '../../../subgraphs/wallet-proofs.ts';
import { rememberChain } from '../epoch.ts';
import { vouchFor } from '../facilitator/facilitated-chain.ts';
import { type FinalChain, recheckFinalized } from '../finality.ts';
import { type Busy, type Decision, notSent, type Rejected, type Undecided } from '../outcome.ts';
import type { BasePayment } from '../payment.ts';
import type { PaymentReadiness, Rail, SentPayment, SignedMessage, Spent, UsedInTime } from '../rail.ts';
import { type ChainAnswer, map } from '../rpc.ts';
import type { ClaimItem, Settler } from '../settler.ts';
import { observeSettler, SettlingStanding } from '../settling-standing.ts';
import type { Hex } from './abi.ts';
import type { BaseAuthorization } from './authorization.ts';
import type { BaseChain } from './chain.ts';
import type { ChainHead } from './chain-head.ts';
import { epochChainOf } from './chain-identity.ts';
import { UnprovenPayments } from './contract-wallet-turns.ts';
import { decidePayment, isExpiredOnBase, searchFrom } from './decide.ts';
import { baseFacilitatorChain } from './facilitator-chain.ts';
import { findMined, hashesOf } from './settle/rebroadcast.ts';
import { type BaseSignature, signatureOf, signerOf } from './signature.ts';
import { baseJudge } from './verify-authorization.ts';
import { proveUsed, walletTakes } from './wallets.ts';

export interface BaseRailParts {
  readonly database: Database;
  readonly chain: BaseChain;
  readonly chain_head: ChainHead;
  /** @throws if the chain has not been recognized yet. */
  readonly chain_epoch: () => number;
  readonly settler: Settler<ClaimItem<BasePayment>>;
  readonly clock: Clock;
  readonly wallets: WalletProofs;
  /** Addresses of factories that may deploy a contract wallet, in lower case. */
  readonly wallet_factories: ReadonlySet<string>;
  /** Address from which transactions are simulated. */
  readonly settles_from: Hex;
  /** Limits costly requests to the chain (log searches, calls of contract wallets) by callers who have not paid for them. */
  readonly searches: Semaphore;
}

/** Opens the rail for USDC on Base, whose payments are EIP-3009 authorizations. */
export function openBaseRail(parts: BaseRailParts): Rail<BasePayment> {
  const { database, chain, chain_head, chain_epoch, searches } = parts;
  const settling = new SettlingStanding();
  const settler = observeSettler(parts.settler, settling);
  const epoch_chain = epochChainOf(chain);
  const facilitated = baseFacilitatorChain(chain);
  const unproven = new UnprovenPayments(parts);
  return {
    ...baseJudge,
    network: 'base',
    get chain_epoch() {
      return chain_epoch();
    },
    settler,
    settling,
    prove: (payment, address) => unproven.prove(payment, address),
    proveUsed: payment => proveUsed(parts, payment),
    ready: payment => readyToPay(parts, payment),
    usedInTime: payment => usedInTime(parts, payment),
    async find(payment, asker): Promise<Decision | Busy> {
      return (await searches.take(asker, () => searchElsewhere(chain, payment))) ?? { kind: 'busy' };
    },
    funds: payer => fundsOf(parts, payer),
    isOver: ({ authorization }) => isExpiredOnBase(chain, authorization),
    async decide({ authorization }, sent) {
      const { settlement_id } = sent;
      const from_block = sent.from_block ?? (await searchFrom(chain, unusedUntil(authorization, sent)));
      if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
      return reconcileSettlement({ database, chain }, { authorization, settlement_id, from_block });
    },
    vouch: (payment, sent) => vouchFor(database, facilitated, payment, sent),
    isTextSignedBy: shown => isTextSignedOnBase(parts, shown),
    // Both calls read the chain in the same request.
    look: async () => {
      const epoch = chain_epoch();
      await Promise.all([chain_head.poll(), rememberChain(database, epoch_chain, epoch)]);
    },
    age_ms: () => chain_head.age_ms(),
    reachable: async () => (await chain.block('latest')).kind === 'ok',
    recheck: correct => recheckFinalized(finalBase(database, chain), correct),
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

/** A payment may have been used up to this long before its claim. */
const SEEN_LATE_SECONDS_MAX = 24 * 3600;

/**
 * Time before which the payment cannot have been used, in unix seconds. Its nonce was checked when it was first claimed, and no
 * block before `validAfter` can accept it.
 */
function unusedUntil({ valid_after_seconds }: BaseAuthorization, { claimed_at }: SentPayment): number {
  const claimed_seconds = Math.floor(claimed_at.getTime() / 1_000);
  return Math.max(valid_after_seconds, claimed_seconds - SEEN_LATE_SECONDS_MAX);
}

/** Checks on the chain, before anything is claimed, whether the signature is the payer's and whether the payer has the funds. */
async function readyToPay(parts: BaseRailParts, payment: BasePayment): Promise<PaymentReadiness<BasePayment>> {
  const { authorization } = payment;
  const readiness = await parts.chain.readiness(authorization);
  if (readiness.kind === 'unreachable') return readiness;
  const { used, balance_atomic, has_code, blacklisted } = readiness.value;
  const signer = signerOf(payment.signature, has_code, parts.wallet_factories);
  if (signer.kind === 'refused') return { kind: 'rejected', reason: signer.reason };
  const { signature } = signer;
  if (used) return spentAlready(parts, payment, signature);
  const { pause } = parts.settler;
  if (pause) return notSent(pause);
  if (balance_atomic < authorization.amount_atomic) return { kind: 'rejected', reason: 'insufficient_funds' };
  if (blacklisted) return { kind: 'rejected', reason: 'payer_blacklisted' };
  const taken = signer.kind === 'code' ? await walletTakes(parts, authorization, signer.signature) : null;
  if (taken?.kind === 'spent') return spentAlready(parts, payment, signature);
  if (taken && taken.kind !== 'taken') return taken;
  return { kind: 'ready', payment: { authorization, signature }, funds: { balance_atomic, moved: [] } };
}

/** If an expired authorization is used, someone else submitted it in time, and the money may have arrived here. */
async function usedInTime(parts: BaseRailParts, payment: BasePayment): Promise<UsedInTime<BasePayment>> {
  const readiness = await parts.chain.readiness(payment.authorization);
  if (readiness.kind === 'unreachable') return { kind: 'undecided', cause: readiness.cause };
  const { used, has_code } = readiness.value;
  const signer = signerOf(payment.signature, has_code, parts.wallet_factories);
  return used && signer.kind !== 'refused' ? spentAlready(parts, payment, signer.signature) : { kind: 'unused' };
}

async function spentAlready(
  parts: BaseRailParts,
  payment: BasePayment,
  signature: BaseSignature,
): Promise<Spent<BasePayment> | Rejected | Undecided> {
  const proof = await proveUsed(parts, payment);
  if (proof.kind !== 'proven') return proof;
  return { kind: 'spent', payment: { authorization: payment.authorization, signature } };
}

/**
 * Searches for a payment that someone else may have submitted, as anyone who holds the authorization can. The logs since
 * `validAfter` show the result.
 */
async function searchElsewhere(chain: BaseChain, { authorization }: BasePayment): Promise<Decision> {
  const since_seconds = authorization.valid_after_seconds;
  const from_block = await searchFrom(chain, since_seconds);
  if (from_block === null) return { kind: 'unknown', reason: 'chain_unavailable' };
  return decidePayment(chain, { authorization, attempts: [], from_block, since_seconds });
}

/**
 * Open claims are read before the chain. A payment that moves between the two reads counts as moved, and a payment claimed later is
 * still in the balance.
 */
async function fundsOf(
  { database, chain }: Pick<BaseRailParts, 'database' | 'chain'>,
  payer: string,
): Promise<ChainAnswer<Funds>> {
  const open = await openClaimsOf(database, payer);
  const nonces = open.map(({ payment_id }) => payment_id as Hex);
  const holdings = await chain.holdings(payer as Hex, nonces);
  return map(holdings, ({ balance_atomic, used }) => ({
    balance_atomic,
    moved: open.filter((_, index) => used[index]).map(({ claim_key }) => claim_key),
  }));
}

const BYTES = /^0x(?:[0-9a-fA-F]{2})+$/;

/**
 * Whether a wallet has signed a text (EIP-191). A key's signature is verified here. Otherwise the wallet's code is called
 * (ERC-1271), in a queue per asker, so that forged signatures delay only their sender.
 */
export async function isTextSignedOnBase(
  { searches, wallets }: Pick<BaseRailParts, 'searches' | 'wallets'>,
  { payer, text, signature, asker }: SignedMessage,
): Promise<boolean> {
  if (!BYTES.test(signature) || signature.length > limits.wallet_signature_chars_max) return false;
  const digest = hashMessage(text, 'bytes');
  if (signatureOf(payer as Hex, digest, signature as Hex).kind === 'ecdsa') return true;
  const asked = await searches.take(asker, async () => ({
    verdict: await wallets.verifies(payer, digest, signature, asker),
  }));
  return asked?.verdict === 'valid';
}

/** Members of a claim that describe its payment. `settlement_id` is null if this service never submitted the payment. */
export interface ClaimedPayment {
  readonly authorization: BaseAuthorization;
  readonly settlement_id: string | null;
  readonly from_block: number;
}

/** Decides the outcome of a claim's payment from the chain, for claims that a crash, a time-out or a restart left unfinished. */
export async function reconcileSettlement(
  { database, chain }: { database: Pick<Database, 'query'>; chain: BaseChain },
  { authorization, settlement_id, from_block }: ClaimedPayment,
): Promise<Decision> {
  const attempts = settlement_id === null ? [] : await attemptsOf(database, settlement_id);
  return decidePayment(chain, { authorization, attempts, from_block });
}

/** Hashes of all transactions of a settlement, including replacements. */
async function attemptsOf(database: Pick<Database, 'query'>, settlement_id: string): Promise<readonly Hex[]> {
  const settlement = await findSettlement(database, settlement_id);
  return settlement ? hashesOf(settlement) : [];
}
