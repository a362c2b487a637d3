import type { WalletProofs, WalletVerdict } from '../../../subgraphs/session/index.ts';
import type { Hex } from './abi.ts';
import type { BaseChain } from './chain.ts';
import { forCode, type Signature, signatureOf } from './signature.ts';
import { proofCalls, VALID_SIGNATURE } from './wallet-calls.ts';

const NOBODY: Hex = `0x${'0'.repeat(40)}`;

/**
 * Whose signature it is, by the chain's word. Where code stands at the address that code alone decides (ERC-1271): a
 * delegated account's key (EIP-7702) may be one that its owner has given up. A wallet that is still to be made may be
 * made by any factory (ERC-6492): nothing is sent, and an address depends on its factory.
 */
export function openWalletProofs(chain: Pick<BaseChain, 'code' | 'simulate'>): WalletProofs {
  return {
    async verifies(address, digest, shown) {
      const wallet = address as Hex;
      const code = await chain.code(wallet);
      if (code.kind !== 'ok') return 'unreachable';
      const signature = signatureOf(wallet, digest, shown as Hex);
      if (code.value !== '0x') return askWallet(chain, wallet, digest, forCode(signature));
      if (signature.kind === 'ecdsa') return 'valid';
      return signature.deploy === null ? 'invalid' : askWallet(chain, wallet, digest, signature);
    },
  };
}

async function askWallet(
  chain: Pick<BaseChain, 'simulate'>,
  wallet: Hex,
  digest: Uint8Array,
  signature: Extract<Signature, { kind: 'contract' }>,
): Promise<WalletVerdict> {
  const answer = await chain.simulate(proofCalls(wallet, digest, signature), NOBODY);
  if (answer.kind !== 'ok') return 'unreachable';
  return answer.value === VALID_SIGNATURE ? 'valid' : 'invalid';
}
