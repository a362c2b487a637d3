import { isErc6492Signature, parseErc6492Signature, serializeErc6492Signature } from 'viem';
import { isJsonObject, type Json, type JsonObject } from '../../../schema/canonical-json.ts';
import { isLowS, isSignedBy } from '../../../schema/secp256k1.ts';
import { bytes, type Hex } from './abi.ts';

/** A key's signature: (r, s, v) as USDC's contract accepts them; v is 27 or 28. */
export interface EcdsaSignature {
  readonly kind: 'ecdsa';
  readonly r: Hex;
  readonly s: Hex;
  readonly v: 27 | 28;
}

/** A contract wallet's signature (ERC-1271): bytes that only the wallet's code can verify. */
export interface ContractSignature {
  readonly kind: 'contract';
  readonly bytes: Hex;
  /** How the wallet is deployed if it does not exist yet (ERC-6492); null if it exists. */
  readonly deploy: Deployment | null;
}

export interface Deployment {
  readonly factory: Hex;
  readonly data: Hex;
}

export type BaseSignature = EcdsaSignature | ContractSignature;

export type ReadSignature =
  | { readonly kind: 'read'; readonly signature: EcdsaSignature }
  | { readonly kind: 'high_s' }
  | { readonly kind: 'bad_v' }
  | { readonly kind: 'not_65_bytes' };

const PARITIES: Readonly<Record<number, 27 | 28>> = { 0: 27, 1: 28, 27: 27, 28: 28 };

/** Splits r || s || v. Wallets write v as 0/1 or 27/28. */
export function readSignature(shown: string): ReadSignature {
  if (shown.length !== 132) return { kind: 'not_65_bytes' };
  const v = PARITIES[Number.parseInt(shown.slice(130), 16)];
  if (v === undefined) return { kind: 'bad_v' };
  const s: Hex = `0x${shown.slice(66, 130).toLowerCase()}`;
  if (!isLowS(BigInt(s))) return { kind: 'high_s' };
  return { kind: 'read', signature: { kind: 'ecdsa', r: `0x${shown.slice(2, 66).toLowerCase()}`, s, v } };
}

/**
 * Classifies a signature: as a key's if it recovers to that wallet, otherwise as one for the wallet's code to verify. A key's
 * signature in an ERC-6492 wrapper counts as the key's: no contract can exist at its address, and the factory call would waste our
 * gas. Only one wrapper is removed, since ERC-6492 allows no more.
 */
export function signatureOf(wallet: Hex, digest: Uint8Array, shown: Hex): BaseSignature {
  const bare = keySignature(wallet, digest, shown);
  if (bare) return bare;
  const contract = unwrapSignature(shown.toLowerCase() as Hex);
  // Recovery is the costly part of a forged payment, so it is not repeated for the same bytes.
  return (contract.deploy && keySignature(wallet, digest, contract.bytes)) ?? contract;
}

function keySignature(wallet: Hex, digest: Uint8Array, shown: Hex): EcdsaSignature | null {
  const read = readSignature(shown);
  if (read.kind !== 'read') return null;
  const { v } = read.signature;
  return isSignedBy(wallet, digest, bytes(shown).subarray(0, 64), v - 27) ? read.signature : null;
}

/** Removes an ERC-6492 wrapper. Bytes that only look like a wrapper are left for the wallet's code to refuse. */
function unwrapSignature(shown: Hex): ContractSignature {
  try {
    const { address, data, signature } = isErc6492Signature(shown) ? parseErc6492Signature(shown) : {};
    if (address && data && signature) return { kind: 'contract', bytes: signature, deploy: { factory: address, data } };
  } catch {
    // viem throws if the bytes before the magic suffix are not the wrapper's ABI encoding.
  }
  return { kind: 'contract', bytes: shown, deploy: null };
}

/**
 * A signature as bytes for the code at the signer's address. Also a key's signature is converted, because ERC-1271 accepts only
 * bytes.
 */
export function forCode(signature: BaseSignature): ContractSignature {
  return { kind: 'contract', bytes: signatureBytes(signature), deploy: null };
}

function signatureBytes(signature: BaseSignature): Hex {
  if (signature.kind === 'contract') return signature.bytes;
  const { r, s, v } = signature;
  return `${r}${s.slice(2)}${v.toString(16)}`;
}

/** The signature on the wire, wrapped by ERC-6492 if the wallet must be deployed. */
export function signatureOnWire(signature: BaseSignature): Hex {
  if (signature.kind === 'ecdsa' || signature.deploy === null) return signatureBytes(signature);
  const { factory: address, data } = signature.deploy;
  return serializeErc6492Signature({ address, data, signature: signature.bytes });
}

/** The signature as JSON for the claim's row. */
export function signatureToJson(signature: BaseSignature): JsonObject {
  if (signature.kind === 'ecdsa') return { ...signature };
  const { kind, bytes, deploy } = signature;
  return { kind, bytes, deploy: deploy && { ...deploy } };
}

/** Reads JSON that `signatureToJson` wrote. Old rows have a key's signature without its kind. */
export function signatureFromJson(stored: JsonObject): BaseSignature {
  const kept = 'bytes' in stored ? stored : { kind: 'ecdsa', ...stored };
  return kept as unknown as BaseSignature;
}

/** Whether a claim was made with exactly this signature, so that the sender is the same. */
export function isStored(stored: Json | undefined, shown: BaseSignature): boolean {
  return isJsonObject(stored) && signatureBytes(signatureFromJson(stored)) === signatureBytes(shown);
}

/** How a payment's signature is verified, given the code at the payer's address, or why it is refused at once. */
export type PaymentSigner =
  | { readonly kind: 'key'; readonly signature: EcdsaSignature }
  | { readonly kind: 'code'; readonly signature: ContractSignature }
  /** `reason` is a code of x402. */
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Decides how a signature is verified. If the address has code (a contract, or a delegation by EIP-7702), USDC calls only that
 * code, whatever the signature's length, and so does this service. At an address without code the signature is a key's, or that of
 * a wallet that is not deployed yet (ERC-6492). The factory of such a wallet must be a known one, because calling it uses our gas.
 */
export function signerOf(shown: BaseSignature, has_code: boolean, factories: ReadonlySet<string>): PaymentSigner {
  if (has_code) return { kind: 'code', signature: forCode(shown) };
  if (shown.kind === 'ecdsa') return { kind: 'key', signature: shown };
  if (shown.deploy === null) return { kind: 'refused', reason: 'invalid_exact_evm_payload_signature' };
  if (!factories.has(shown.deploy.factory.toLowerCase()))
    return { kind: 'refused', reason: 'eip6492_factory_not_allowed' };
  return { kind: 'code', signature: shown };
}

/** Addresses of factories that may deploy a contract wallet, in lower case. */
export function factoriesOf({
  wallet_factories,
}: {
  readonly wallet_factories: readonly string[];
}): ReadonlySet<string> {
  return new Set(wallet_factories.map(factory => factory.toLowerCase()));
}
