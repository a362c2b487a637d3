import { secp256k1 } from '@noble/curves/secp256k1';

/* The part of the native module `secp256k1` that the verifier uses, for browsers. */

/** The public key that made the signature, as an uncompressed point. @throws if there is none */
function ecdsaRecover(compact: Uint8Array, recid: number, digest: Uint8Array): Uint8Array {
  const signature = secp256k1.Signature.fromCompact(compact).addRecoveryBit(recid);
  return signature.recoverPublicKey(digest).toRawBytes(false);
}

/** Converts a point to its compressed or uncompressed form. @throws if it is not on the curve */
function publicKeyConvert(point: Uint8Array, compressed: boolean): Uint8Array {
  return secp256k1.ProjectivePoint.fromHex(point).toRawBytes(compressed);
}

export default { ecdsaRecover, publicKeyConvert };
