import {
  type Address,
  getBase58Encoder,
  getPublicKeyFromAddress,
  type SignatureBytes,
  verifySignature,
} from '@solana/kit';
import type { Json } from '../../../schema/canonical-json.ts';
import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { walletRevertedLately } from '../../../subgraphs/receipt/claim/former-payments.ts';
import { type Funds, openSignaturesOf } from '../../../subgraphs/receipt/claim/funds.ts';
import { findSettlement } from '../../../subgraphs/receipt/claim/settlement/read.ts';
import type { Semaphore } from '../../../subgraphs/semaphore.ts';
import type { ExactSvmPayload } from '../../x402/envelope.ts';
import { requireAnswer } from '../epoch.ts';
import { vouchFor } from '../facilitator/facilitated-chain.ts';
import { recheckFinalized } from '../finality.ts';
import { type Busy, type Decision, PROVEN, REVERTED_LATELY, type Rejected } from '../outcome.ts';
import type { PaymentReadiness, Rail, SentPayment, SignedMessage } from '../rail.ts';
import type { ChainAnswer } from '../rpc.ts';
import type { ClaimItem, Settler } from '../settler.ts';
import { observeSettler, SettlingStanding } from '../settling-standing.ts';
import type { SolanaPayment } from './authorization.ts';
import type { BlockhashLook, SolanaChain } from './chain.ts';
import { decideByMessage, decideSent, isExpiredOnSolana } from './decide.ts';
import { solanaFacilitatorChain } from './facilitator-chain.ts';
import { finalSolana } from './rebroadcast.ts';
import type { FeePayer } from './settler.ts';
import { usdcAccountOf } from './transfer.ts';
import { type JudgeParts, openSolanaJudge } from './verify-transaction.ts';

export interface SolanaRailParts extends JudgeParts {
  readonly database: Database;
  readonly chain: SolanaChain;
  readonly chain_epoch: number;
  /** The fee payer of this service; null if a facilitator pays the fees. */
  readonly own: FeePayer | null;
  readonly settler: Settler<ClaimItem<SolanaPayment>>;
  /** Limits searches, which take many requests, for callers who have not paid for them. */
  readonly searches: Semaphore;
}

/** Opens the rail for USDC on Solana. A payment is a transaction that its payer has signed and whose fee we pay. */
export function openSolanaRail(parts: SolanaRailParts): Rail<SolanaPayment> {
  const { database, chain, chain_epoch, searches } = parts;
  // If no fee payer is known, Solana is not offered until the next start.
  const settling = new SettlingStanding(parts.fee_payer === null ? 'facilitator_unavailable' : null);
  const settler = observeSettler(parts.settler, settling);
  const judge = openSolanaJudge(parts);
  const last_seen = new LastSeen(chain);
  const facilitated = solanaFacilitatorChain(chain);
  const decide = (payment: SolanaPayment, sent: Pick<SentPayment, 'settlement_id' | 'from_block'>) =>
    decideIn(parts, payment, sent);
  return {
    network: 'solana',
    chain_epoch,
    settler,
    settling,
    ...judge,
    verify: (payload, offered) => judge.verify(payload as ExactSvmPayload, offered),
    // The payer has signed the transaction itself, which proves who the payer is.
    prove: async () => PROVEN,
    proveUsed: async () => PROVEN,
    async ready(payment) {
      const ready = await readyToPay(parts, payment);
      // The fee payer is checked by a simulation, before a payment reaches the settler.
      if (ready.kind === 'not_sent') settling.recordRefusal(ready.reason, ready.reason);
      return ready;
    },
    // Validity is measured in the chain's blocks, so a payment is not late before the chain was queried.
    usedInTime: async () => ({ kind: 'unused' }),
    // The transfer was not made for the claim that searches for it, because no answer was sealed before it. Its sender therefore
    // counts as a third party.
    async find(payment, asker): Promise<Decision | Busy> {
      const found = await searches.take(asker, () => decide(payment, { settlement_id: null, from_block: null }));
      if (found === null) return { kind: 'busy' };
      return found.kind === 'transferred' ? { ...found, by: 'third_party' } : found;
    },
    funds: payer => fundsOf(parts, payer),
    decide,
    isOver: ({ authorization }) => isExpiredOnSolana(chain, authorization),
    vouch: (payment, sent) => vouchFor(database, facilitated, payment, sent),
    isTextSignedBy: isTextSignedOnSolana,
    // The genesis hash alone distinguishes the chain, so no block has to be stored.
    look: () => last_seen.look(),
    age_ms: () => last_seen.age_ms(),
    reachable: async () => (await chain.finalized()).kind === 'ok',
    recheck: correct => recheckFinalized(finalSolana(database, chain), correct),
    async close() {
      await settler.close();
      await chain.close();
    },
  };
}

/**
 * Decides a payment by our key's signature, which is always the same. A payment with another fee payer, or with a former key of
 * ours, is decided by the stored signature, or else by its message.
 */
async function decideIn(
  { database, chain, own }: Pick<SolanaRailParts, 'database' | 'chain' | 'own'>,
  { authorization, signature }: SolanaPayment,
  { settlement_id, from_block }: Pick<SentPayment, 'settlement_id' | 'from_block'>,
): Promise<Decision> {
  if (own?.address === authorization.fee_payer)
    return decideSent(chain, authorization, [own.sign(signature).signature], from_block);
  const settlement = settlement_id === null ? null : await findSettlement(database, settlement_id);
  const written = settlement?.attempts.map(({ tx_hash }) => tx_hash) ?? [];
  return written.length > 0
    ? decideSent(chain, authorization, written, from_block)
    : decideByMessage(chain, authorization, from_block);
}

/** A code of this service, because x402 has none: the payer must sign again with a newer blockhash. */
const BLOCKHASH_EXPIRED = 'invalid_exact_svm_payload_blockhash_expired';
const SIMULATION_FAILED = 'invalid_exact_svm_transaction_simulation_failed';

/**
 * Checks on the chain, before anything is claimed, whether it would accept the payment now and whether the payer has the funds.
 */
async function readyToPay(
  { chain, database }: Pick<SolanaRailParts, 'chain' | 'database'>,
  payment: SolanaPayment,
): Promise<PaymentReadiness<SolanaPayment>> {
  const { authorization, signature } = payment;
  const { payer, amount_atomic } = authorization;
  if (await walletRevertedLately(database, payer, limits.wallet_reverted_rest_seconds)) return REVERTED_LATELY;
  const [blockhash, holding, simulated] = await Promise.all([
    chain.blockhash(authorization.blockhash),
    chain.holding(await usdcAccountOf(payer)),
    chain.simulate(signature.transaction),
  ]);
  if (blockhash.kind !== 'ok') return blockhash;
  if (holding.kind !== 'ok') return holding;
  if (simulated.kind !== 'ok') return simulated;
  const until = boundBy(payment, blockhash.value);
  const { err } = { err: null, ...simulated.value };
  // The payment could not have been sent without our signature, so an earlier call of this service sent it, which is not recorded
  // here.
  if (err === 'AlreadyProcessed') return { kind: 'spent', payment: until };
  if (!blockhash.value.valid) return rejected(BLOCKHASH_EXPIRED);
  const { amount_atomic: balance_atomic = 0n, frozen = false } = holding.value.value ?? {};
  if (balance_atomic < amount_atomic) return rejected('insufficient_funds');
  if (frozen) return rejected('payer_blacklisted');
  if (isOurs(err)) return { kind: 'not_sent', reason: 'out_of_gas', cause: err };
  if (err !== null) return rejected(SIMULATION_FAILED);
  return { kind: 'ready', payment: until, funds: { balance_atomic, moved: [] } };
}

const rejected = (reason: string): Rejected => ({ kind: 'rejected', reason });

/**
 * Sets the last valid height of a payment. Its blockhash is no newer than the newest one at the time of the check, and so is not
 * valid for longer.
 */
function boundBy(
  { authorization, signature }: SolanaPayment,
  { last_valid_block_height }: BlockhashLook,
): SolanaPayment {
  return { authorization: { ...authorization, last_valid_block_height }, signature };
}

/** Errors of the fee payer, which is this service, so that another payment would fail too. */
const ours = ['AccountNotFound', 'InsufficientFundsForFee', 'InvalidAccountForFee'];

function isOurs(err: Json): boolean {
  if (typeof err === 'string') return ours.includes(err);
  const rent = typeof err === 'object' && err !== null && 'InsufficientFundsForRent' in err;
  return rent && (err.InsufficientFundsForRent as { account_index?: Json })?.account_index === 0;
}

/**
 * Reads open claims, then their outcomes, then the balance. A claim counts as moved only if its transaction was in a block by the
 * slot of that balance. A payment that moves in between counts twice, until the next read corrects it.
 */
async function fundsOf(
  { chain, database }: Pick<SolanaRailParts, 'chain' | 'database'>,
  payer: string,
): Promise<ChainAnswer<Funds>> {
  const open = await openSignaturesOf(database, payer);
  const statuses = await chain.statuses(open.map(({ tx_hash }) => tx_hash));
  if (statuses.kind !== 'ok') return statuses;
  const holding = await chain.holding(await usdcAccountOf(payer));
  if (holding.kind !== 'ok') return holding;
  const { slot, value } = holding.value;
  const moved = open.filter((_, index) => {
    const status = statuses.value.value[index];
    return status && status.err === null && status.slot <= slot;
  });
  const balance_atomic = value?.amount_atomic ?? 0n;
  return { kind: 'ok', value: { balance_atomic, moved: moved.map(({ claim_key }) => claim_key) } };
}

/** Remembers when this process last reached the chain. */
class LastSeen {
  readonly #chain: Pick<SolanaChain, 'finalized'>;
  #seen_at_ms: number | null = null;

  constructor(chain: Pick<SolanaChain, 'finalized'>) {
    this.#chain = chain;
  }

  /** @throws ChainAway */
  async look(): Promise<void> {
    requireAnswer(await this.#chain.finalized());
    this.#seen_at_ms = performance.now();
  }

  /** Time since the last successful `look`; null before the first. */
  age_ms(): number | null {
    return this.#seen_at_ms === null ? null : performance.now() - this.#seen_at_ms;
  }
}

const SIGNATURE_BYTES = 64;

/**
 * Whether a wallet has signed a text: Ed25519 over its UTF-8 bytes, in base58. A program's address cannot sign. The text is encoded
 * into a separate array, because for a Buffer at the start of Node's pool kit verifies the whole pool.
 */
export async function isTextSignedOnSolana({ payer, text, signature }: Omit<SignedMessage, 'asker'>): Promise<boolean> {
  try {
    const bytes = getBase58Encoder().encode(signature);
    if (bytes.length !== SIGNATURE_BYTES) return false;
    const key = await getPublicKeyFromAddress(payer as Address);
    return await verifySignature(key, bytes as SignatureBytes, new TextEncoder().encode(text));
  } catch {
    // The signature is invalid base58, or the address is not a key.
    return false;
  }
}
