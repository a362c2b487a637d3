import { decode, encode, rfc8949EncodeOptions, Tagged } from 'cborg';
import { canonicalJson, type JsonObject } from '../../../schema/canonical-json.ts';
import { coseHeader } from '../../../schema/cose.ts';
import { type CoseFacts, type CoseSignature, signCose } from '../../../subgraphs/receipt/envelope/sign.ts';
import type { IssuerSigner } from '../../../subgraphs/receipt/issuer/signing-keys.ts';
import { leafHash, nodeHash } from '../../../subgraphs/receipt/verify/merkle-proof.ts';
import { issuer } from './issue.ts';

/* Transparent statements that are assembled from parts, as a forger would. */

export const cbor = (value: unknown) => encode(value, rfc8949EncodeOptions);

/** The parts of a COSE_Sign1, which a test changes and assembles again. */
export interface StatementParts {
  protected_header: Map<unknown, unknown>;
  unprotected: Map<unknown, unknown>;
  payload: Uint8Array | null;
  signature: Uint8Array;
}

export function partsOf(bytes: Uint8Array): StatementParts {
  const { value } = decode(bytes, { useMaps: true, tags: Tagged.preserve(18) }) as Tagged;
  const [header, unprotected, payload, signature] = value;
  return { protected_header: decode(header, { useMaps: true }), unprotected, payload, signature };
}

export function assemble({ protected_header, unprotected, payload, signature }: StatementParts): Uint8Array {
  return cbor(new Tagged(18, [cbor(protected_header), unprotected, payload, signature]));
}

/** The first COSE receipt in the unprotected header of a statement (label 394). Empty if there is none. */
export function receiptIn(statement: Uint8Array): Uint8Array {
  return (partsOf(statement).unprotected.get(394) as Uint8Array[])[0] ?? new Uint8Array();
}

interface StatementChanges {
  readonly by?: IssuerSigner;
  readonly text?: string;
  readonly statement?: Partial<CoseFacts>;
  readonly log?: Partial<CoseFacts>;
  readonly logged_by?: IssuerSigner;
  readonly entry?: string;
}

/** A statement of the second leaf of two. It is signed correctly except for the given changes. */
export function makeStatement(payload: JsonObject, said: StatementChanges = {}): Uint8Array {
  const { by = issuer, text = canonicalJson(payload), logged_by = by, entry = text } = said;
  const iat = 1_767_323_046;
  const bytes = Buffer.from(text);
  const first = leafHash('first');
  const root = nodeHash(first, leafHash(entry));
  const log = {
    sub: 'svc.example/log',
    iat,
    header: [
      [coseHeader.vds, 1],
      [coseHeader.tree_size, 2],
    ] as const,
    ...said.log,
  };
  const statement = {
    sub: String(payload.task_id),
    iat,
    header: [[coseHeader.content_type, 'application/json']] as const,
    ...said.statement,
  };
  const proofs = new Map([[coseHeader.vdp, new Map([[-1, [cbor([2, 1, [first]])]]])]]);
  const receipt = signed(signCose(logged_by, log, root), proofs, null);
  return signed(signCose(by, statement, bytes), new Map([[coseHeader.receipts, [receipt]]]), bytes);
}

function signed(
  { protected_header, signature }: CoseSignature,
  unprotected: Map<number, unknown>,
  payload: Uint8Array | null,
): Uint8Array {
  return cbor(new Tagged(18, [protected_header, unprotected, payload, signature]));
}
