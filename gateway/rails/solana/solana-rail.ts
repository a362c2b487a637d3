import {
  type Address,
  getBase58Encoder,
  getPublicKeyFromAddress,
  type SignatureBytes,
  verifySignature,
} from '@solana/kit';
import type { Json } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { type Means, openSignaturesOf } from '../../../subgraphs/receipt/claim/funds.ts';
import { findSettlement } from '../../../subgraphs/receipt/claim/settlement/read.ts';
import { rejected } from '../../charge/authorized.ts';
import type { Presented } from '../../charge/claim-request.ts';
import { PROVEN } from '../../charge/proof.ts';
import type { ClaimItem } from '../../charge/settle-claim.ts';
import { chainUnreachable, REVERTED_LATELY, revertedLately } from '../../charge/spent-elsewhere.ts';
import type { Till } from '../../charge/till.ts';
import type { ExactSvmPayload } from '../../x402/envelope.ts';
import { vouchFor } from '../facilitator/facilitated-chain.ts';
import { recheckFinalized } from '../finality.ts';
import type { Decision } from '../outcome.ts';
import type { Rail, Ready, Sent } from '../rail.ts';
import type { Reached } from '../rpc.ts';
import type { Settler } from '../settler.ts';
import type { SolanaPayment } from './authorization.ts';
import type { BlockhashLook, SvmChain } from './chain.ts';
import { decideByMessage, decideSent, isOver } from './decide.ts';
import { carriedOnSolana } from './facilitated.ts';
import { finalSolana } from './rebroadcast.ts';
import type { FeePayer } from './settler.ts';
import { usdcAccountOf } from './transfer.ts';
import { type JudgeParts, openSolanaJudge } from './verify-transaction.ts';

export interface SolanaRailParts extends JudgeParts {
  readonly database: Database;
  readonly chain: SvmChain;
  readonly chain_epoch: number;
  /** Null where a facilitator pays the fees. */
  readonly own: FeePayer | null;
  readonly settler: Settler<ClaimItem<SolanaPayment>>;
}

/** USDC on Solana, by a transaction that its payer has signed and whose fee we pay. */
export function openSolanaRail(parts: SolanaRailParts): Rail<SolanaPayment> {
  const { database, chain, chain_epoch, settler } = parts;
  const judge = openSolanaJudge(parts);
  const sight = new Sight(chain);
  const carried = carriedOnSolana(chain);
  const decide = (payment: SolanaPayment, sent: Pick<Sent, 'settlement_id' | 'from_block'>) =>
    decideIn(parts, payment, sent);
  return {
    network: 'solana',
    chain_epoch,
    settler,
    compare: judge.compare,
    verify: (payload, offered) => judge.verify(payload as ExactSvmPayload, offered),
    // Its payer has signed the transaction itself, which was judged by that.
    prove: async () => PROVEN,
    ready: (till, presented) => readyToPay(chain, till, presented),
    // Its time is the chain's blocks: none is late before the chain was asked.
    usedInTime: async () => null,
    // Whoever sent it, it was not for the claim that finds it: no answer was sealed before.
    async find(_till, payment) {
      const found = await decide(payment, { settlement_id: null, from_block: null });
      return found.kind === 'transferred' ? { ...found, by: 'third_party' } : found;
    },
    means: (till, payer) => meansOf(chain, till, payer),
    decide: (_till, payment, sent) => decide(payment, sent),
    isOver: ({ authorization }) => isOver(chain, authorization),
    vouch: (_till, payment, sent) => vouchFor(database, carried, payment, sent),
    signedBy,
    // By its genesis alone it is told from another: nothing of it has to be kept.
    look: () => sight.take(),
    age_ms: () => sight.age_ms(),
    reachable: async () => (await chain.finalized()).kind === 'ok',
    recheck: (_till, correct) => recheckFinalized(finalSolana(database, chain), correct),
    async close() {
      await settler.close();
      await chain.close();
    },
  };
}

/**
 * By what our key calls it, which is the same however often it is asked; of one that another fee payer signs, or that was
 * made for a key of ours that is gone, by what was written down, or else by its message.
 */
async function decideIn(
  { database, chain, own }: Pick<SolanaRailParts, 'database' | 'chain' | 'own'>,
  { authorization, signature }: SolanaPayment,
  { settlement_id, from_block }: Pick<Sent, 'settlement_id' | 'from_block'>,
): Promise<Decision> {
  if (own?.address === authorization.fee_payer)
    return decideSent(chain, authorization, [own.sign(signature).signature], from_block);
  const settlement = settlement_id === null ? null : await findSettlement(database, settlement_id);
  const written = settlement?.attempts.map(({ tx_hash }) => tx_hash) ?? [];
  return written.length > 0
    ? decideSent(chain, authorization, written, from_block)
    : decideByMessage(chain, authorization, from_block);
}

/** There is no word of x402's for it: the payer is to sign anew, over a newer blockhash. */
const BLOCKHASH_EXPIRED = 'invalid_exact_svm_payload_blockhash_expired';
const SIMULATION_FAILED = 'invalid_exact_svm_transaction_simulation_failed';

/**
 * Asks the chain, before anything is claimed or worked for, whether it would take the payment now and whether the payer
 * can pay. @throws chain_unavailable, payment_rejected.
 */
async function readyToPay(
  chain: SvmChain,
  till: Till,
  { paid, payment }: Presented<SolanaPayment>,
): Promise<Ready<SolanaPayment>> {
  const { authorization, signature } = payment;
  const { payer, amount_atomic } = authorization;
  if (await revertedLately(till, authorization)) throw rejected(till, paid, REVERTED_LATELY);
  const [blockhash, holding, simulated] = await Promise.all([
    chain.blockhash(authorization.blockhash),
    chain.holding(await usdcAccountOf(payer)),
    chain.simulate(signature.transaction),
  ]);
  for (const answer of [blockhash, holding, simulated])
    if (answer.kind === 'unreachable') throw chainUnreachable(answer.cause);
  if (blockhash.kind !== 'ok' || holding.kind !== 'ok' || simulated.kind !== 'ok') throw chainUnreachable(null);
  const until = boundBy(payment, blockhash.value);
  const { err } = { err: null, ...simulated.value };
  // Only our signature could have sent it: then it was, by a call of ours that nobody here may know of any more.
  if (err === 'AlreadyProcessed') return { spent: true, payment: until, means: null };
  if (!blockhash.value.valid) throw rejected(till, paid, BLOCKHASH_EXPIRED);
  const { amount_atomic: balance_atomic = 0n, frozen = false } = holding.value.value ?? {};
  if (balance_atomic < amount_atomic) throw rejected(till, paid, 'insufficient_funds');
  if (frozen) throw rejected(till, paid, 'payer_blacklisted');
  if (isOurs(err)) throw new Refusal('unavailable', { facts: { charged: false }, cause: err });
  if (err !== null) throw rejected(till, paid, SIMULATION_FAILED);
  return { spent: false, payment: until, means: { balance_atomic, moved: [] } };
}

/** The blockhash is no newer than the newest that there was when the chain knew it, and so not good for longer. */
function boundBy(
  { authorization, signature }: SolanaPayment,
  { last_valid_block_height }: BlockhashLook,
): SolanaPayment {
  return { authorization: { ...authorization, last_valid_block_height }, signature };
}

/** Failures of whoever pays the fee, which is ourselves: another payment would fare no better. */
const ours = ['AccountNotFound', 'InsufficientFundsForFee', 'InvalidAccountForFee'];

function isOurs(err: Json): boolean {
  if (typeof err === 'string') return ours.includes(err);
  const rent = typeof err === 'object' && err !== null && 'InsufficientFundsForRent' in err;
  return rent && (err.InsufficientFundsForRent as { account_index?: Json })?.account_index === 0;
}

/**
 * Open claims first, then what became of them, then the balance: a claim counts as moved only where its transaction was
 * in a block by the slot of that balance. One that moves in between counts twice, and is seen by the next look.
 */
async function meansOf(chain: SvmChain, { database }: Pick<Till, 'database'>, payer: string): Promise<Reached<Means>> {
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

/** When this process has seen the chain last. */
class Sight {
  readonly #chain: Pick<SvmChain, 'finalized'>;
  #seen_at_ms: number | null = null;

  constructor(chain: Pick<SvmChain, 'finalized'>) {
    this.#chain = chain;
  }

  /** @throws where it cannot be reached. */
  async take(): Promise<void> {
    const seen = await this.#chain.finalized();
    if (seen.kind !== 'ok') throw new Error('Solana cannot be reached', { cause: seen.cause });
    this.#seen_at_ms = performance.now();
  }

  /** Null where it was never seen. */
  age_ms(): number | null {
    return this.#seen_at_ms === null ? null : performance.now() - this.#seen_at_ms;
  }
}

const SIGNATURE_BYTES = 64;

/** Whether a wallet has signed a text: Ed25519 over its UTF-8 bytes, in base58. A program's address signs nothing. */
export const signedBy: Rail['signedBy'] = async (_till, { payer, text, signature }) => {
  try {
    const bytes = getBase58Encoder().encode(signature);
    if (bytes.length !== SIGNATURE_BYTES) return false;
    const key = await getPublicKeyFromAddress(payer as Address);
    return await verifySignature(key, bytes as SignatureBytes, Buffer.from(text));
  } catch {
    // No base58, or an address that is no key's.
    return false;
  }
};
