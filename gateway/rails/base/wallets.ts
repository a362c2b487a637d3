import { limits } from '../../../schema/limits.ts';
import type { Database } from '../../../subgraphs/database.ts';
import { walletRevertedLately } from '../../../subgraphs/receipt/claim/former-payments.ts';
import { Semaphore, type SemaphoreBounds } from '../../../subgraphs/semaphore.ts';
import type { WalletProofs, WalletVerdict } from '../../../subgraphs/wallet-proofs.ts';
import { PROVEN, REVERTED_LATELY, type Rejected, type Undecided } from '../outcome.ts';
import type { BasePayment } from '../payment.ts';
import { type ChainAnswer, map, type Unreachable } from '../rpc.ts';
import type { Hex } from './abi.ts';
import { authorizationDigest, type BaseAuthorization } from './authorization.ts';
import type { BaseChain, CallFees } from './chain.ts';
import { paymentCalls, proofCalls, VALID_SIGNATURE } from './contracts.ts';
import { type BaseSignature, type ContractSignature, forCode, signatureOf, signatureOnWire } from './signature.ts';

/** Of questions to the code of contract wallets that have not proven anything yet. */
export const unprovenBounds: SemaphoreBounds = {
  at_once_max: limits.unproven_turns_at_once_max,
  wait_ms_max: limits.unproven_turn_wait_ms_max,
  waiting_per_asker_max: limits.unproven_waiting_per_address_max,
};

const NOBODY: Hex = `0x${'0'.repeat(40)}`;

/**
 * Whose signature it is, by the chain's word. Where code stands at the address that code alone decides (ERC-1271): a
 * delegated account's key (EIP-7702) may be one that its owner has given up. A wallet that is still to be made may be
 * made by those factories, or by any where none are named (ERC-6492): nothing is sent, and an address depends on its
 * factory.
 */
export function openWalletProofs(
  chain: Pick<BaseChain, 'code' | 'simulate'>,
  factories: ReadonlySet<string> | null = null,
): WalletProofs {
  const turns = new Semaphore(unprovenBounds);
  return {
    async verifies(address, digest, shown, asker) {
      const wallet = address as Hex;
      const signature = signatureOf(wallet, digest, shown as Hex);
      const code = await chain.code(wallet);
      if (code.kind !== 'ok') return 'unreachable';
      const asked = askedOf(signature, code.value, factories);
      if (asked === null) return signature.kind === 'ecdsa' ? 'valid' : 'invalid';
      const answer = await turns.take(asker, async () => ({ verdict: await askWallet(chain, wallet, digest, asked) }));
      return answer?.verdict ?? 'no_turn';
    },
  };
}

/** What is put before the wallet's code; null where there is none, nor a way to make it. */
function askedOf(signature: BaseSignature, code: Hex, factories: ReadonlySet<string> | null): ContractSignature | null {
  if (code !== '0x') return forCode(signature);
  if (signature.kind === 'ecdsa' || signature.deploy === null) return null;
  return factories === null || factories.has(signature.deploy.factory.toLowerCase()) ? signature : null;
}

/** By ERC-1271, in a call that is undone. */
export async function askWallet(
  chain: Pick<BaseChain, 'simulate'>,
  wallet: Hex,
  digest: Uint8Array,
  signature: ContractSignature,
): Promise<WalletVerdict> {
  const answer = await chain.simulate(proofCalls(wallet, digest, signature), NOBODY);
  if (answer.kind !== 'ok') return 'unreachable';
  return answer.value === VALID_SIGNATURE ? 'valid' : 'invalid';
}

export const NOT_SIGNED = 'invalid_exact_evm_payload_signature';

interface Asking {
  readonly chain: BaseChain;
  /** What is simulated is simulated as if it came from there. */
  readonly settles_from: Hex;
}

/** What USDC and a contract wallet make of a payment; `spent`: it was used while they were asked. */
export type WalletTakes = { readonly kind: 'taken' } | { readonly kind: 'spent' } | Rejected | Unreachable;

/**
 * Only the very transfer, run and undone, tells that USDC and the wallet will take the payment, within their gas; and of
 * a wallet that is still to be made only its own code, once its factory was called, that there is any.
 */
export async function walletTakes(
  asking: Asking & { readonly database: Pick<Database, 'query'> },
  authorization: BaseAuthorization,
  signature: ContractSignature,
): Promise<WalletTakes> {
  const { chain, database } = asking;
  const { payer, amount_atomic } = authorization;
  if (await walletRevertedLately(database, payer, limits.wallet_reverted_rest_seconds)) return REVERTED_LATELY;
  const moves = await wouldMove(asking, authorization, signature);
  if (moves.kind !== 'ok') return moves;
  if (moves.value) return { kind: 'taken' };
  const now = await chain.readiness(authorization);
  if (now.kind !== 'ok') return now;
  if (now.value.used) return { kind: 'spent' };
  const reason = now.value.balance_atomic < amount_atomic ? 'insufficient_funds' : NOT_SIGNED;
  return { kind: 'rejected', reason };
}

/** Whether the very transfer, run and undone, goes through, and leaves a wallet where none stood. */
export async function wouldMove(
  asking: Asking,
  authorization: BaseAuthorization,
  signature: ContractSignature,
): Promise<ChainAnswer<boolean>> {
  const { chain, settles_from } = asking;
  const market = await chain.market([]);
  if (market.kind !== 'ok') return market;
  const { head, priority_fee_wei } = market.value;
  // Priced as what is sent: code must not be able to tell the two apart by a fee of nothing.
  const fees = { max_fee_wei: 2n * head.base_fee_wei + priority_fee_wei, priority_fee_wei };
  const [moved, made] = await Promise.all([
    chain.simulate(paymentCalls(authorization, signature), settles_from, fees),
    signature.deploy === null ? stands : isMade(asking, authorization, signature, fees),
  ]);
  if (made.kind !== 'ok') return made;
  return map(moved, returned => returned !== null && made.value);
}

const stands: ChainAnswer<boolean> = { kind: 'ok', value: true };

/**
 * Whether the factory's call leaves a wallet at the payer's address. USDC alone cannot tell: where nothing stands it takes
 * a key's signature. ERC-1271's answer can: a call to an address without code succeeds and returns nothing, so no factory
 * can speak in the wallet's place. One that behaves otherwise on the chain costs `wallet_gas_max` once, and the payer a rest.
 */
async function isMade(
  { chain, settles_from }: Asking,
  authorization: BaseAuthorization,
  signature: ContractSignature,
  fees: CallFees,
): Promise<ChainAnswer<boolean>> {
  const question = proofCalls(authorization.payer, authorizationDigest(authorization), signature);
  return map(await chain.simulate(question, settles_from, fees), answer => answer === VALID_SIGNATURE);
}

/** USDC takes no payment twice: of one that is used the wallet alone can say whether the signature is its own. */
export async function proveUsed(
  { wallets }: { readonly wallets: WalletProofs },
  { authorization, signature }: BasePayment,
): Promise<typeof PROVEN | Rejected | Undecided> {
  if (signature.kind !== 'contract') return PROVEN;
  const digest = authorizationDigest(authorization);
  const { payer } = authorization;
  const verdict = await wallets.verifies(payer, digest, signatureOnWire(signature), payer);
  // The money may be here: that nothing was charged could not be said of it.
  if (verdict === 'unreachable' || verdict === 'no_turn') return { kind: 'undecided' };
  return verdict === 'invalid' ? { kind: 'rejected', reason: NOT_SIGNED } : PROVEN;
}
