import {
  canonicalHash,
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
} from '../../../../schema/canonical-json.ts';
import { leafHash, verifyInclusion } from '../merkle-proof.ts';
import { type DocumentVerification, judgeDocument } from '../report.ts';
import { type Jwks, parseJws } from '../signature.ts';
import { issuerRules, type Rule, type SignedDocument, tokenFault, unless } from '../signed-document.ts';

/** Whether a document has the members of a signed head of the log, alone or with the proof of a leaf beside it. */
export function isTreeHead({ jws, tree_head_hash, root_hash, payload_version }: JsonObject): boolean {
  const told = [jws, tree_head_hash, root_hash].every(member => typeof member === 'string');
  return told && payload_version === undefined;
}

/** Verifies a signed head of the log offline, and the inclusion proof that GET /prove-result shows beside it. */
export function verifyTreeHead(document: JsonObject, jwks: Jwks): DocumentVerification {
  const jws = parseJws(document.jws);
  if (jws === null) return tokenFault(document.jws, 'This is not a signed tree head: jws is missing.');
  const claims = isProof(document) ? { ...jws.claims, leaf_index: document.leaf_index ?? null } : jws.claims;
  return judgeDocument({ document, payload: jws.claims, jws, jwks }, claims, {
    noun: 'head',
    rules,
    reportOn: () => ({
      unsigned: { lane: [], unknown: Object.keys(document).filter(name => !known.has(name)) },
      broken: [],
      unchecked: openAt(document),
    }),
  });
}

const signed = ['log_id', 'tree_size', 'root_hash', 'tree_head_hash'] as const;
const proof = ['leaf_index', 'leaf_hash', 'path'] as const;
const known = new Set<string>([...signed, ...proof, 'payload', 'jws', 'kid', 'at']);
const isProof = (document: JsonObject) => proof.some(name => document[name] !== undefined) || 'payload' in document;

const rules: readonly Rule<SignedDocument>[] = [
  ...issuerRules,
  {
    code: 'copy_mismatch',
    says: 'The members of the tree head, the kid and the time are the signed ones.',
    fault: ({ document: { kid, at, ...said }, payload, jws: { header } }) => {
      const other = signed.find(name => said[name] === undefined || said[name] !== payload[name]);
      if (other !== undefined) return `${other} is not what was signed.`;
      const named = kid === undefined || kid === header.kid;
      const timed = at === undefined || Math.floor(Date.parse(String(at)) / 1000) === payload.iat;
      return unless(named && timed, 'kid or at is not what was signed.');
    },
  },
  {
    code: 'head_invalid',
    says: 'tree_head_hash is the SHA-256 of the canonical tree head.',
    fault: ({ payload: { log_id = null, tree_size = null, root_hash = null, tree_head_hash } }) =>
      unless(
        canonicalHash({ log_id, tree_size, root_hash }) === tree_head_hash,
        'tree_head_hash is not the hash of this tree head.',
      ),
  },
  {
    code: 'inclusion_invalid',
    says: 'The leaf, if one is given, is in the log under this tree head (inclusion proof).',
    fault: ({ document }) => (isProof(document) ? inclusionFault(document) : null),
  },
];

function inclusionFault({ leaf_index, leaf_hash, path, payload, tree_size, root_hash }: JsonObject): string | null {
  const [leaf, root] = [bytesOf(leaf_hash), bytesOf(root_hash)];
  const hashes = Array.isArray(path) ? path.map(bytesOf).filter(hash => hash !== null) : null;
  if (leaf === null || root === null || hashes === null || hashes.length !== (path as readonly Json[]).length)
    return 'leaf_hash or path is not hexadecimal.';
  if (payload !== undefined && !isLeaf(payload, leaf)) return 'leaf_hash is not the hash of this payload.';
  const claim = { leaf, leaf_index: Number(leaf_index), size: Number(tree_size), root };
  const counted = Number.isSafeInteger(leaf_index);
  return unless(
    counted && verifyInclusion(claim, hashes),
    'The inclusion proof does not lead to the signed root_hash.',
  );
}

const isLeaf = (payload: Json, leaf: Buffer) =>
  leafHash(typeof payload === 'string' ? payload : canonicalJson(payload)).equals(leaf);

const bytesOf = (hash: Json | undefined): Buffer | null =>
  typeof hash === 'string' && /^[0-9a-f]{64}$/.test(hash) ? Buffer.from(hash, 'hex') : null;

function openAt(document: JsonObject): string[] {
  const whose = isJsonObject(document.payload)
    ? []
    : ['Which receipt the leaf belongs to: hash the canonical payload of the receipt, and compare.'];
  return [
    'Whether the log still contains this tree head: request a consistency proof to a newer one.',
    ...(isProof(document) ? whose : []),
  ];
}
