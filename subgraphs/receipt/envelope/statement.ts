import { encode, rfc8949EncodeOptions, Tagged } from 'cborg';
import { COSE_SIGN1, coseHeader, INCLUSION_PROOFS, RFC9162_SHA256, STATEMENT_CONTENT } from '../../../schema/cose.ts';
import type { Issuer } from '../issuer/signing-keys.ts';
import { type CheckpointParts, checkpoint } from '../log/checkpoint.ts';
import { type Inclusion, inclusionOf } from '../log/stored-proofs.ts';
import type { Receipt } from '../receipt/receipt.entity.ts';
import { type CoseSignature, KeptSignatures, signCose } from './sign.ts';

/** Some 300 bytes each. */
const statements = new KeptSignatures<CoseSignature>(8_192);
const heads = new KeptSignatures<CoseSignature>(256);

/**
 * A receipt as a Transparent Statement (RFC 9943): a COSE_Sign1 over the canonical payload, which is the log's entry byte for
 * byte, and in its unprotected header the log's own COSE Receipt of that entry (RFC 9942). `halted`: nothing is stated of
 * the log, so there is none.
 */
export async function transparentStatement(
  parts: CheckpointParts,
  receipt: Receipt,
): Promise<{ readonly kind: 'stated'; readonly bytes: Uint8Array } | { readonly kind: 'unknown' | 'halted' }> {
  const { database, issuer } = parts;
  // Read after the receipt, so it ends behind it; and a head whose JWS does not say the same is not stated.
  const newest = await checkpoint(parts, { leaf_index: receipt.leafIndex });
  if (newest.kind !== 'known') return newest;
  const { tree_size, root_hash } = newest.head;
  const inclusion = await inclusionOf(database, receipt, tree_size, null);
  if (inclusion.root.toString('hex') !== root_hash)
    throw new Error(`the stored nodes are not of the signed head of ${tree_size} leaves`);
  const log_receipt = sign1(headSignature(issuer, inclusion), new Map([[coseHeader.vdp, proofsOf(inclusion)]]), null);
  const payload = Buffer.from(receipt.payload);
  const unprotected = new Map([[coseHeader.receipts, [log_receipt]]]);
  return { kind: 'stated', bytes: sign1(statementSignature(issuer, receipt, payload), unprotected, payload) };
}

function statementSignature(issuer: Issuer, { taskId, payloadHash }: Receipt, payload: Buffer): CoseSignature {
  const header = [[coseHeader.content_type, STATEMENT_CONTENT]] as const;
  return statements.once(issuer, payloadHash, iat => signCose(issuer, { sub: taskId, iat, header }, payload));
}

/** Over the root of a head, which all receipts that are proven by it share. */
function headSignature(issuer: Issuer, { size, root }: Inclusion): CoseSignature {
  const sub = issuer.log_origin;
  const header = [
    [coseHeader.vds, RFC9162_SHA256],
    [coseHeader.tree_size, size],
  ] as const;
  return heads.once(issuer, root.toString('hex'), iat => signCose(issuer, { sub, iat, header }, root));
}

/** RFC 9942 §5.2: tree size, leaf index and the path from the leaf up. */
function proofsOf({ size, leaf_index, path }: Inclusion) {
  return new Map([[INCLUSION_PROOFS, [cbor([size, leaf_index, path])]]]);
}

/** RFC 9052 §4.2, tagged; a payload of null is detached. */
function sign1(
  { protected_header, signature }: CoseSignature,
  unprotected: ReadonlyMap<number, unknown>,
  payload: Uint8Array | null,
): Uint8Array {
  return cbor(new Tagged(COSE_SIGN1, [protected_header, unprotected, payload, signature]));
}

const cbor = (value: unknown) => encode(value, rfc8949EncodeOptions);
