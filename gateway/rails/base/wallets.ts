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

/** Limits on calls of contract wallets that have not paid yet. */
export const unprovenBounds: SemaphoreBounds = {
  at_once_max: limits.unproven_turns_at_once_max,
  wait_ms_max: limits.unproven_turn_wait_ms_max,
  waiting_per_asker_max: limits.unproven_waiting_per_address_max,
};

const NOBODY: Hex = `0x${'0'.repeat(40)}`;

/**
 * Verifies signatures of wallets by the chain. If the address has code, only that code decides (ERC-1271), because the owner of a
 * delegated account (EIP-7702) may have given up its key. A wallet that is not deployed yet may use these factories, or any if none
 * are given (ERC-6492): no transaction is sent, and the address depends on the factory.
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
      const asked = codeSignature(signature, code.value, factories);
      if (asked === null) return signature.kind === 'ecdsa' ? 'valid' : 'invalid';
      const answer = await turns.take(asker, async () => ({ verdict: await askWallet(chain, wallet, digest, asked) }));
      return answer?.verdict ?? 'no_turn';
    },
  };
}

/** The signature for the wallet's code to verify; null if there is no code and no way to deploy it. */
function codeSignature(
  signature: BaseSignature,
  code: Hex,
  factories: ReadonlySet<string> | null,
): ContractSignature | null {
  if (code !== '0x') return forCode(signature);
  if (signature.kind === 'ecdsa' || signature.deploy === null) return null;
  return factories === null || factories.has(signature.deploy.factory.toLowerCase()) ? signature : null;
}

/** Calls a wallet's code by ERC-1271, in a simulation. */
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

interface WalletCallParts {
  readonly chain: BaseChain;
  /** Address from which transactions are simulated. */
  readonly settles_from: Hex;
}

/** Whether USDC and a contract wallet accept a payment. `spent` if its authorization was used while the simulation ran. */
export type WalletTakes = { readonly kind: 'taken' } | { readonly kind: 'spent' } | Rejected | Unreachable;

/**
 * Simulates the transfer itself, because nothing else shows whether USDC and the wallet accept it within its gas. A wallet that is
 * not deployed yet has no code to call until the simulation has called its factory (ERC-6492).
 */
export async function walletTakes(
  asking: WalletCallParts & { readonly database: Pick<Database, 'query'> },
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

/** Whether the simulated transfer succeeds and, if the wallet was not deployed, also deploys it. */
export async function wouldMove(
  asking: WalletCallParts,
  authorization: BaseAuthorization,
  signature: ContractSignature,
): Promise<ChainAnswer<boolean>> {
  const { chain, settles_from } = asking;
  const market = await chain.market([]);
  if (market.kind !== 'ok') return market;
  const { head, priority_fee_wei } = market.value;
  // Real fees are used, so that code cannot recognize a simulation by a fee of zero.
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
 * Whether the factory's call deploys a wallet at the payer's address. A transfer of USDC does not show this, because USDC accepts a
 * key's signature for an address without code. ERC-1271 shows it: a call of an address without code succeeds and returns nothing,
 * so no factory can answer in the wallet's place. A factory that behaves differently on the chain costs us `wallet_gas_max` once,
 * and the payer must then wait.
 */
async function isMade(
  { chain, settles_from }: WalletCallParts,
  authorization: BaseAuthorization,
  signature: ContractSignature,
  fees: CallFees,
): Promise<ChainAnswer<boolean>> {
  const question = proofCalls(authorization.payer, authorizationDigest(authorization), signature);
  return map(await chain.simulate(question, settles_from, fees), answer => answer === VALID_SIGNATURE);
}

/**
 * Checks the signature of a used payment. USDC accepts no payment twice, so only the wallet can confirm that the signature is its
 * own.
 */
export async function proveUsed(
  { wallets }: { readonly wallets: WalletProofs },
  { authorization, signature }: BasePayment,
): Promise<typeof PROVEN | Rejected | Undecided> {
  if (signature.kind !== 'contract') return PROVEN;
  const digest = authorizationDigest(authorization);
  const { payer } = authorization;
  const verdict = await wallets.verifies(payer, digest, signatureOnWire(signature), payer);
  // The money may have arrived here, so "nothing was charged" could be false.
  if (verdict === 'unreachable' || verdict === 'no_turn') return { kind: 'undecided' };
  return verdict === 'invalid' ? { kind: 'rejected', reason: NOT_SIGNED } : PROVEN;
}
