import { sign } from 'node:crypto';
import { getBase58Decoder } from '@solana/kit';
import { addressOfKey, secretOfKey } from '../../config/solana.ts';
import type { PartialSignature } from './authorization.ts';
import { readTransaction, withSignature } from './transfer.ts';

/** A transaction with all its signatures: from here on anybody may send it. */
export interface SignedTransaction {
  /** The fee payer's, base58: by it the chain knows the transaction. */
  readonly signature: string;
  /** Base64. */
  readonly raw: string;
}

/** Pays the fees of payments. Same payment, same signature (RFC 8032): what it would be called is known without sending it. */
export interface FeePayer {
  readonly address: string;
  /** @throws where that is no transaction. */
  sign(payment: PartialSignature): SignedTransaction;
}

/** By its key: base58 of seed and public key. */
export function openFeePayer(key: string): FeePayer {
  const address = addressOfKey(key);
  const secret = secretOfKey(key);
  return {
    address,
    sign({ transaction }) {
      const read = readTransaction(Buffer.from(transaction, 'base64'));
      if (read === null) throw new TypeError('not a transaction');
      const signature = sign(null, read.transaction.messageBytes as unknown as Uint8Array, secret);
      return { signature: getBase58Decoder().decode(signature), raw: withSignature(read, address, signature) };
    },
  };
}
