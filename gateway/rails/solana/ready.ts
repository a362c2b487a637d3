import type { Json } from '../../../schema/canonical-json.ts';
import { Refusal } from '../../../schema/errors.ts';
import { rejected } from '../../charge/authorized.ts';
import type { Presented } from '../../charge/claim-request.ts';
import { chainUnreachable, REVERTED_LATELY, revertedLately } from '../../charge/spent-elsewhere.ts';
import type { Till } from '../../charge/till.ts';
import type { Ready } from '../rail.ts';
import type { SolanaPayment } from './authorization.ts';
import type { BlockhashLook, SvmChain } from './chain.ts';
import { usdcAccountOf } from './programs.ts';

/** There is no word of x402's for it: the payer is to sign anew, over a newer blockhash. */
const BLOCKHASH_EXPIRED = 'invalid_exact_svm_payload_blockhash_expired';
const SIMULATION_FAILED = 'invalid_exact_svm_transaction_simulation_failed';

/**
 * Asks the chain, before anything is claimed or worked for, whether it would take the payment now and whether the payer
 * can pay. @throws chain_unavailable, payment_rejected.
 */
export async function readyToPay(
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
