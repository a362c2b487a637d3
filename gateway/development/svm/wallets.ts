import { createHash } from 'node:crypto';
import { getBase58Decoder } from '@solana/codecs-strings';
import { publicKeyOf } from '../../config/solana.ts';

export interface SolanaWallet {
  readonly address: string;
  /** As wallets export it: base58 of seed and public key, 64 bytes. */
  readonly private_key: string;
}

/** The wallet of an Ed25519 seed of 32 bytes. */
export function solanaWallet(seed: Uint8Array): SolanaWallet {
  const public_key = publicKeyOf(seed);
  const base58 = getBase58Decoder();
  return { address: base58.decode(public_key), private_key: base58.decode(Buffer.concat([seed, public_key])) };
}

/** Publicly known, as anvil's accounts are: worth nothing elsewhere. */
function knownWallet(role: string): SolanaWallet {
  return solanaWallet(createHash('sha256').update(`development wallet: ${role}`).digest());
}

/** Pays the fees of settlements, and signs nothing else. */
export const developmentFeePayer = knownWallet('fee payer');
/** They hold USDC for new users and tests. */
export const developmentSolanaBuyers = [1, 2, 3, 4, 5].map(number => knownWallet(`buyer ${number}`));
