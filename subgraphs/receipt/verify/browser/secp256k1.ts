import { secp256k1 } from '@noble/curves/secp256k1';

/* As much of the native `secp256k1` as the verifier uses, for browsers. */

/** The uncompressed point whose key made the signature. @throws if none did */
function ecdsaRecover(compact: Uint8Array, recid: number, digest: Uint8Array): Uint8Array {
  const signature = secp256k1.Signature.fromCompact(compact).addRecoveryBit(recid);
  return signature.recoverPublicKey(digest).toRawBytes(false);
}

/** A point in its compressed or uncompressed form. @throws if it is not on the curve */
function publicKeyConvert(point: Uint8Array, compressed: boolean): Uint8Array {
  return secp256k1.ProjectivePoint.fromHex(point).toRawBytes(compressed);
}

export default { ecdsaRecover, publicKeyConvert };
