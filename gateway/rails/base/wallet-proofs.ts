import { type WalletProofs, type WalletVerdict } from '../../../subgraphs/session/context.ts';
import { FairTurns, unprovenTurns } from '../fair-semaphore.ts';
import type { Hex } from './abi.ts';
import type { BaseChain } from './chain.ts';
import { type ContractSignature, forCode, type Signature, signatureOf } from './signature.ts';
import { proofCalls, VALID_SIGNATURE } from './wallet-calls.ts';

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
  const turns = new FairTurns(unprovenTurns);
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
function askedOf(signature: Signature, code: Hex, factories: ReadonlySet<string> | null): ContractSignature | null {
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
