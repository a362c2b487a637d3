import { hashMessage } from 'viem';
import { limits } from '../../../schema/limits.ts';
import { networks } from '../../../schema/network.ts';
import type { ForeignNetwork } from '../../../schema/observed-transfer.ts';
import type { ForeignTransfers } from '../../../subgraphs/foreign-transfers.ts';
import type { WalletProofs } from '../../../subgraphs/wallet-proofs.ts';
import type { Config } from '../../config/read-config.ts';
import type { Hex } from '../base/abi.ts';
import type { BaseChain } from '../base/chain.ts';
import { signatureOf } from '../base/signature.ts';
import { openNanoNode } from '../nano/nano-node.ts';
import { isTextSignedOnNano, keyOfNanoAddress, SEND_WORK_MIN } from '../nano/state-block.ts';
import { openBaseTransferVerifier } from './base-transfers.ts';
import { openNanoTransferVerifier } from './nano-transfers.ts';
import { noAnswer, type TransferVerifier } from './transfer-verifier.ts';

export interface ForeignParts {
  readonly config: Pick<Config, 'profile' | 'solana' | 'nano_rpc_url'>;
  readonly chain: BaseChain;
  readonly wallets: WalletProofs;
  /** Minimum work of a send on Nano, if it differs from the network's. */
  readonly nano_work_min?: bigint | undefined;
}

export interface OpenedForeignTransfers extends ForeignTransfers {
  close(): Promise<void>;
}

interface OpenedVerifier extends TransferVerifier {
  close(): Promise<void>;
}

/** Opens a verifier of payments to others for every configured chain. Sends no request yet. */
export async function openForeignTransfers(parts: ForeignParts): Promise<OpenedForeignTransfers> {
  const { config, chain, wallets, nano_work_min: work_min = SEND_WORK_MIN } = parts;
  const witnesses: Readonly<Record<ForeignNetwork, OpenedVerifier | null>> = {
    base: {
      ...openBaseTransferVerifier({ chain, confirmations_min: confirmationsMin(config) }),
      close: async () => {},
    },
    solana: await solanaOf(config),
    nano: nanoOf(config, work_min),
  };
  return {
    async observe(named) {
      const witness = witnesses[named.network];
      return witness ? witness.observe(named).catch(noAnswer) : { kind: 'unsupported' };
    },
    async standing(transfer, seen_in) {
      const witness = witnesses[transfer.network];
      return witness ? witness.standing(transfer, seen_in).catch(() => ({ kind: 'unknown' })) : { kind: 'unknown' };
    },
    async verifySigner(text, { network, ...by }) {
      return signers[network](text, by, wallets).catch(() => 'unreachable' as const);
    },
    async close() {
      await Promise.all(Object.values(witnesses).map(witness => witness?.close()));
    },
  };
}

function confirmationsMin({ profile }: Pick<Config, 'profile'>): number {
  const { foreign_confirmations_development_min, foreign_confirmations_min } = limits;
  return profile === 'development' ? foreign_confirmations_development_min : foreign_confirmations_min;
}

/**
 * Opens a separate client, so that strangers' look-ups delay no payment. It is loaded only if needed, because its libraries are
 * large.
 */
async function solanaOf({ solana, profile }: ForeignParts['config']): Promise<OpenedVerifier | null> {
  if (solana === null) return null;
  const { openSvmChain } = await import('../solana/open-svm-chain.ts');
  const { openSolanaTransferVerifier } = await import('./solana-transfers.ts');
  const chain = openSvmChain(solana);
  const genesis = profile === 'development' ? null : networks.solana.caip2.slice('solana:'.length);
  return { ...openSolanaTransferVerifier({ chain, genesis }), close: () => chain.close() };
}

function nanoOf({ nano_rpc_url: rpc_url }: ForeignParts['config'], work_min: bigint): OpenedVerifier | null {
  if (rpc_url === null) return null;
  const node = openNanoNode({ rpc_url });
  return { ...openNanoTransferVerifier({ node, work_min }), close: () => node.close() };
}

type SignerFacts = Omit<Parameters<ForeignTransfers['verifySigner']>[1], 'network'>;
type SignerVerdict = ReturnType<ForeignTransfers['verifySigner']>;

const BYTES = /^0x(?:[0-9a-fA-F]{2})+$/;

/** Checks of a signed text, by network. */
const signers: Record<ForeignNetwork, (text: string, by: SignerFacts, wallets: WalletProofs) => SignerVerdict> = {
  /** EIP-191. A key's signature is verified here; the wallet's code verifies others (ERC-1271). */
  async base(text, { payer, signature, asker }, wallets) {
    if (!BYTES.test(signature) || signature.length > limits.wallet_signature_chars_max) return 'invalid';
    const digest = hashMessage(text, 'bytes');
    if (signatureOf(payer as Hex, digest, signature as Hex).kind === 'ecdsa') return 'valid';
    return wallets.verifies(payer, digest, signature, asker);
  },
  async solana(text, { payer, signature }) {
    const { isTextSignedOnSolana } = await import('../solana/solana-rail.ts');
    return (await isTextSignedOnSolana({ payer, text, signature })) ? 'valid' : 'invalid';
  },
  async nano(text, { payer, signature }) {
    const key = keyOfNanoAddress(payer);
    return key !== null && isTextSignedOnNano(key, text, signature) ? 'valid' : 'invalid';
  },
};
