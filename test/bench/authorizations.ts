import { randomBytes } from 'node:crypto';
import secp256k1 from 'secp256k1';
import { privateKeyToAddress } from 'viem/accounts';
import { type Hex, hex } from '../../gateway/rails/base/abi.ts';
import { authorizationDigest, type BaseAuthorization } from '../../gateway/rails/base/authorization.ts';
import { atomicAmount } from '../../schema/amount.ts';

export interface Payer {
  readonly key: Uint8Array;
  readonly address: Hex;
}

export interface SignedAuthorization {
  readonly authorization: BaseAuthorization;
  /** Signature of 65 bytes. */
  readonly signature: Hex;
}

export function newPayer(): Payer {
  const key = randomBytes(32);
  return { key, address: privateKeyToAddress(hex(key)) };
}

/** Signs an authorization with a native library before the measurement, so that the buyer's work is not measured. */
export function signAuthorization({ key, address }: Payer, pay_to: Hex): SignedAuthorization {
  const now_seconds = Math.floor(Date.now() / 1000);
  const authorization: BaseAuthorization = {
    network: 'base',
    payer: address,
    pay_to,
    amount_atomic: atomicAmount(2000n),
    valid_after_seconds: now_seconds - 600,
    valid_before_seconds: now_seconds + 3600,
    nonce: hex(randomBytes(32)),
  };
  const { signature, recid } = secp256k1.ecdsaSign(authorizationDigest(authorization), key);
  return { authorization, signature: `${hex(signature)}${(27 + recid).toString(16)}` };
}
